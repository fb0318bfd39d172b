import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect } from "vitest";
import { app } from "../../src/app.ts";
import type { Chat } from "../../src/model/chat.ts";
import type { Message } from "../../src/model/message.ts";
import { lookInto, plant } from "./canaries.ts";
import { compareToDocuments } from "./documents.ts";
import { storeOrganization } from "./organization-rows.ts";
import { madeHere } from "./running-test.ts";
import { CREDENTIALS } from "./world/factories.ts";

/** A parsed response, as a failed assertion prints it. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the type of its body
  body: any;
}

export interface Call {
  body?: unknown;
  headers?: Record<string, string>;
  /** Bindings that replace the test's for this request. Requests with the same object share what the Worker remembers. */
  bindings?: Partial<Env>;
  /** The host that is called, if it is not the usual one. Its responses are not compared: it may have other routes. */
  host?: string;
}

const HOST = "parley.test";

/**
 * Sends a request to the Worker and compares it to the OpenAPI documents. A string or bytes as `body` are sent
 * unchanged, and any other value as JSON.
 */
export async function call(
  method: string,
  path: string,
  { body, headers = {}, bindings, host = HOST }: Call = {},
): Promise<Answer> {
  const raw =
    body === undefined || typeof body === "string" || body instanceof ReadableStream || body instanceof Uint8Array;
  const request = new Request(`https://${host}${path}`, {
    method,
    headers,
    redirect: "manual",
    ...(body !== undefined && { body: (raw ? body : JSON.stringify(body)) as BodyInit }),
  });
  const response = bindings
    ? await app.fetch(request, environmentWith(bindings), createExecutionContext())
    : await exports.default.fetch(request);
  const text = await response.text();
  lookInto(`${method} ${path} ${response.status}`, `${JSON.stringify([...response.headers])} ${text}`);
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  const received = isJson && text ? JSON.parse(text) : null;
  if (host === HOST)
    compareToDocuments({ method, path, requestHeaders: headers, sent: body, response, text, received });
  return { status: response.status, headers: response.headers, text, body: received };
}

const environments = new WeakMap<Partial<Env>, Env>();

function environmentWith(bindings: Partial<Env>): Env {
  const known = environments.get(bindings) ?? { ...env, ...bindings };
  environments.set(bindings, known);
  return known;
}

/** A request with the operator's token. `path` is below /admin/v1. */
export function admin(method: string, path: string, body?: unknown, bindings?: Partial<Env>): Promise<Answer> {
  const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };
  return call(method, `/admin/v1${path}`, { body, headers, ...(bindings && { bindings }) });
}

/** The statistics of an organization's channels and keys. */
export async function statsOf(organizationId: string) {
  return (await admin("GET", `/stats?organization=${organizationId}`)).body;
}

/** A client of the public API with one key. `path` is below /api/v1. */
export function client(secret: string) {
  return (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    call(method, `/api/v1${path}`, { body, headers: { Authorization: `Bearer ${secret}`, ...headers } });
}

export type Client = ReturnType<typeof client>;

/**
 * A new organization with a web channel and a key. Its rows are stored. With settings, the operator asks for it, for its
 * channel and for its key: this leaves the same rows, and takes more than twice as long.
 */
export async function newOrganization(settings?: Record<string, unknown>) {
  if (settings) return askForOrganization(settings);
  const { secret, identitySecret, ...ids } = await storeOrganization();
  plant(secret);
  plant(identitySecret);
  madeHere(ids.organizationId);
  return { ...ids, api: client(secret) };
}

async function askForOrganization(settings: Record<string, unknown>) {
  const made = created(
    await admin("POST", "/organizations", {
      name: "Acme",
      owner: { name: "Ada", email: "ada@acme.test" },
      // Its chats would do more than the test asks for.
      search: { on: false },
      ...settings,
    }),
  );
  const organizationId: string = made.organization.id;
  madeHere(organizationId);
  const channelId = await newChannel(organizationId, "web");
  const { key, secret } = await newKey(organizationId);
  return { organizationId, ownerId: made.member.id as string, channelId, keyId: key.id as string, api: client(secret) };
}

/** Creates a channel. Returns its id. */
export async function newChannel(organizationId: string, kind: keyof typeof CREDENTIALS): Promise<string> {
  const body = { kind, name: `The ${kind} channel`, credentials: CREDENTIALS[kind] };
  return created(await admin("POST", `/organizations/${organizationId}/channels`, body)).channel.id;
}

/** Creates a key. Returns it with its text. */
export async function newKey(organizationId: string, body: Record<string, unknown> = {}) {
  const answer = await admin("POST", `/organizations/${organizationId}/keys`, { name: "Test", ...body });
  return created(answer) as { key: Record<string, unknown> & { id: string }; secret: string };
}

/** Creates a template. Returns its id. */
export async function newTemplate(organizationId: string, body: string): Promise<string> {
  const template = { name: "order_shipped", language: "en", body };
  return created(await admin("POST", `/organizations/${organizationId}/templates`, template)).template.id;
}

let contacts = 0;

/** Creates a chat with a new contact. */
export async function newChat(api: Client, channelId: string, address = `contact-${++contacts}`): Promise<Chat> {
  madeHere(address);
  return created(await api("POST", "/chats", { channelId, contact: { address } })).chat;
}

/** Sends a message, which must be accepted. */
export async function send(api: Client, chatId: string, body: Record<string, unknown> = {}): Promise<Message> {
  return created(await api("POST", `/chats/${chatId}/messages`, { content: "Hello", ...body })).message;
}

/** A chat's `lastMessage`, if it is this short message. */
export function shortened({ id, seq, direction, type, text, status, createdAt }: Message) {
  return { id, seq, direction, type, text, status, createdAt };
}

/** Sends `count` messages, `Message 1` and so on, one after the other. Returns them in this order. */
export async function sendMany(api: Client, chatId: string, count: number): Promise<Message[]> {
  const sent: Message[] = [];
  while (sent.length < count) sent.push(await send(api, chatId, { content: `Message ${sent.length + 1}` }));
  return sent;
}

/** The body of a response, which must be a 201. */
export function created(answer: Answer) {
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** Expects an error's status, code and the field of its text. */
export function expectError(answer: Answer, status: number, code: string, text?: string | RegExp): void {
  expect({ status: answer.status, code: answer.body?.code }, answer.text).toEqual({ status, code });
  const shown = answer.body.message ?? answer.body.error;
  expect([typeof answer.body.message, typeof answer.body.error].sort(), answer.text).toEqual(["string", "undefined"]);
  if (text !== undefined) expect(shown).toMatch(text);
}

/** Expects a `validation_failed` with exactly these paths. */
export function expectFaults(answer: Answer, ...paths: string[]): void {
  expectError(answer, 400, "validation_failed");
  expect(
    answer.body.errors.map((fault: { path: string }) => fault.path),
    answer.text,
  ).toEqual(paths);
}

const CHANGING = ["x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit"];

/** Everything in a response that could tell a client two cases apart. */
export function seen({ status, text, headers }: Answer) {
  return { status, text, headers: [...headers].filter(([name]) => !CHANGING.includes(name)) };
}
