import { CommandError } from "../command-error.ts";
import { type FrontFault, frontFault } from "../front.ts";
import { FROM_DEMO, type Secret, type ServiceConnection } from "./connection.ts";
import { printable } from "./table.ts";

const TIMEOUT_MS = 60_000;
const LINES_TIMEOUT_MS = 600_000;
/** As long as the service reads an upload. */
const UPLOAD_TIMEOUT_MS = 300_000;
/** The most organizations that an error lists. */
const MAX_CANDIDATES = 10;

export type JsonObject = Record<string, unknown>;
export type Query = Record<string, string | number | undefined>;

export interface ServiceRequest {
  query?: Query;
  body?: JsonObject;
  /** The body, if it is a file. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
  /** The option that sets each field of the body, by the field's path. Errors name the option. */
  optionOf?: Record<string, string>;
}

/** A successful response. */
export interface ServiceResponse {
  status: number;
  /** `{}` if the answer has no body. */
  body: JsonObject;
  headers: Headers;
}

export class ServiceFault extends CommandError {
  readonly status: number;
  readonly code: string | null;
  /** The seconds of `Retry-After`, or null. */
  readonly retryAfter: number | null;
  /** What answered in place of the service, or null. */
  readonly front: FrontFault | null;

  constructor(
    sentence: string,
    status: number,
    code: string | null,
    retryAfter: number | null,
    front: FrontFault | null = null,
  ) {
    super(sentence);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.front = front;
  }
}

export class Unreachable extends CommandError {
  readonly advice: string;

  constructor(url: string, reason: string, advice: string) {
    super(`${url} does not answer (${reason}). ${advice}`);
    this.advice = advice;
  }
}

/** The service, called as its operator or as a client of an organization. */
export class Service {
  readonly connection: ServiceConnection;
  readonly #onWarning: (text: string) => void;

  /** @param onWarning gets each of the service's warnings about a request, safe to print */
  constructor(connection: ServiceConnection, onWarning: (text: string) => void = () => {}) {
    this.connection = connection;
    this.#onWarning = onWarning;
  }

  /** A call under `/admin/v1`. @throws ServiceFault, Unreachable; CommandError if no token is known */
  asOperator(method: string, path: string, request: ServiceRequest = {}): Promise<ServiceResponse> {
    const { adminToken } = this.connection;
    if (adminToken) return this.#call(method, `/admin/v1${path}`, request, adminToken);
    throw missing("the operator's token", "PARLEY_ADMIN_TOKEN", this.connection);
  }

  /** A call under `/api/v1`. @throws ServiceFault, Unreachable; CommandError if no key is known */
  asClient(method: string, path: string, request: ServiceRequest = {}): Promise<ServiceResponse> {
    return this.#call(method, `/api/v1${path}`, request, this.requireApiKey());
  }

  /** A call as the operator, or as a client if only an API key is known. @throws ServiceFault, Unreachable, CommandError */
  asOperatorOrClient(method: string, path: string, request: ServiceRequest = {}): Promise<ServiceResponse> {
    const { adminToken, apiKey } = this.connection;
    return adminToken || !apiKey ? this.asOperator(method, path, request) : this.asClient(method, path, request);
  }

  /** Whether calls are a client's: there is only an API key, and no organization is given. */
  usesKey(organization: string | undefined): boolean {
    const { adminToken, apiKey } = this.connection;
    return adminToken === null && apiKey !== null && organization === undefined;
  }

  /** The API key. @throws CommandError if none is known */
  requireApiKey(): Secret {
    const { apiKey } = this.connection;
    if (apiKey) return apiKey;
    throw missing("an API key", "PARLEY_API_KEY", this.connection);
  }

  /** A call without a token or key. @throws ServiceFault, Unreachable */
  asStranger(method: string, path: string): Promise<ServiceResponse> {
    return this.#call(method, path, {}, null);
  }

  /** The lines of a response as they arrive. @throws ServiceFault, Unreachable, CommandError; Unreachable if it is cut */
  async *lines(isOperator: boolean, path: string, query: Query): AsyncGenerator<string, void, undefined> {
    const { adminToken } = this.connection;
    if (isOperator && !adminToken) throw missing("the operator's token", "PARLEY_ADMIN_TOKEN", this.connection);
    const secret = isOperator ? adminToken : this.requireApiKey();
    const whole = `${isOperator ? "/admin/v1" : "/api/v1"}${path}`;
    const { body } = await this.#open(whole, { query }, secret);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of this.bytes(body)) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  }

  /** The response to a read under `/api/v1`, before its body came. @throws ServiceFault, Unreachable, CommandError */
  stream(path: string, headers: Record<string, string>): Promise<Response> {
    return this.#open(`/api/v1${path}`, { headers }, this.requireApiKey());
  }

  /** The bytes of a response as they arrive. @throws Unreachable if it is cut */
  async *bytes(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = body?.getReader();
    try {
      for (;;) {
        const read = await reader?.read().catch((error: unknown) => {
          throw new Unreachable(this.connection.url, causeIn(error), this.#adviceOnSilence());
        });
        if (!read || read.done) return;
        yield read.value;
      }
    } finally {
      await reader?.cancel().catch(() => {});
    }
  }

  /** The given id, or the id of the only organization. @throws CommandError with exit code 2, naming the candidates */
  async organization(given: string | undefined): Promise<string> {
    if (given !== undefined) return given;
    const { body } = await this.asOperator("GET", "/organizations", { query: { limit: MAX_CANDIDATES } });
    const organizations = body.organizations as { id: string; name: string }[];
    const [first, ...others] = organizations;
    if (first && others.length === 0) return first.id;
    if (!first) throw new CommandError("There is no organization yet. Create one with parley organizations create.", 2);
    const { total } = body.pagination as { total: number };
    const lines = organizations.map(({ id, name }) => `\n  --organization ${id}  # ${printable(name)}`);
    const more = total > organizations.length ? "\nparley organizations list shows all." : "";
    throw new CommandError(`There are ${total} organizations. Choose one:${lines.join("")}${more}`, 2);
  }

  async #open(path: string, request: ServiceRequest, secret: Secret | null): Promise<Response> {
    const response = await this.#send("GET", path, request, secret, LINES_TIMEOUT_MS);
    if (response.ok) return response;
    throw faultOf(response, await response.text().catch(() => ""), secret, {});
  }

  async #call(method: string, path: string, request: ServiceRequest, secret: Secret | null): Promise<ServiceResponse> {
    const timeoutMs = request.bytes ? UPLOAD_TIMEOUT_MS : TIMEOUT_MS;
    const response = await this.#send(method, path, request, secret, timeoutMs);
    const text = await response.text().catch((error: unknown) => {
      throw new Unreachable(this.connection.url, causeIn(error), this.#adviceOnSilence());
    });
    const answer = { status: response.status, body: parsed(text), headers: response.headers };
    if (response.ok || response.status === 304) {
      const { warnings } = answer.body;
      if (Array.isArray(warnings)) for (const warning of warnings) this.#onWarning(printable(String(warning)));
      return answer;
    }
    throw faultOf(response, text, secret, request.optionOf ?? {});
  }

  async #send(
    method: string,
    path: string,
    request: ServiceRequest,
    secret: Secret | null,
    timeoutMs: number,
  ): Promise<Response> {
    const url = new URL(path, this.connection.url);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = { ...(secret && { Authorization: `Bearer ${secret.value}` }), ...request.headers };
    const json = request.body === undefined ? null : JSON.stringify(request.body);
    const body = (request.bytes as Uint8Array<ArrayBuffer> | undefined) ?? json;
    try {
      // A redirect is not followed, because it would send the secret to another server.
      const init = { method, headers, body, redirect: "manual" as const, signal: AbortSignal.timeout(timeoutMs) };
      return await fetch(url, init);
    } catch (error) {
      throw new Unreachable(this.connection.url, causeIn(error), this.#adviceOnSilence());
    }
  }

  #adviceOnSilence(): string {
    const { isHere, urlFrom } = this.connection;
    if (isHere) return "Start the service with npm start, or set PARLEY_URL to its address.";
    return `The address comes from ${urlFrom}.`;
  }
}

/** An error with the service's message and code, and the request's id in the service's log. */
function faultOf(
  response: Response,
  answer: string,
  secret: Secret | null,
  optionOf: Record<string, string>,
): ServiceFault {
  const { status, headers } = response;
  const front = frontFault(response, answer);
  if (front) {
    return new ServiceFault(`${capitalized(front.found)}. To do: ${front.advice}.`, status, null, null, front);
  }
  const body = parsed(answer);
  const code = typeof body.code === "string" ? body.code : null;
  const message = body.message ?? body.error;
  const id = headers.get("X-Request-Id");
  const names = [code ?? `status ${status}`, ...(id ? [`request ${id}`] : [])].map(printable).join(", ");
  const text = typeof message === "string" ? printable(message) : "The answer is not from Parley";
  const faults = Array.isArray(body.errors) ? (body.errors as { path: string; message: string }[]) : [];
  const lines = faults.map(({ path, message }) => `\n  ${nameOf(path, optionOf)}: ${printable(message)}`);
  const whose = status === 401 && secret ? ` The secret comes from ${secret.from}.` : "";
  // Nothing in the command says which organization it asked.
  const isDemo = status === 404 && secret?.from === FROM_DEMO;
  const where = isDemo ? " The API key is that of the demo organization. For another one, set PARLEY_API_KEY." : "";
  const seconds = Number.parseInt(headers.get("Retry-After") ?? "", 10);
  const wait = status === 429 && seconds >= 0 ? ` Try again in ${seconds} s.` : "";
  const sentence = `${text} (${names}).${whose}${where}${wait}${lines.join("")}`;
  return new ServiceFault(sentence, status, code, seconds >= 0 ? seconds : null);
}

function capitalized(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}

/** The option that sets a field, with the rest of the field's path; else the path alone. */
function nameOf(path: string, optionOf: Record<string, string>): string {
  const option = Object.keys(optionOf).find((field) => path === field || path.startsWith(`${field}.`));
  if (option === undefined) return printable(path || "the body");
  const rest = path.slice(option.length + 1);
  return `${optionOf[option]}${rest && !/^\d+$/.test(rest) ? ` (${printable(rest)})` : ""}`;
}

function missing(what: string, variable: string, { url, isHere }: ServiceConnection): CommandError {
  const local = isHere ? " For the service on this machine, npm start creates it." : "";
  return new CommandError(`This command needs ${what} for ${url}. Set ${variable}, or run parley login.${local}`, 2);
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

/** Node's error code, such as `ECONNREFUSED`. Never the address. */
function causeIn(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return `no answer in ${TIMEOUT_MS / 1_000} s`;
  const cause = (error as { cause?: { code?: string; errors?: { code?: string }[] } }).cause;
  return cause?.code ?? cause?.errors?.[0]?.code ?? "the connection failed";
}
