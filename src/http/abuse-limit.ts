import type { HonoRequest, MiddlewareHandler } from "hono";
import { causeOf } from "../log.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { clientNetwork } from "./client-network.ts";
import { ApiError, errorResponse, type ToldError } from "./errors.ts";
import type { RequestVariables } from "./request-log.ts";

/** So many of one address are counted by one call: each call costs several times what it takes to refuse a request. */
export const COUNTED_TOGETHER = 50;
/** How long an address that came too often is refused without a further look, and told to wait. */
const HELD_SECONDS = 10;

const kept = perIsolate(() => ({
  /** How many came that are not counted yet. */
  uncounted: new BoundedMap<string, number>(10_000),
  /** Until when an address is held, Unix milliseconds. */
  held: new BoundedMap<string, number>(10_000),
}));

/** What is looked at of a request's context. */
interface Asking {
  env: Env;
  req: Pick<HonoRequest<string>, "path" | "header" | "param">;
}

interface Answering extends Asking {
  get(name: "answerHeaders"): RequestVariables["answerHeaders"];
}

/**
 * Counts a request of someone who is not known, and says whether their address has sent too many: the platform counts,
 * nearby and roughly, and never more than there were. It spares work and lets nobody in, so where it does not answer
 * nobody is refused.
 */
export async function isTooMany(c: Asking): Promise<boolean> {
  if (isHeld(c)) return true;
  const name = nameOf(c);
  const { uncounted, held } = kept(c.env);
  const came = ((uncounted.get(name) ?? 0) + 1) % COUNTED_TOGETHER;
  uncounted.set(name, came);
  if (came > 0) return false;
  try {
    const { success } = await c.env.STRANGERS.limit({ key: name });
    if (success) return false;
    held.set(name, Date.now() + HELD_SECONDS * 1_000);
    // The first that comes afterwards is counted at once.
    uncounted.set(name, COUNTED_TOGETHER - 1);
    return true;
  } catch (error) {
    console.error({ event: "strangers_not_counted", cause: causeOf(error) });
    return false;
  }
}

/** Answers someone who is not known with `error`, or, where their address has sent too many such, with 429. */
export async function refuseStranger(c: Answering, error: ToldError): Promise<Response> {
  return errorResponse((await isTooMany(c)) ? tooMany() : error, c.get("answerHeaders"));
}

/**
 * Refuses whoever came too often a moment ago before anything is read or compared, those aside whom `spares` names.
 * A memory alone is asked.
 */
export function holdStrangers(spares: (c: Asking) => boolean = () => false): MiddlewareHandler<{ Bindings: Env }> {
  return async function holdStranger(c, next) {
    if (isHeld(c) && !spares(c)) throw tooMany();
    await next();
  };
}

/** 429 for an address. */
export function tooMany(): ApiError {
  return new ApiError("rate_limited", { headers: { "Retry-After": String(HELD_SECONDS) } });
}

/** A clock that was set back holds nobody for longer. */
function isHeld(c: Asking): boolean {
  const left = (kept(c.env).held.get(nameOf(c)) ?? 0) - Date.now();
  return left > 0 && left <= HELD_SECONDS * 1_000;
}

/** What comes to `/admin` from an address is counted apart from what comes to `/web`. Those without one are as one. */
function nameOf(c: Asking): string {
  return `${c.req.path.split("/", 2)[1]} ${clientNetwork(c.req.header("CF-Connecting-IP") ?? null)}`;
}
