import { unavailable } from "../model/error.ts";
import { warnIfFails } from "../platform/log.ts";

/** A change that nobody ended is over after this time. */
const ENDS_AFTER_MS = 60_000;
/** After a longer first step, the commit might not end in that time. */
const BEGIN_WITHIN_MS = 20_000;

/** The three steps of a change. `begin` and `end` tell the objects that cache what `commit` writes. */
interface FencedChange<B, R> {
  /** Resolves when nobody uses what the objects gave out before, with what the commit needs of them. */
  begin: (change: string) => Promise<B>;
  /** Writes first of all, because the objects cache nothing for a minute only. */
  commit: (begun: B) => Promise<R>;
  end: (change: string, result: R) => Promise<unknown>;
  /** What the log says if the last step failed. */
  notEnded: { event: string; organizationId?: string };
}

/**
 * Runs `commit`, a write to the directory, so that it applies to the very next request, although objects cache what it
 * changes. They are notified before and after. If the first call fails, nothing is written. If the last one fails, the
 * change applies anyway, and the objects stop reading the directory a minute later.
 * @throws ApiError `unavailable` if the objects could not be notified before, or not in time
 */
export async function commitFenced<B, R>({ begin, commit, end, notEnded }: FencedChange<B, R>): Promise<R> {
  const change = crypto.randomUUID();
  const began = Date.now();
  const begun = await begin(change);
  const took = Date.now() - began;
  if (took > BEGIN_WITHIN_MS) throw unavailable(`telling the objects of a change took ${took} ms`);
  const result = await commit(begun);
  // Not thrown, because the change is written.
  await warnIfFails(notEnded, () => end(change, result));
  return result;
}

/** An object's side of `commitFenced`: the changes that began and did not end. While there is one, nothing is cached. */
export class OpenChanges {
  readonly #kv: SyncKvStorage;
  readonly #name: string;

  /** @param name of the stored value */
  constructor(kv: SyncKvStorage, name: string) {
    this.#kv = kv;
    this.#name = name;
  }

  get isAny(): boolean {
    return Object.keys(this.#open()).length > 0;
  }

  /** Idempotent. */
  begin(change: string): void {
    this.#kv.put(this.#name, { ...this.#open(), [change]: Date.now() + ENDS_AFTER_MS });
  }

  end(change: string): void {
    const { [change]: _ended, ...others } = this.#open();
    if (Object.keys(others).length > 0) this.#kv.put(this.#name, others);
    else this.#kv.delete(this.#name);
  }

  /** Their ids, each with the time when it expires. */
  #open(): Record<string, number> {
    const stored = this.#kv.get<Record<string, number>>(this.#name) ?? {};
    return Object.fromEntries(Object.entries(stored).filter(([, endsAt]) => endsAt > Date.now()));
  }
}
