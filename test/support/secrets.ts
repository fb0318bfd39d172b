const API_KEY = /ply_[geu][0-9A-Za-z]{53}/;
const LETTERS = /[0-9A-Za-z]{32,}/g;
/** What the service makes for a channel: 32 letters and digits. */
const MADE = /^[0-9A-Za-z]{32}$/;

/** Secrets that are looked for in texts: API keys by their form, and each that was planted. */
export class Secrets {
  /** There may be thousands of these, so they are looked up, not tried one after the other. */
  readonly #made = new Set<string>();
  readonly #others = new Set<string>();

  plant(secret: string): void {
    if (API_KEY.test(secret)) return;
    if (MADE.test(secret)) this.#made.add(secret);
    else this.#others.add(secret);
  }

  /** The start of the first secret in a text; null where it holds none. */
  in(text: string): string | null {
    const secret =
      API_KEY.exec(text)?.[0] ?? [...this.#others].find((each) => text.includes(each)) ?? this.#madeIn(text);
    return secret === undefined ? null : `${secret.slice(0, 6)}…`;
  }

  #madeIn(text: string): string | undefined {
    for (const [letters] of text.matchAll(LETTERS)) {
      for (let at = 0; at <= letters.length - 32; at++) {
        const part = letters.slice(at, at + 32);
        if (this.#made.has(part)) return part;
      }
    }
    return undefined;
  }
}

/** What an answer says once, to whom it belongs; and what the operator enters at a network. */
const SHOWN = /"(?:secret|identitySecret|verifyToken)":"([^"]{16,})"/g;

/** The secrets that an answer may show, and the answer without them. */
export function shownIn(text: string): { secrets: string[]; rest: string } {
  return { secrets: [...text.matchAll(SHOWN)].map(([, secret]) => secret as string), rest: text.replace(SHOWN, "") };
}
