import type { ParamsOption, RequestBodyOption } from "openapi-fetch";
import type { paths } from "../../openapi/client/types.ts";

type Method = "get" | "post" | "put" | "patch" | "delete";
/** The routes that have an operation with the method. */
export type Routes<M extends Method> = { [R in keyof paths]: paths[R][M] extends object ? R : never }[keyof paths];

/** The parameters and the body of an operation, as the OpenAPI document says. */
type Options<O> = NonNullable<ParamsOption<O>["params"]> &
  RequestBodyOption<O> & {
    signal?: AbortSignal | undefined;
  };

/** What an operation answers if it succeeds. */
type Answer<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 | 202 ? JsonOf<R[S]> : never }[keyof R]
  : never;
type JsonOf<R> = R extends { content: { "application/json": infer Body } } ? Body : never;

/** The last argument of a call. It can be left out if the operation needs nothing. */
export type OptionsOf<M extends Method, R extends Routes<M>> =
  object extends Options<paths[R][M]> ? [Options<paths[R][M]>?] : [Options<paths[R][M]>];

export type AnswerOf<M extends Method, R extends Routes<M>> = Answer<paths[R][M]>;

type Call<M extends Method> = <R extends Routes<M>>(route: R, ...options: OptionsOf<M, R>) => Promise<AnswerOf<M, R>>;

/** Every route of one organization, typed by the public OpenAPI document. Calls throw ParleyError. */
export interface Api {
  GET: Call<"get">;
  POST: Call<"post">;
  PUT: Call<"put">;
  PATCH: Call<"patch">;
  DELETE: Call<"delete">;
}

/** A request below the organization's address. */
export interface ApiRequest {
  method: string;
  /** With its query. */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

interface AnyOptions extends Pick<ApiRequest, "body" | "signal"> {
  path?: Record<string, string>;
  query?: Record<string, string>;
  header?: Record<string, string>;
}

/** @param send sends a request, and returns the body of its answer */
export function createApi(send: (request: ApiRequest) => Promise<unknown>): Api {
  const calls =
    (method: string) =>
    (route: string, { path = {}, query = {}, header = {}, body, signal }: AnyOptions = {}) => {
      const filled = route.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
      const search = String(new URLSearchParams(query));
      return send({ method, path: search ? `${filled}?${search}` : filled, headers: header, body, signal });
    };
  // The types of the routes hold for the callers. Here all routes are one.
  return {
    GET: calls("GET"),
    POST: calls("POST"),
    PUT: calls("PUT"),
    PATCH: calls("PATCH"),
    DELETE: calls("DELETE"),
  } as Api;
}
