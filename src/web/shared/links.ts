/** A piece of a message: plain text, or a link. */
export type Piece = { text: string; href: string | null };

const ADDRESS = /https?:\/\/[^\s<>"'`]+/gi;
/** Punctuation that ends a sentence. */
const TRAILING = ".,!?:;…'\"»”’";
/** A longer host is not an address, and browsers take a time to find that out that grows in the square. */
const LONG_HOST = /^\s*[a-z]+:[\\/]*[^\\/?#]{300}/i;

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

/** Removes trailing punctuation and unmatched closing brackets, which belong to the sentence. */
function withoutTrailing(address: string): string {
  let unmatched = address.split(")").length - address.split("(").length;
  let end = address.length;
  for (; end > 0; end--) {
    const last = address.charAt(end - 1);
    if (last === ")" && unmatched > 0) unmatched--;
    else if (!TRAILING.includes(last)) break;
  }
  return address.slice(0, end);
}

function parseUrl(text: string): URL | null {
  if (LONG_HOST.test(text)) return null;
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
