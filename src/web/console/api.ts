import { signal } from "@preact/signals";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "../../openapi/client/types.ts";

/** The records of the API, by their names in the OpenAPI document. */
export type ConsoleSchemas = components["schemas"];
export type Organization = ConsoleSchemas["Organization"];

/** Who is signed in. `member` and `organization` are null for the operator. */
export interface SignedIn {
  type: "operator" | "member";
  expiresAt: string;
  permissions: string[];
  member: ConsoleSchemas["Member"] | null;
  organization: Organization | null;
}

/** The person who uses the page. `hasEnded`: a session ended while the page was open. */
export type Viewer =
  | { state: "unknown" }
  | { state: "out"; hasEnded: boolean }
  | { state: "in"; session: SignedIn }
  | { state: "failed"; failure: Failure };

/** Every screen can read it. A 401 of any request changes it. */
export const viewer = signal<Viewer>({ state: "unknown" });

/** Why a request failed, for people. `status` is 0 if there was no response. */
export interface Failure {
  status: number;
  code: string;
  text: string;
  requestId: string | null;
  /** After how many seconds it makes sense to try again; null if the service does not say. */
  retryAfter: number | null;
}

export type Result<T> = { ok: true; data: T } | { ok: false; failure: Failure };

const API = "/console/api";

/**
 * The routes of an organization's keys, typed by the OpenAPI document, for the person who is signed in. Pass an answer
 * to `resultOf`.
 */
export function organizationApi(organizationId: string): Client<paths> {
  const baseUrl = new URL(`${API}/organizations/${organizationId}`, location.origin).href;
  const client = createClient<paths>({ baseUrl });
  client.use({ onResponse: ({ response }) => noteSession(response) });
  return client;
}

/** The result of a call of `organizationApi`. */
export async function resultOf<T>(
  call: Promise<{ data?: T | undefined; error?: unknown; response: Response }>,
): Promise<Result<T>> {
  try {
    const { data, error, response } = await call;
    if (response.ok) return { ok: true, data: data as T };
    return { ok: false, failure: failureOf(response, error) };
  } catch {
    return { ok: false, failure: UNREACHABLE };
  }
}

/** Asks who is signed in. */
export async function readViewer(): Promise<void> {
  const answer = await request<{ session: SignedIn }>("GET", `${API}/session`);
  if (answer.ok) viewer.value = { state: "in", session: answer.data.session };
  else if (answer.failure.status !== 401) viewer.value = { state: "failed", failure: answer.failure };
}

/** Signs in with the operator's token or the code of a sign-in link. */
export async function signIn(proof: { token: string } | { code: string }): Promise<Result<void>> {
  const answer = await request<void>("POST", "/console/session", proof);
  if (answer.ok) await readViewer();
  return answer;
}

export async function signOut(): Promise<Result<void>> {
  const answer = await request<void>("DELETE", "/console/session");
  if (answer.ok) viewer.value = { state: "out", hasEnded: false };
  return answer;
}

/** A page of all organizations, oldest first. Only for the operator. */
export function listOrganizations(
  page: number,
): Promise<Result<{ organizations: Organization[]; pagination: ConsoleSchemas["Pagination"] }>> {
  return request("GET", `${API}/organizations?page=${page}&limit=50`);
}

async function request<T>(method: string, path: string, body?: object): Promise<Result<T>> {
  try {
    const response = await fetch(path, { method, ...(body && { body: JSON.stringify(body) }) });
    if (path.startsWith(API)) noteSession(response);
    const received: unknown = response.status === 204 ? undefined : await response.json().catch(() => undefined);
    if (response.ok) return { ok: true, data: received as T };
    return { ok: false, failure: failureOf(response, received) };
  } catch {
    return { ok: false, failure: UNREACHABLE };
  }
}

function noteSession(response: Response): void {
  if (response.status !== 401) return;
  const { state } = viewer.peek();
  if (state !== "out") viewer.value = { state: "out", hasEnded: state === "in" };
}

const UNREACHABLE: Failure = {
  status: 0,
  code: "unreachable",
  text: "The server can’t be reached",
  requestId: null,
  retryAfter: null,
};

function failureOf(response: Response, body: unknown): Failure {
  const { message, error, code } = (body ?? {}) as { message?: string; error?: string; code?: string };
  const retryAfter = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return {
    status: response.status,
    code: code ?? "unknown",
    text: message ?? error ?? `The server answered ${response.status}`,
    requestId: response.headers.get("X-Request-Id"),
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
  };
}
