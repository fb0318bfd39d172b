/** A piece of a message: plain text, or an address that may be opened. */
export type Piece = { text: string; href: string | null };

const ADDRESS = /https?:\/\/[^\s<>"'`]+/gi;
const TRAILING = /[.,!?:;…'"»”’]+$/;

/** The text cut into plain pieces and web addresses; the pieces joined are the text again. */
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

/** The address as a link may carry it, or null: only the web's own schemes, and no user name that mimics a host. */
export function webAddress(text: string, schemes: readonly string[] = ["https:", "http:"]): string | null {
  const url = parseUrl(text);
  if (!url || !schemes.includes(url.protocol) || url.username !== "" || url.password !== "") return null;
  return url.href;
}

/** Full stops and a bracket that was opened before the address belong to the sentence around it. */
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
