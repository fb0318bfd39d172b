import { frontFault } from "../../front.ts";
import { printable } from "../table.ts";

const TIMEOUT_MS = 30_000;

/** A step failed. `advice` is what to do; without one, the step's own counts. */
export class SmokeFault extends Error {
  readonly advice: string | null;

  constructor(found: string, advice: string | null = null) {
    super(found);
    this.advice = advice;
  }
}

/** What a step could neither prove nor refute. */
export class Unproven {
  readonly found: string;
  readonly advice: string;

  constructor(found: string, advice: string) {
    this.found = found;
    this.advice = advice;
  }
}

export interface Sent {
  token?: string | undefined;
  headers?: Record<string, string>;
  /** JSON, or the bytes of a file. */
  body?: object | Uint8Array<ArrayBuffer>;
  /** In place of the run's signal, for what must not be cut off. */
  signal?: AbortSignal;
}

/** A body as JSON, of which nothing is known. */
export type Json = Record<string, unknown>;

/** `Body`: what the route answers with the wanted status. Nobody has checked it. */
export interface Reply<Body = Json> {
  /** The method and the path, without its query. */
  call: string;
  status: number;
  headers: Headers;
  bytes: Uint8Array;
  /** The body, if it is JSON; else `{}`. */
  body: Body;
}

/** Calls the service. It follows no redirect and repeats no call. */
export class SmokeCaller {
  readonly base: string;
  readonly signal: AbortSignal;

  /** @param signal ends all calls */
  constructor(base: string, signal: AbortSignal) {
    this.base = base;
    this.signal = signal;
  }

  /** Any response of the service. @throws SmokeFault if there is none, or something in front of the service answers */
  async ask<Body = Json>(method: string, path: string, sent: Sent = {}): Promise<Reply<Body>> {
    const response = await this.open(method, path, sent);
    const call = `${method} ${path.split("?")[0]}`;
    const bytes = await response.bytes().catch((error: unknown) => {
      this.signal.throwIfAborted();
      throw new SmokeFault(`the answer to ${call} was cut off (${connectionFault(error)})`, CUT);
    });
    const text = new TextDecoder().decode(bytes.subarray(0, 65_536));
    refuseFront(response, text);
    return { call, status: response.status, headers: response.headers, bytes, body: jsonOf(text) as Body };
  }

  /** A response before its body came. @throws SmokeFault */
  async open(method: string, path: string, { token, headers, body, signal }: Sent = {}): Promise<Response> {
    const isFile = body instanceof Uint8Array;
    try {
      return await fetch(new URL(path, this.base), {
        method,
        redirect: "manual",
        headers: { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...headers },
        body: body === undefined ? null : isFile ? body : JSON.stringify(body),
        signal: AbortSignal.any([signal ?? this.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
    } catch (error) {
      this.signal.throwIfAborted();
      throw new SmokeFault(`${method} ${path.split("?")[0]} got no answer (${connectionFault(error)})`, SILENT);
    }
  }

  /** The body of a response with this status. @throws SmokeFault with any other */
  async want<Body>(status: number, method: string, path: string, sent?: Sent): Promise<Body> {
    return wanted(status, await this.ask<Body>(method, path, sent)).body;
  }
}

/** @throws SmokeFault if something in front of the service has answered. @param text the start of the body */
export function refuseFront(response: Response, text: string): void {
  const fault = frontFault(response, text);
  if (fault) throw new SmokeFault(fault.found, fault.advice);
}

const CUT = "look for a proxy or a rule between here and the Worker that ends responses";
const SILENT = "check the address and the network between here and the service";

/** What an error of the service says. */
interface Refusal {
  message?: unknown;
  error?: unknown;
  code?: unknown;
  errors?: { path: string; message: string }[];
}

/** @throws SmokeFault unless the reply has this status */
export function wanted<Body>(status: number, reply: Reply<Body>): Reply<Body> {
  if (reply.status === status) return reply;
  const { call, headers } = reply;
  const { message, error, code, errors } = reply.body as Refusal;
  const id = headers.get("X-Request-Id");
  const fault = errors?.[0];
  const said = [message ?? error, fault && `${fault.path} ${fault.message}`, code, ...(id ? [`request ${id}`] : [])];
  const says = said.filter((part) => typeof part === "string");
  const why = says.length > 0 ? ` (${printable(says.join(", "))})` : "";
  throw new SmokeFault(`${call} answered ${reply.status} and not ${status}${why}`);
}

/** The limit of strangers in a minute, as its 429 says it. */
const STRANGERS_LIMIT = "600";

/** Whether a key is refused: with 401, or with the 429 of an address that has tried too many wrong keys. */
export function isRefused({ status, headers }: Pick<Reply, "status" | "headers">): boolean {
  return status === 401 || (status === 429 && headers.get("X-RateLimit-Limit") === STRANGERS_LIMIT);
}

/** @throws SmokeFault with `found`, unless `isGood` */
export function check(isGood: boolean, found: string, advice: string | null = null): asserts isGood {
  if (!isGood) throw new SmokeFault(found, advice);
}

/** Node's error code, such as `ECONNREFUSED`. Never the address. @param timeoutMs how long the call waited at most */
export function connectionFault(error: unknown, timeoutMs = TIMEOUT_MS): string {
  if (error instanceof Error && error.name === "TimeoutError") return `${timeoutMs / 1_000} s`;
  const cause = (error as { cause?: { code?: string; errors?: { code?: string }[] } }).cause;
  return cause?.code ?? cause?.errors?.[0]?.code ?? "the connection failed";
}

function jsonOf(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
}
