/** One fault of a request, at a dotted path in its body or query. */
export interface InputFault {
  path: string;
  message: string;
}

interface Details {
  status: number | null;
  code: string;
  requestId?: string | null;
  errors?: InputFault[];
  retryAfterSeconds?: number | null;
  cause?: unknown;
}

/** The service answered with an error, or did not answer. `message` is for people and can change. */
export class ParleyError extends Error {
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** The service's stable code, such as `chat_not_found`. `unreachable` without an answer, `not_parley` for another's. */
  readonly code: string;
  /** The request's id in the service's log, or null. */
  readonly requestId: string | null;
  /** Every fault of a request with the code `validation_failed`. */
  readonly errors: InputFault[];
  /** How long the service asks to wait, or null. */
  readonly retryAfterSeconds: number | null;

  constructor(message: string, { status, code, requestId = null, errors = [], retryAfterSeconds, cause }: Details) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "ParleyError";
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.errors = errors;
    this.retryAfterSeconds = retryAfterSeconds ?? null;
  }
}

/** The error for a response that is not successful. `body` is its JSON, or anything else if it has none. */
export function responseError(response: Response, body: unknown): ParleyError {
  const { message, error, code, errors } = (typeof body === "object" && body !== null ? body : {}) as {
    [field: string]: unknown;
  };
  const text = message ?? error;
  const retryAfterMs = retryAfterOf(response, Date.now());
  return new ParleyError(
    typeof text === "string" ? text : `The response with status ${response.status} is not from Parley`,
    {
      status: response.status,
      code: typeof code === "string" ? code : "not_parley",
      requestId: response.headers.get("X-Request-Id"),
      errors: Array.isArray(errors) ? (errors as InputFault[]) : [],
      retryAfterSeconds: retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1_000),
    },
  );
}

/** The milliseconds of `Retry-After`, in seconds or as a date (RFC 9110, 10.2.3); null without a valid one. */
export function retryAfterOf({ headers }: Response, now: number): number | null {
  const text = headers.get("Retry-After")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
