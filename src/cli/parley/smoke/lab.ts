import type { ApiSchemas } from "../../../client/parley.ts";
import { check, type Json, type Reply, type Sent, type SmokeCaller } from "./caller.ts";
import type { Leftovers } from "./leftovers.ts";

export type SmokePlace = "eu" | "us" | null;

/** How long the steps wait for a message that becomes due, a frame of a socket and an event of a stream, in milliseconds. */
export type Patience = Record<"due" | "frame" | "event", number>;

/** How long the steps wait, in milliseconds. */
export interface Pace {
  /** A socket and a stream are silent for this long: by then the chat's object is out of memory. */
  silence: number;
  /** How far ahead a message is scheduled. */
  ahead: number;
  /** For what comes on its own. */
  patience: Patience;
  /** Between the first and the last look at the version. */
  rollout: number;
  /** How often a run shows that it goes on. */
  beat: number;
}

export const PACE: Pace = {
  silence: 20_000,
  ahead: 5_000,
  patience: { due: 30_000, frame: 30_000, event: 30_000 },
  rollout: 60_000,
  beat: 1_000,
};

/** What the steps of a run share. */
export interface Lab {
  caller: SmokeCaller;
  /** The operator's token, and where it is from. */
  token: { value: string; from: string };
  leftovers: Leftovers;
  pace: Pace;
  /** The URL of a receiver of webhooks, or null. */
  webhook: string | null;
  /** The address for plain http, or null for a server on this machine. */
  plain: string | null;
  /** Whether buckets are bound. */
  files: boolean;
  /** The service's version and build, each time they were asked. */
  seen: { build: string | null; at: number }[];
  /** The build that a deploy has just made, or null. */
  build: string | null;
  /** The ids of the organizations that have files. */
  withFiles: Set<string>;
}

/** A temporary organization with a key, a web channel and a chat. */
export interface Tenant {
  id: string;
  key: string;
  channelId: string;
  identitySecret: string;
  /** The chat of this user of the site. */
  user: string;
  chatId: string;
  createdAt: string;
  /** Asks as the key. */
  ask: <Body = Json>(method: string, path: string, sent?: Sent) => Promise<Reply<Body>>;
  want: <Body>(status: number, method: string, path: string, sent?: Sent) => Promise<Body>;
}

export interface NewKey {
  key: { id: string };
  secret: string;
}

interface NewChannel {
  channel: { id: string; identitySecret?: unknown };
  identitySecret?: unknown;
}

export interface OneFile {
  media: { id: string };
}

export interface OneMessage {
  message: ApiSchemas["Message"];
}

const USER = "smoke-visitor";

/** The answer to a call as the operator. @throws SmokeFault with another status */
export function operate<Body>(
  { caller, token }: Lab,
  status: number,
  method: string,
  path: string,
  body?: object,
): Promise<Body> {
  return caller.want(status, method, `/admin/v1${path}`, { token: token.value, ...(body && { body }) });
}

/** Creates an organization with what the other steps need. @throws SmokeFault */
export async function newTenant(lab: Lab, place: SmokePlace): Promise<Tenant> {
  const { caller } = lab;
  const { id, createdAt } = await lab.leftovers.create(place);
  const within = `/organizations/${id}`;
  const permissions = ["chats:read", "chats:write", "messages:read", "messages:send", "events:read"];
  const rateLimit = { limit: 1_000, windowSeconds: 60 };
  const limited = { name: "Smoke test", permissions, rateLimit };
  const { secret: key } = await operate<NewKey>(lab, 201, "POST", `${within}/keys`, limited);
  const web = { kind: "web", name: "Smoke test" };
  const { channel, identitySecret } = await operate<NewChannel>(lab, 201, "POST", `${within}/channels`, web);
  const secret = identitySecret ?? channel.identitySecret;
  const as = (sent: Sent = {}) => ({ ...sent, token: key });
  const ask: Tenant["ask"] = (method, path, sent) => caller.ask(method, `/api/v1${path}`, as(sent));
  const want: Tenant["want"] = (status, method, path, sent) => caller.want(status, method, `/api/v1${path}`, as(sent));
  const contact = { address: USER, name: "Smoke test" };
  const { chat } = await want<{ chat: ApiSchemas["Chat"] }>(201, "POST", "/chats", {
    body: { channelId: channel.id, contact },
  });
  check(typeof secret === "string", "a new web channel came without its identity secret");
  const ids = { id, channelId: channel.id, chatId: chat.id, createdAt };
  return { ...ids, key, identitySecret: secret, user: USER, ask, want };
}

/** Sends a text. @returns the message */
export async function send(
  { want, chatId }: Pick<Tenant, "want" | "chatId">,
  content: string,
  more: object = {},
): Promise<ApiSchemas["Message"]> {
  const path = `/chats/${chatId}/messages`;
  const { message } = await want<OneMessage>(201, "POST", path, { body: { content, ...more } });
  return message;
}

/** Waits for a promise, for some milliseconds at most. @throws SmokeFault with `found` */
export async function within<T>(
  ms: number,
  found: string,
  promise: Promise<T>,
  advice: string | null = null,
): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), ms);
  try {
    const result = await Promise.race([promise.then((value) => ({ value })), late]);
    check(result !== "late", found, advice);
    return result.value;
  } finally {
    clearTimeout(timer);
  }
}

/** Bytes that no compression makes shorter. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}
