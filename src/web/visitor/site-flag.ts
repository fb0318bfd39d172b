/** A word in the site's storage. */
interface SiteFlag {
  /** Null if there is none, undefined if storage is blocked. */
  get(): string | null | undefined;
  set(word: string | null): void;
}

export function siteFlag(store: () => Storage, name: string): SiteFlag {
  return {
    get: () => {
      try {
        return store().getItem(name);
      } catch {
        return undefined;
      }
    },
    set: (word) => {
      try {
        if (word === null) store().removeItem(name);
        else store().setItem(name, word);
      } catch {
        // Storage is blocked.
      }
    },
  };
}
