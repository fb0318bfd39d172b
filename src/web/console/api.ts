import { ParleyError } from "../../client/error.ts";
import type { EventSource } from "../../client/follow-events.ts";
import type { ApiSchemas } from "../../client/parley.ts";
import { retryingFetch, unreachable } from "../../client/retry.ts";
import { type Api, type ApiRequest, createApi } from "./api-client.ts";
import { heard } from "./repeat-later.ts";
import { bodyOf, markAsScript } from "./request.ts";
import { learnClock } from "./service-clock.ts";
import { sessionLost } from "./session.ts";

export type Schemas = ApiSchemas;
export type Chat = Schemas["Chat"];
export type Message = Schemas["Message"];
export type Channel = Schemas["Channel"];
export type Member = Schemas["Member"];
export type Template = Schemas["Template"];
export type Organization = Schemas["Organization"];

export { ParleyError };

const ROOT = "/console/api";

const fetchWithRetries = retryingFetch({
  retries: 2,
  maxWaitMs: 5_000,
  deadlineMs: 15_000,
  timeoutMs: 30_000,
  fetch: watchedFetch,
});

const apis = new Map<string, Api>();

export function apiOf(organizationId: string): Api {
  const known = apis.get(organizationId);
  if (known) return known;
  const api = createApi(({ path, ...request }) => send({ path: `${baseOf(organizationId)}${path}`, ...request }));
  apis.set(organizationId, api);
  return api;
}

/** Where the organization's events come from, for `followEvents`. */
export function eventsOf(organizationId: string): EventSource {
  const requestOf = (path: string, query: Record<string, string>) =>
    new Request(`${baseOf(organizationId)}${path}?${new URLSearchParams(query)}`);
  return {
    async page(query, signal) {
      return bodyOf(await fetchWithRetries(requestOf("/events", query), { signal }));
    },
    async stream(query, signal) {
      const request = requestOf("/events/stream", query);
      return watchedFetch(request, { signal }).catch((cause: unknown) => {
        throw signal.aborted ? signal.reason : unreachable(request.url, cause);
      });
    },
  };
}

/** A part of the organization's export, as lines. @param after what the part before named; empty for the first. @throws ParleyError */
export async function exportPart(organizationId: string, after: string, signal: AbortSignal): Promise<string> {
  const path = `/export${after && `?after=${encodeURIComponent(after)}`}`;
  const response = await watchedFetch(new Request(addressOf(organizationId, path)), { signal });
  return response.ok ? response.text() : bodyOf(response);
}

/** The address of a route of the organization, for links and downloads. */
export function addressOf(organizationId: string, path: string): string {
  return `${baseOf(organizationId)}${path}`;
}

/**
 * Calls a route that the public document does not have. `path` begins below `/console/api`.
 * @throws ParleyError
 */
export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return (await send({ method, path: `${ROOT}${path}`, body, signal })) as T;
}

/** A fault of this page's own, to a person. */
export const OWN_FAULT = "Something went wrong on this page.";

/** What an error says to a person. */
export function textOf(error: unknown): string {
  if (!(error instanceof ParleyError)) return OWN_FAULT;
  if (error.code === "unreachable") return "The service can’t be reached. Check your connection.";
  const [fault] = error.errors;
  return fault ? `${fault.path}: ${fault.message}` : error.message;
}

function baseOf(organizationId: string): string {
  return new URL(`${ROOT}/organizations/${encodeURIComponent(organizationId)}`, location.href).href;
}

/** The session's cookie says who calls. @throws ParleyError */
async function send({ method, path, body, headers = {}, signal }: ApiRequest): Promise<unknown> {
  const init: RequestInit = { method, headers };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...headers, "Content-Type": "application/json" };
  }
  if (signal) init.signal = signal;
  return bodyOf(await fetchWithRetries(new Request(new URL(path, location.href), init)));
}

/** Any request can find that the session is over. */
async function watchedFetch(request: Request, { signal }: { signal: AbortSignal }): Promise<Response> {
  markAsScript(request);
  const sentAt = Date.now();
  const response = await fetch(request, { signal }).catch((cause: unknown) => {
    // A screen that was left ends its requests.
    if (!signal.aborted) heard(false);
    throw cause;
  });
  heard(response.status < 500);
  learnClock(response, sentAt);
  if (response.status === 401) sessionLost();
  return response;
}

/** A fault of this page's own is shown like one of the service. */
export function asParleyError(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  console.error(error);
  return new ParleyError(OWN_FAULT, { status: null, code: "page", cause: error });
}
