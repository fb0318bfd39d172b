import { CommandError } from "../command-error.ts";
import type { Connection, Secret } from "./connection.ts";
import { printable } from "./table.ts";

const PATIENCE_MS = 60_000;

export type Body = Record<string, unknown>;
type Query = Record<string, string | number | undefined>;

export interface ServiceRequest {
  query?: Query;
  body?: Body;
  headers?: Record<string, string>;
}

/** What the service answered, where that is no error. */
export interface ServiceResponse {
  status: number;
  /** `{}` of an answer without a body. */
  body: Body;
  headers: Headers;
}

/** The service said no. */
export class ServiceFault extends CommandError {
  readonly status: number;
  readonly code: string | null;
  /** Seconds that the service asks to wait; null where it does not. */
  readonly retryAfter: number | null;

  constructor(sentence: string, status: number, code: string | null, retryAfter: number | null) {
    super(sentence);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Nobody answered. */
export class Unreachable extends CommandError {
  readonly advice: string;

  constructor(url: string, reason: string, advice: string) {
    super(`${url} does not answer (${reason}). ${advice}`);
    this.advice = advice;
  }
}

/** The service, as the operator and as a client of an organization. */
export class Service {
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** A call under `/admin/v1`. @throws ServiceFault, Unreachable; CommandError where no token is known */
  asOperator(method: string, path: string, request: ServiceRequest = {}): Promise<ServiceResponse> {
    const { adminToken } = this.connection;
    if (adminToken) return this.#call(method, `/admin/v1${path}`, request, adminToken);
    throw missing("the operator's token", "PARLEY_ADMIN_TOKEN", this.connection);
  }

  /** A call under `/api/v1`. @throws ServiceFault, Unreachable; CommandError where no key is known */
  asClient(method: string, path: string, request: ServiceRequest = {}): Promise<ServiceResponse> {
    const { apiKey } = this.connection;
    if (apiKey) return this.#call(method, `/api/v1${path}`, request, apiKey);
    throw missing("an API key", "PARLEY_API_KEY", this.connection);
  }

  /** A call that shows no secret. @throws ServiceFault, Unreachable */
  asStranger(method: string, path: string): Promise<ServiceResponse> {
    return this.#call(method, path, {}, null);
  }

  /** The id that was given, or that of the only organization there is. @throws CommandError with exit code 2 */
  async organization(given: string | undefined): Promise<string> {
    if (given !== undefined) return given;
    const { body } = await this.asOperator("GET", "/organizations", { query: { limit: 2 } });
    const [first, second] = body.organizations as { id: string }[];
    if (first && !second) return first.id;
    throw new CommandError(
      first
        ? "There are several organizations: say which with --organization; parley organizations list shows them."
        : "There is no organization yet: parley organizations create makes one.",
      2,
    );
  }

  async #call(method: string, path: string, request: ServiceRequest, secret: Secret | null): Promise<ServiceResponse> {
    const url = new URL(path, this.connection.url);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = { ...(secret && { Authorization: `Bearer ${secret.value}` }), ...request.headers };
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    let response: Response;
    let text: string;
    try {
      // Followed, a redirect would show the secret to whoever it names.
      const init = { method, headers, body, redirect: "manual" as const, signal: AbortSignal.timeout(PATIENCE_MS) };
      response = await fetch(url, init);
      text = await response.text();
    } catch (error) {
      throw new Unreachable(this.connection.url, causeIn(error), this.#adviceOnSilence());
    }
    const answer = { status: response.status, body: parsed(text), headers: response.headers };
    if (response.ok || response.status === 304) return answer;
    throw faultOf(answer, secret);
  }

  #adviceOnSilence(): string {
    const { isHere, urlFrom } = this.connection;
    if (isHere) return "npm start starts the service; PARLEY_URL says where it is, if elsewhere.";
    return `That address is from ${urlFrom}.`;
  }
}

/** The service's own words, its code, and the id under which its log has the request. */
function faultOf({ status, body, headers }: ServiceResponse, secret: Secret | null): ServiceFault {
  const code = typeof body.code === "string" ? body.code : null;
  const said = body.message ?? body.error;
  const id = headers.get("X-Request-Id");
  const names = [code ?? `status ${status}`, ...(id ? [`request ${id}`] : [])].map(printable).join(", ");
  const text = typeof said === "string" ? printable(said) : "The answer is none of Parley's";
  const faults = Array.isArray(body.errors) ? (body.errors as { path: string; message: string }[]) : [];
  const lines = faults.map(({ path, message }) => `\n  ${printable(path || "the body")}: ${printable(message)}`);
  const whose = status === 401 && secret ? ` It was shown the secret of ${secret.from}.` : "";
  const seconds = Number.parseInt(headers.get("Retry-After") ?? "", 10);
  const wait = status === 429 && seconds >= 0 ? ` Try again in ${seconds} s.` : "";
  const sentence = `${text} (${names}).${whose}${wait}${lines.join("")}`;
  return new ServiceFault(sentence, status, code, seconds >= 0 ? seconds : null);
}

function missing(what: string, variable: string, { url, isHere }: Connection): CommandError {
  const local = isHere ? " npm start makes one for the service on this machine." : "";
  return new CommandError(`This needs ${what} for ${url}: set ${variable}, or run parley login.${local}`, 2);
}

function parsed(text: string): Body {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Body) : {};
  } catch {
    return {};
  }
}

/** `ECONNREFUSED`, where Node says so; never the address that was called. */
function causeIn(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return `nothing came in ${PATIENCE_MS / 1_000} s`;
  const cause = (error as { cause?: { code?: string; errors?: { code?: string }[] } }).cause;
  return cause?.code ?? cause?.errors?.[0]?.code ?? "the connection failed";
}
