import type { Context } from "hono";
import { callObject, NEARBY } from "../calls/call-object.ts";
import { ApiError, unavailable } from "../model/error.ts";
import type { Need } from "../model/permission.ts";
import type { Clock } from "../platform/clock.ts";
import { type KeyVariables, refusal } from "./guard.ts";

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

/**
 * Reads again why the key or session of an admitted request may no longer make it; null if it may. Counts nothing.
 * @param permission the route's
 */
export async function refusalNow<E extends { Bindings: Env; Variables: KeyVariables }>(
  c: Context<E>,
  permission: Need,
): Promise<ApiError | null> {
  const session = c.get("session");
  if (session) return session.check(permission);
  const key = c.get("key");
  if (!key) throw new Error("The route has no guard");
  const { id, hash } = key;
  const address = c.req.header("CF-Connecting-IP") ?? null;
  const reason = await callObject(c.env.KEYS, id, (object) => object.check(id, { hash, address, permission }), NEARBY);
  return reason && new ApiError(reason, refusal({ reason, window: null }, permission, address));
}
