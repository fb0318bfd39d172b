import { Random } from "../support/random.ts";

/**
 * How a run disturbs time.
 * - `slow`: calls, responses, alarms and timers come up to 50 ms late, and a few of them 500 ms.
 * - `fast`: pauses below 50 ms last no time at all.
 * - `held`: some kinds of calls, such as each call of one method, always come late; all others do as ever. After the
 *   first hundred of a kind in a file they come less late, so that tests of many calls end.
 */
export type Mode = "slow" | "fast" | "held";

const MODES: readonly Mode[] = ["slow", "fast", "held"];
const USUAL_MS = 50;
const RARE_MS = 500;
/** Pauses shorter than this have no length in the fast mode, in milliseconds. Longer ones are deadlines. */
const SHORT_MS = 50;
/** The share of steps that are late. Each test file has one of these: rare delays change an order that frequent ones keep. */
const SHARES = [0.02, 0.08, 0.25];
/** Of the late steps, this share is very late. */
const RARE_SHARE = 0.02;
/** The share of kinds of calls that a test file holds. */
const HELD_SHARE = 0.03;
/** For how long, in milliseconds: the first calls of a kind, and the rest. */
const HELD_MS = 500;
const HELD_LATER_MS = 50;
const HELD_FIRST = 100;

/** The delays of one test file, determined by the run's seed and the file's name. */
export class Delays {
  readonly #mode: Mode;
  readonly #salt: string;
  readonly #random: Random;
  readonly #share: number;
  /** Whether calls of a kind are held, and how many there were. */
  readonly #kinds = new Map<string, [isHeld: boolean, calls: number]>();

  constructor(mode: Mode, seed: number, file: string) {
    this.#mode = mode;
    this.#salt = `${seed} ${file}`;
    this.#random = new Random(seed ^ hashOf(file));
    this.#share = this.#random.pick(SHARES);
  }

  /**
   * How late the next call, response or frame is, in milliseconds.
   * @param kind of call, if it has one, and whether it leaves or returns
   */
  next(kind = ""): number {
    if (this.#mode === "held") return kind === "" ? 0 : this.#held(kind);
    if (this.#mode === "fast" || this.#random.next() >= this.#share) return 0;
    return this.#random.next() < RARE_SHARE ? RARE_MS : this.#random.between(0, USUAL_MS);
  }

  #held(kind: string): number {
    const [isHeld, calls] = this.#kinds.get(kind) ?? [
      new Random(hashOf(`${this.#salt} ${kind}`)).next() < HELD_SHARE,
      0,
    ];
    this.#kinds.set(kind, [isHeld, calls + 1]);
    if (!isHeld) return 0;
    return calls < HELD_FIRST ? HELD_MS : HELD_LATER_MS;
  }

  /** How long a timer of `ms` takes. */
  timer(ms: number): number {
    if (this.#mode === "fast") return ms < SHORT_MS ? 0 : ms;
    return ms + this.next();
  }
}

/** The mode and seed in `JITTER`, for example `slow:42`. Null if it is empty. */
export function settingsOf(text: string | undefined): { mode: Mode; seed: number } | null {
  if (!text) return null;
  const [mode, seed] = text.split(":");
  const known = MODES.find((each) => each === mode);
  if (!known || !/^\d{1,10}$/.test(seed ?? ""))
    throw new Error(`JITTER must be slow:<seed>, fast:<seed> or held:<seed>, not ${text}`);
  return { mode: known, seed: Number(seed) };
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}
