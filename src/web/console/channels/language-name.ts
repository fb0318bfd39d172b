const names = new Intl.DisplayNames(undefined, { type: "language" });

/** A language as the reader's browser calls it, or the tag itself if the browser doesn't know it. */
export function languageName(tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    return tag;
  }
}
