const names = new Intl.DisplayNames(undefined, { type: "language" });

/** A language as the reader's browser calls it. The tag itself if it is none. */
export function languageName(tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    return tag;
  }
}
