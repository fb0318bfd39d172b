import type { HonoRequest, MiddlewareHandler } from "hono";
import { BoundedMap } from "../bounded-map.ts";
import { keptPerEnv } from "../kept.ts";
import { causeOf } from "../log.ts";
import { clientNetwork } from "./client-network.ts";
import { ApiError } from "./errors.ts";

/** How long an address that came too often is refused without a further look, and told to wait. */
const HELD_SECONDS = 10;

/** Until when, Unix milliseconds. */
const held = keptPerEnv(() => new BoundedMap<string, number>(10_000));

/** What is looked at of a request's context. */
interface Asking {
  env: Env;
  req: Pick<HonoRequest<string>, "path" | "header" | "param">;
}

/**
 * Counts a request of someone who is not known, and says whether their address has sent too many: the platform counts,
 * nearby and roughly. It spares work and lets nobody in, so where it does not answer nobody is refused.
 */
export async function isTooMany(c: Asking): Promise<boolean> {
  if (isHeld(c)) return true;
  const name = nameOf(c);
  try {
    const { success } = await c.env.STRANGERS.limit({ key: name });
    if (!success) held(c.env).set(name, Date.now() + HELD_SECONDS * 1_000);
    return !success;
  } catch (error) {
    console.error({ event: "strangers_not_counted", cause: causeOf(error) });
    return false;
  }
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
  const left = (held(c.env).get(nameOf(c)) ?? 0) - Date.now();
  return left > 0 && left <= HELD_SECONDS * 1_000;
}

/** What comes to `/admin` from an address is counted apart from what comes to `/web`. Those without one are as one. */
function nameOf(c: Asking): string {
  return `${c.req.path.split("/", 2)[1]} ${clientNetwork(c.req.header("CF-Connecting-IP") ?? null)}`;
}
