/** A piece of a message: plain text, or a link. */
export type Piece = { text: string; href: string | null };

const ADDRESS = /https?:\/\/[^\s<>"'`]+/gi;
const TRAILING = /[.,!?:;…'"»”’]+$/;

/** Splits a text into plain text and web addresses. Joined, the pieces are the same text. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const shown = withoutTrailing(match[0]);
    const href = webAddress(shown);
    if (href === null) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), href: null });
    pieces.push({ text: shown, href });
    end = match.index + shown.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), href: null });
  return pieces;
}

/** The normalized address, or null if its scheme isn't allowed or it has a user name, which could imitate a host. */
export function webAddress(text: string, schemes: readonly string[] = ["https:", "http:"]): string | null {
  const url = parseUrl(text);
  if (!url || !schemes.includes(url.protocol) || url.username !== "" || url.password !== "") return null;
  return url.href;
}

/** Removes trailing punctuation and an unmatched closing bracket, which belong to the sentence. */
function withoutTrailing(address: string): string {
  let shown = address.replace(TRAILING, "");
  while (shown.endsWith(")") && shown.split("(").length < shown.split(")").length) {
    shown = shown.slice(0, -1).replace(TRAILING, "");
  }
  return shown;
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
