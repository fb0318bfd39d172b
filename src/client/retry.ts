import { backoffMs, doublingMs } from "../platform/backoff.ts";
import { ParleyError, retryAfterOf } from "./error.ts";

const BACKOFF = { firstMs: 500, maxMs: 8_000 };

export type Fetch = (request: Request, init: { signal: AbortSignal }) => Promise<Response>;

interface CallOptions {
  body?: Blob;
  /** Without it, the request's own, which must then not be a copy. */
  signal?: AbortSignal;
}

export interface RetryOptions {
  /** How often a failed request is repeated; 4 by default. A 429 doesn't count, but with 0 nothing is repeated. */
  retries?: number;
  /** The longest wait before a repeat; 60,000 by default. If the service asks for a longer one, its error is thrown. */
  maxWaitMs?: number;
  /** How long a request is repeated after 429s, from its beginning on; 300,000 by default. Then the 429 is thrown. */
  deadlineMs?: number;
  /** The time for one attempt; 60,000 by default. */
  timeoutMs?: number;
  /** Replaces `fetch`. The signal ends the call: a copied request may have lost its own. */
  fetch?: Fetch;
}

/**
 * A `fetch` that repeats what failed and is safe to repeat: reads, sends with an Idempotency-Key, creating a chat,
 * which finds the existing one, and canceling a message. A 429 is always repeated until the deadline, because the service
 * did nothing.
 * @returns a function that throws ParleyError `unreachable` if there is no answer. Its `body`, a file, is read again
 *   for each attempt; a clone of the request would keep all of it in memory, and might lose its length
 */
export function retryingFetch({
  retries = 4,
  maxWaitMs = 60_000,
  deadlineMs = 300_000,
  timeoutMs = 60_000,
  fetch: send = (request, init) => fetch(request, init),
}: RetryOptions = {}): (request: Request, options?: CallOptions) => Promise<Response> {
  return async function fetchWithRetries(request, { body, signal = request.signal } = {}) {
    const end = Date.now() + deadlineMs;
    for (let [failures, limited] = [0, 0]; ; ) {
      const copy = body ? new Request(request, { body }) : request.clone();
      const result = await attempt(send, copy, signal, timeoutMs);
      const isLimited = result.status === 429;
      if (isLimited) limited++;
      else failures++;
      const wait = isLimited ? waitAfterLimit(result, limited) : waitAfterFailure(request, result, failures);
      const mayWait = isLimited ? retries > 0 && Date.now() + (wait?.ms ?? 0) < end : failures <= retries;
      if (wait && wait.least <= maxWaitMs && mayWait) await pause(wait.ms, signal);
      else if (result instanceof ParleyError) throw result;
      else return result;
    }
  };
}

/** The wait after a number of failures in a row, with jitter. */
export function retryWaitMs(failures: number): number {
  return backoffMs(BACKOFF, failures - 1, Math.random());
}

/** Waits. @throws the signal's reason as soon as it is aborted */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/**
 * One attempt. A body in JSON is read here, so that a connection that is cut inside it counts as a failure.
 *
 * The signal goes beside the request, not in it: Node's garbage collector cuts a copied request from its signal, and then
 * nothing ends the call.
 * @see https://github.com/nodejs/undici/issues/4068
 */
async function attempt(
  send: Fetch,
  request: Request,
  callSignal: AbortSignal,
  timeoutMs: number,
): Promise<Response | ParleyError> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    const signal = AbortSignal.any([callSignal, deadline.signal]);
    const response = await send(request, { signal });
    if (!response.headers.get("Content-Type")?.includes("json")) return response;
    const { status, statusText, headers } = response;
    const body = await response.arrayBuffer();
    return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
  } catch (cause) {
    if (callSignal.aborted) throw callSignal.reason;
    return unreachable(request.url, deadline.signal.aborted ? `no answer in ${timeoutMs / 1_000} s` : cause);
  } finally {
    clearTimeout(timer);
  }
}

/** The error for a request without an answer. */
export function unreachable(url: string, cause: unknown): ParleyError {
  const reason = typeof cause === "string" ? cause : "the connection failed";
  return new ParleyError(`${new URL(url).origin} does not answer: ${reason}`, {
    status: null,
    code: "unreachable",
    cause,
  });
}

/** Milliseconds. */
interface Wait {
  /** How long it is at the shortest. */
  least: number;
  ms: number;
}

/** As long as the service asks, and a random time more: requests that were refused together must not return together. */
function waitAfterLimit(result: Response | ParleyError, limited: number): Wait {
  const least = askedBy(result);
  return { least, ms: least + Math.random() * doublingMs(BACKOFF, limited - 1) };
}

/** Null if the request must not be repeated. */
function waitAfterFailure(request: Request, result: Response | ParleyError, failures: number): Wait | null {
  const { status } = result;
  const isTransient = status === null || status >= 500;
  if (!isTransient || !isRepeatable(request)) return null;
  const ms = Math.max(askedBy(result), retryWaitMs(failures));
  return { least: ms, ms };
}

function askedBy(result: Response | ParleyError): number {
  return result instanceof ParleyError ? 0 : (retryAfterOf(result, Date.now()) ?? 0);
}

function isRepeatable({ method, headers, url }: Request): boolean {
  if (method === "GET" || method === "HEAD" || headers.has("Idempotency-Key")) return true;
  return method === "POST" && /\/v1\/chats$|\/cancel$/.test(new URL(url).pathname);
}
