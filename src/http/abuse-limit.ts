/**
 * The limit for strangers: clients without a valid key, token or signature, and visitors of the web chat. Cloudflare's
 * rate limiter counts their requests by network address. Once an address is over the limit, its next requests are
 * refused from memory.
 */
import type { HonoRequest, MiddlewareHandler } from "hono";
import { ApiError, type ErrorReply } from "../model/error.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { causeOf } from "../platform/log.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { clientNetwork } from "./client-network.ts";
import { errorResponse } from "./error-response.ts";
import type { RequestVariables } from "./request-log.ts";

/** Requests of one address per call to the rate limiter: a call costs several times as much as refusing a request. */
export const COUNTED_TOGETHER = 50;
/** The limit of an address in a minute: `STRANGERS` in `wrangler.toml` times `COUNTED_TOGETHER`. Only for its header. */
export const MAX_IN_A_MINUTE = 600;
/** How long an address over the limit is blocked. Also its `Retry-After`. */
const BLOCK_SECONDS = 10;

const state = perIsolate(() => ({
  /** Requests by address that no call to the rate limiter covers yet. */
  uncounted: new BoundedMap<string, number>(10_000),
  /** When the block of an address ends, in Unix milliseconds. */
  blockedUntil: new BoundedMap<string, number>(10_000),
}));

/** The part of a request's context that the limit reads. */
interface RequestContext {
  env: Env;
  req: Pick<HonoRequest<string>, "path" | "header" | "param">;
}

interface RefusalContext extends RequestContext {
  get(name: "responseHeaders"): RequestVariables["responseHeaders"];
}

/**
 * Counts a stranger's request. Returns whether its address is over the limit. The rate limiter counts approximately and
 * for each Cloudflare location, but never too many. If it fails, no one is refused: the limit saves work, and grants
 * no access.
 */
export async function isOverAbuseLimit(c: RequestContext): Promise<boolean> {
  const name = counterName(c);
  if (isBlocked(c, name)) return true;
  const { uncounted, blockedUntil } = state(c.env);
  const count = ((uncounted.get(name) ?? startOfCount()) + 1) % COUNTED_TOGETHER;
  uncounted.set(name, count);
  if (count > 0) return false;
  try {
    const { success } = await c.env.STRANGERS.limit({ key: name });
    if (success) return false;
    blockedUntil.set(name, Date.now() + BLOCK_SECONDS * 1_000);
    // The first request after the block calls the rate limiter again.
    uncounted.set(name, COUNTED_TOGETHER - 1);
    return true;
  } catch (error) {
    console.error({ event: "abuse_limit_failed", cause: causeOf(error) });
    return false;
  }
}

/**
 * Where the count of an address begins in an isolate, at random: a location has many isolates, and those with fewer
 * requests than are counted together must be right in the sum.
 */
function startOfCount(): number {
  return Math.floor(Math.random() * COUNTED_TOGETHER);
}

/** The response for a stranger: `error`, or 429 if the address is over the limit. */
export async function refuseStranger(c: RefusalContext, error: ErrorReply): Promise<Response> {
  return errorResponse((await isOverAbuseLimit(c)) ? tooManyRequests() : error, c.get("responseHeaders"));
}

/** Middleware that refuses blocked addresses, unless `isExempt`. It reads only memory. */
export function blockStrangers(
  isExempt: (c: RequestContext) => boolean = () => false,
): MiddlewareHandler<{ Bindings: Env }> {
  return async function blockStranger(c, next) {
    if (isBlocked(c, counterName(c)) && !isExempt(c)) throw tooManyRequests();
    await next();
  };
}

/**
 * The 429 of an address over the limit, and of what has a limit besides a key's. By the specification each 429 carries
 * the three headers.
 */
export function tooManyRequests(limit = MAX_IN_A_MINUTE, waitSeconds = BLOCK_SECONDS): ApiError {
  const headers = {
    "Retry-After": String(waitSeconds),
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": "0",
    "X-RateLimit-Reset": String(Math.ceil(Date.now() / 1_000) + waitSeconds),
  };
  return new ApiError("rate_limited", { headers });
}

/** No block lasts longer than `BLOCK_SECONDS`, even if the clock is set back. */
function isBlocked(c: RequestContext, name: string): boolean {
  const { blockedUntil } = state(c.env);
  if (blockedUntil.size === 0) return false;
  const left = (blockedUntil.get(name) ?? 0) - Date.now();
  return left > 0 && left <= BLOCK_SECONDS * 1_000;
}

/** Counts each prefix, such as `/admin` or `/web`, separately. All clients without an address share one counter. */
function counterName(c: RequestContext): string {
  return `${c.req.path.split("/", 2)[1]} ${clientNetwork(c.req.header("CF-Connecting-IP") ?? null)}`;
}
