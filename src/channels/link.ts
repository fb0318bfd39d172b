/**
 * The https address that a text is, all of it; null for any other text. It is how a media message without a `mediaUrl`
 * names its media.
 */
export function linkIn(content: string): string | null {
  const text = content.trim();
  // As it is written, not as a browser would mend it: a network reads it more strictly than that.
  const url = /^https:\/\/[^\s\\\p{Cc}]+$/iu.test(text) ? URL.parse(text) : null;
  return url?.protocol === "https:" && url.username === "" && url.password === "" ? text : null;
}
