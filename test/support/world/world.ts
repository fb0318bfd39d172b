/** A response with its JSON body. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the body depends on the route
  body: any;
}

interface Sent {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A running service: the operator's token, and how to call it with any token. `path` includes the API's prefix. */
export interface World {
  readonly adminToken: string;
  readonly call: (token: string, method: string, path: string, body?: object, sent?: Sent) => Promise<Answer>;
}

/** The world of a service that listens at `base`. */
export function worldAt(base: URL | string, adminToken: string): World {
  return {
    adminToken,
    call: async (token, method, path, body, { headers, signal } = {}) => {
      const response = await fetch(new URL(path, base), {
        method,
        headers: { Authorization: `Bearer ${token}`, ...headers },
        body: body ? JSON.stringify(body) : null,
        signal: signal ?? null,
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
  };
}

/**
 * The body of an answer with this status.
 * @throws Error for any other status
 */
export function wanted(status: number, answer: Answer): Answer["body"] {
  if (answer.status === status) return answer.body;
  throw new Error(`Expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}

/** Calls below one prefix with one token. They return the body, and throw an Error unless the call succeeds. */
export function caller({ call }: Pick<World, "call">, prefix: "/admin/v1" | "/api/v1", token: string) {
  return async (method: string, path: string, body?: object): Promise<Answer["body"]> => {
    const answer = await call(token, method, `${prefix}${path}`, body);
    if (answer.status >= 200 && answer.status < 300) return answer.body;
    throw new Error(`${method} ${prefix}${path}: got ${answer.status}: ${JSON.stringify(answer.body)}`);
  };
}
