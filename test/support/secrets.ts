const API_KEY = /ply_[geu][0-9A-Za-z]{53}/;
const LETTERS = /[0-9A-Za-z]{32,}/g;
/** A secret that the service creates for a channel: 32 letters and digits. */
const MADE = /^[0-9A-Za-z]{32}$/;

/** Searches texts for secrets: API keys by their form, and each planted secret. */
export class Secrets {
  /** There can be thousands of these, so they are looked up, not searched one by one. */
  readonly #made = new Set<string>();
  readonly #others = new Set<string>();

  plant(secret: string): void {
    if (API_KEY.test(secret)) return;
    if (MADE.test(secret)) this.#made.add(secret);
    else this.#others.add(secret);
  }

  /** The start of the first secret in a text, or null. */
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

/** Secrets that a response shows once to their owner, and what the operator enters at a network. */
const SHOWN = /"(?:secret|identitySecret|verifyToken)":"([^"]{16,})"/g;

/** The secrets that a response may show, and the response without them. */
export function shownIn(text: string): { secrets: string[]; rest: string } {
  return { secrets: [...text.matchAll(SHOWN)].map(([, secret]) => secret as string), rest: text.replace(SHOWN, "") };
}
