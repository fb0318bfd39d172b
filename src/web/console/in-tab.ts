/** Keeps values for this tab alone: never on the server, and gone with the tab. */
export function inTab<T>(prefix: string) {
  return {
    read(of: string): T | null {
      const text = sessionStorage.getItem(prefix + of);
      return text === null ? null : (JSON.parse(text) as T);
    },
    /** Keeps a value also if the page is loaded again. */
    save(of: string, value: T | null): void {
      try {
        if (value) sessionStorage.setItem(prefix + of, JSON.stringify(value));
        else sessionStorage.removeItem(prefix + of);
      } catch {
        // The storage is full or off. Only a page that is loaded again forgets the value.
      }
    },
  };
}

/** The texts that wait in chats, and in the editors of templates. An empty one is not kept. */
export const drafts = inTab<string>("parley.text.");
