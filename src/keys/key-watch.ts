import { callObject } from "../calls/call-object.ts";
import { ApiError, unavailable } from "../model/error.ts";
import type { Clock } from "../platform/clock.ts";
import type { AdmissionQuery } from "./admit.ts";
import { refusal } from "./guard.ts";

/** The two together are less than the ten seconds after which a revoked key must get nothing more. */
const CHECK_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 4_000;

/** Checks the key of a long request every five seconds. The checks don't count as requests. */
export class KeyWatch {
  readonly #check: () => Promise<ApiError | null>;
  readonly #clock: Pick<Clock, "timer">;
  readonly #controller = new AbortController();
  #cancelTimer: () => void = () => {};

  /** @param check returns the error of a key that may no longer make the request */
  constructor(check: () => Promise<ApiError | null>, clock: Pick<Clock, "timer">) {
    this.#check = check;
    this.#clock = clock;
    this.#checkLater();
  }

  /** Aborts if the key is refused, or if a check fails or takes too long. The reason is the `ApiError` for the client. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The request is over. */
  stop(): void {
    this.#cancelTimer();
    this.#controller.abort();
  }

  #checkLater(): void {
    this.#cancelTimer = this.#clock.timer(CHECK_EVERY_MS, () => void this.#checkNow());
  }

  async #checkNow(): Promise<void> {
    const end = (reason: unknown) => this.#controller.abort(reason instanceof ApiError ? reason : unavailable(reason));
    this.#cancelTimer = this.#clock.timer(ANSWER_WITHIN_MS, () => end(new Error("The key's object did not answer")));
    try {
      const error = await this.#check();
      if (this.signal.aborted) return;
      this.#cancelTimer();
      if (error) end(error);
      else this.#checkLater();
    } catch (error) {
      this.#cancelTimer();
      end(error);
    }
  }
}

/** Watches the key of an admitted request. */
export function watchKey(env: Env, { id, hash, address, permission }: AdmissionQuery, clock: Clock): KeyWatch {
  return new KeyWatch(async () => {
    const reason = await callObject(env.KEYS, id, (key) => key.check(id, { hash, address, permission }));
    return reason && new ApiError(reason, refusal({ reason, window: null }, permission, address));
  }, clock);
}
