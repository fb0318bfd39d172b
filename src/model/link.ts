/** The https URL that `content` consists of; null for any other text. A media message without a `mediaUrl` uses it. */
export function linkIn(content: string): string | null {
  const text = content.trim();
  // `URL.parse` repairs malformed URLs, but a network may not. So the text itself is checked first.
  const url = /^https:\/\/[^\s\\\p{Cc}]+$/iu.test(text) ? URL.parse(text) : null;
  return url?.protocol === "https:" && url.username === "" && url.password === "" ? text : null;
}

/**
 * The link and the caption of a media message; null if it has no link. Every message has content, so a media message
 * without a caption repeats its link as content.
 */
export function linkedMedia(message: { content: string; mediaUrl: string | null }): {
  link: string;
  caption: string | null;
} | null {
  const { content, mediaUrl } = message;
  const link = mediaUrl ?? linkIn(content);
  return link === null ? null : { link, caption: content.trim() === link ? null : content };
}
