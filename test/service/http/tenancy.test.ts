import { env } from "cloudflare:workers";
import { beforeAll, expect, test, vi } from "vitest";
import { app } from "../../../src/app.ts";
import { newChatBody } from "../../../src/chats/create-chat.ts";
import { type IdPrefix, newId } from "../../../src/model/id.ts";
import { sendBody } from "../../../src/model/message.ts";
import { countHops, watchSteps } from "../../support/faults.ts";
import { type Answer, seen } from "../../support/harness.ts";
import { heldBy, NOTHING, storedBy } from "../../support/stored.ts";
import { TOMORROW } from "../../support/tomorrow.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { IDEMPOTENCY, newTenant, type Tenant, UPLOAD } from "./tenant.ts";

/** Two similar organizations: `ours` makes the requests, and `theirs` owns the resources that they ask for. */
let ours: Tenant;
let theirs: Tenant;
// Ahead of the platform's clock, so that no alarm runs in between.
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  [ours, theirs] = [await newTenant(), await newTenant()];
});

stopTheClock();

/** A request with an id that belongs to the other organization, or that doesn't exist. */
interface Swap {
  id: "chat" | "coldChat" | "message" | "note" | "sender" | "template" | "media" | "channel" | "address";
  method?: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE";
  path: (id: string) => string;
  body?: (id: string) => object;
  headers?: Record<string, string>;
  status: number;
}

const hello = () => ({ content: "Hello" });
const ofOurs = (query = "") => `/chats/${ours.chat}/messages${query}`;

function sendTo(id: "chat" | "coldChat", body: () => object, headers = {}): Swap {
  return { id, method: "POST", path: (chat) => `/chats/${chat}/messages`, body, headers, status: 404 };
}

function sendInOurs(id: "media" | "sender" | "template", body: (id: string) => object): Swap {
  return { id, method: "POST", path: () => ofOurs(), body, status: 404 };
}

function newChatAt(address: () => string): Swap {
  const body = (channelId: string) => ({ channelId, contact: { address: address() } });
  return { id: "channel", method: "POST", path: () => "/chats", body, status: 404 };
}

const SWAPS: Record<string, Swap> = {
  "a chat": { id: "chat", path: (id) => `/chats/${id}`, status: 404 },
  "a chat that was never used": { id: "coldChat", path: (id) => `/chats/${id}`, status: 404 },
  "a chat by HEAD": { id: "chat", method: "HEAD", path: (id) => `/chats/${id}`, status: 404 },
  "a change of a chat": {
    id: "chat",
    method: "PATCH",
    path: (id) => `/chats/${id}`,
    body: () => ({ contact: { name: "Eve" }, metadata: { a: "b" } }),
    status: 404,
  },
  "an invalid change of a chat": {
    id: "chat",
    method: "PATCH",
    path: (id) => `/chats/${id}`,
    body: () => ({ contact: { name: 1 } }),
    status: 400,
  },
  "a chat as answered": { id: "chat", method: "POST", path: (id) => `/chats/${id}/answered`, status: 404 },
  "a chat as unanswered": { id: "chat", method: "DELETE", path: (id) => `/chats/${id}/answered`, status: 404 },
  "an upload to a chat": {
    id: "chat",
    method: "POST",
    path: (id) => `/chats/${id}/media`,
    body: () => ({}),
    headers: UPLOAD,
    status: 404,
  },
  "a file of its chat in ours": sendInOurs("media", (id) => ({ content: "Hello", mediaId: id })),
  "a deletion of a chat": { id: "chat", method: "DELETE", path: (id) => `/chats/${id}`, status: 404 },
  "a redaction in a chat": {
    id: "chat",
    method: "POST",
    path: (id) => `/chats/${id}/messages/${theirs.message}/redact`,
    status: 404,
  },
  "a redaction in our chat": {
    id: "message",
    method: "POST",
    path: (id) => ofOurs(`/${id}/redact`),
    status: 404,
  },
  "its messages": { id: "chat", path: (id) => `/chats/${id}/messages`, status: 404 },
  "its messages, if it was never used": { id: "coldChat", path: (id) => `/chats/${id}/messages`, status: 404 },
  "its second page": { id: "chat", path: (id) => `/chats/${id}/messages?page=2&limit=1`, status: 404 },
  "its first page, wrongly asked": { id: "chat", path: (id) => `/chats/${id}/messages?page=0`, status: 400 },
  "its messages before its own": {
    id: "chat",
    path: (id) => `/chats/${id}/messages?before=${theirs.message}`,
    status: 404,
  },
  "its messages after ours": { id: "chat", path: (id) => `/chats/${id}/messages?after=${ours.message}`, status: 404 },
  "its messages of a type": { id: "chat", path: (id) => `/chats/${id}/messages?type=TEXT`, status: 404 },
  "a search in its messages": { id: "chat", path: (id) => `/chats/${id}/messages?search=Hello`, status: 404 },
  "its scheduled messages": { id: "chat", path: (id) => `/chats/${id}/scheduled`, status: 404 },
  "its notes": { id: "chat", path: (id) => `/chats/${id}/notes`, status: 404 },
  "a note about its chat": {
    id: "chat",
    method: "POST",
    path: (id) => `/chats/${id}/notes`,
    body: () => ({ content: "Hi" }),
    status: 404,
  },
  "the deletion of its note": {
    id: "chat",
    method: "DELETE",
    path: (id) => `/chats/${id}/notes/${theirs.note}`,
    status: 404,
  },
  "the deletion of its note in our chat": {
    id: "note",
    method: "DELETE",
    path: (id) => `/chats/${ours.chat}/notes/${id}`,
    status: 404,
  },
  "new times of its message": {
    id: "chat",
    method: "PATCH",
    path: (id) => `/chats/${id}/messages/${theirs.message}`,
    body: () => ({ scheduledAt: null }),
    status: 404,
  },
  "new times of a message in our chat": {
    id: "message",
    method: "PATCH",
    path: (id) => ofOurs(`/${id}`),
    body: () => ({ scheduledAt: null }),
    status: 404,
  },
  "the cancellation of its message": {
    id: "chat",
    method: "POST",
    path: (id) => `/chats/${id}/messages/${theirs.message}/cancel`,
    status: 404,
  },
  "the cancellation of its message in our chat": {
    id: "message",
    method: "POST",
    path: (id) => ofOurs(`/${id}/cancel`),
    status: 404,
  },
  "a reaction to its message": {
    id: "chat",
    method: "PUT",
    path: (id) => `/chats/${id}/messages/${theirs.message}/reaction`,
    body: () => ({ emoji: "👍" }),
    status: 404,
  },
  "a reaction to its message in our chat": {
    id: "message",
    method: "PUT",
    path: (id) => ofOurs(`/${id}/reaction`),
    body: () => ({ emoji: "👍" }),
    status: 404,
  },
  "no reaction to its message": {
    id: "chat",
    method: "DELETE",
    path: (id) => `/chats/${id}/messages/${theirs.message}/reaction`,
    status: 404,
  },
  "a read mark in its chat": {
    id: "chat",
    method: "POST",
    path: (id) => `/chats/${id}/read`,
    body: () => ({ messageId: theirs.message }),
    status: 404,
  },
  "a read mark up to its message in our chat": {
    id: "message",
    method: "POST",
    path: () => `/chats/${ours.chat}/read`,
    body: (id) => ({ messageId: id }),
    status: 404,
  },
  "typing in its chat": { id: "chat", method: "POST", path: (id) => `/chats/${id}/typing`, status: 404 },
  "a reply to its message in our chat": {
    id: "message",
    method: "POST",
    path: () => `/chats/${ours.chat}/messages`,
    body: (id) => ({ content: "Hello", replyTo: id }),
    status: 400,
  },
  "a resend of its message": {
    id: "chat",
    method: "POST",
    path: (id) => `/chats/${id}/messages/${theirs.message}/resend`,
    status: 404,
  },
  "a resend of its message in our chat": {
    id: "message",
    method: "POST",
    path: (id) => ofOurs(`/${id}/resend`),
    status: 404,
  },
  "the attempts of its message": {
    id: "chat",
    path: (id) => `/chats/${id}/messages/${theirs.message}/attempts`,
    status: 404,
  },
  "the attempts of its message in our chat": {
    id: "message",
    path: (id) => ofOurs(`/${id}/attempts`),
    status: 404,
  },
  "its export": { id: "chat", path: (id) => `/chats/${id}/export`, status: 404 },
  "its events": { id: "chat", path: (id) => `/chats/${id}/events`, status: 404 },
  "its first event": { id: "chat", path: (id) => `/events/evt_${id.slice(4)}0VbhEuzN1`, status: 404 },
  "its message": { id: "chat", path: (id) => `/chats/${id}/messages/${theirs.message}`, status: 404 },
  "its message by HEAD": {
    id: "chat",
    method: "HEAD",
    path: (id) => `/chats/${id}/messages/${theirs.message}`,
    status: 404,
  },
  "the media of its message": {
    id: "chat",
    path: (id) => `/chats/${id}/messages/${theirs.message}/media`,
    status: 404,
  },
  "the media of a message in our chat": { id: "message", path: (id) => ofOurs(`/${id}/media`), status: 404 },
  "its messages, if there are any": {
    id: "chat",
    path: (id) => `/chats/${id}/messages`,
    headers: { "If-None-Match": "*" },
    status: 404,
  },
  "a message in our chat": { id: "message", path: (id) => ofOurs(`/${id}`), status: 404 },
  "a message before which we list": { id: "message", path: (id) => ofOurs(`?before=${id}`), status: 400 },
  "a message after which we list": { id: "message", path: (id) => ofOurs(`?after=${id}`), status: 400 },
  "a send to a chat": sendTo("chat", hello),
  "a send to a chat that was never used": sendTo("coldChat", hello),
  "a send with an idempotency key that was used there": sendTo("chat", hello, IDEMPOTENCY),
  "another send with that key": sendTo("chat", () => ({ content: "Bye" }), IDEMPOTENCY),
  "a send from its own sender": sendTo("chat", () => ({ content: "Hello", senderId: theirs.sender })),
  "a send with its own template": sendTo("chat", () => ({ content: "Hello", templateId: theirs.template })),
  "an invalid send": { ...sendTo("chat", () => ({})), status: 400 },
  "a sender in our chat": sendInOurs("sender", (senderId) => ({ content: "Hello", senderId })),
  "a template in our chat": sendInOurs("template", (id) => ({
    content: "Hello",
    templateId: id,
    variables: { name: "Ada" },
  })),
  "an unfilled template in our chat": sendInOurs("template", (id) => ({ content: "Hello", templateId: id })),
  "a new chat on a channel": newChatAt(() => "new"),
  "a chat that is on a channel already": newChatAt(() => theirs.address),
  "a malformed address on a channel": newChatAt(() => "web_1"),
  "the chats of a channel": { id: "channel", path: (id) => `/chats?channel=${id}`, status: 200 },
  "a contact on a channel": {
    id: "channel",
    path: (id) => `/chats?channel=${id}&contact=${theirs.address}`,
    status: 200,
  },
  "a contact": { id: "address", path: (id) => `/chats?contact=${id}`, status: 200 },
  "the chats of its channel before a chat": {
    id: "chat",
    path: (id) => `/chats?channel=${theirs.channel}&before=${id}`,
    status: 400,
  },
  "our chats of a channel, from our cursor on": {
    id: "channel",
    path: (id) => `/chats?channel=${id}&before=${ours.coldChat}`,
    status: 200,
  },
  "a chat for an id": { id: "chat", path: (id) => `/chats?contact=${id}`, status: 200 },
  "the chats before a chat": { id: "chat", path: (id) => `/chats?before=${id}`, status: 400 },
};

const PREFIXES: Record<Exclude<Swap["id"], "address">, IdPrefix> = {
  chat: "cht",
  coldChat: "cht",
  message: "msg",
  note: "note",
  sender: "mbr",
  template: "tpl",
  media: "med",
  channel: "chn",
};

/** A request's response, and its calls to the directory and to each kind of object, with their names. */
async function withHops(ask: () => Promise<Answer>) {
  const steps = watchSteps();
  const hops = countHops();
  const answer = await ask();
  const counted = { ...hops(), steps: steps.toSorted().join(" ") };
  vi.restoreAllMocks();
  return [answer, counted] as const;
}

/** Everything stored in the directory, in an organization's object and in its chats. */
async function everything({ organizationId, chat, coldChat }: Tenant) {
  const tables = ["organizations", "members", "channels", "templates", "api_keys"];
  const rows = await env.DB.batch(tables.map((table) => env.DB.prepare(`select * from ${table}`)));
  const objects = [
    env.ORGANIZATIONS.getByName(organizationId),
    ...[chat, coldChat].map((id) => env.CHATS.getByName(id)),
  ];
  const stored = await Promise.all(objects.map(async (each) => [await storedBy(each), await heldBy(each)]));
  return { directory: rows.map((row) => row.results), stored };
}

test.each(Object.entries(SWAPS))(
  "%s: another organization's id gets the same response as an unknown id, and changes nothing",
  async (_, { id, method = "GET", path, body: bodyOf, headers, status }) => {
    const ask = (text: string) => ours.api(method, path(text), bodyOf?.(text), headers);
    const before = await everything(theirs);

    const [foreign, hopsOfForeign] = await withHops(() => ask(theirs[id]));
    const [nobodys, hopsOfNobodys] = await withHops(() => ask(id === "address" ? "nobody" : newId(PREFIXES[id], null)));

    expect(foreign.status, foreign.text).toBe(status);
    expect(seen(foreign)).toEqual(seen(nobodys));
    // The two cases also need the same number of calls, so their time does not differ.
    expect(hopsOfForeign).toEqual(hopsOfNobodys);
    expect(await everything(theirs)).toEqual(before);
  },
);

test("the requests cover every route with an id in its path, and every field with an id in a body", () => {
  const text = Object.values(SWAPS).map(({ method = "GET", path, body }) => {
    const asked = path("cht_x")
      .split("?")[0]
      ?.replace(/(?<=messages\/)[^/]+/, ":messageId")
      .replace(/(?<=notes\/)[^/]+/, ":noteId")
      .replace(/(?<=(chats|events)\/)[^/]+/, ":id");
    return { route: `${method} /api/v1${asked}`, body: JSON.stringify(body?.("x") ?? {}) };
  });
  // Those of webhooks have the same test in service/webhooks/ownership.test.ts, and those of the other resources in
  // service/management/routes.test.ts.
  const routes = app.routes.filter(
    ({ method, path }) => method !== "ALL" && /^\/api\/v1\/(chats|events)\/.*:/.test(path),
  );
  expect(routes.length).toBeGreaterThan(4);
  for (const { method, path } of routes) expect(text.map(({ route }) => route)).toContain(`${method} ${path}`);
  const ids = [sendBody, newChatBody].flatMap(({ shape }) =>
    Object.keys(shape).filter((field) => field.endsWith("Id")),
  );
  expect(ids).toEqual(["senderId", "templateId", "mediaId", "channelId"]);
  for (const field of ids) expect(text.map(({ body }) => body).join()).toContain(`"${field}"`);
});

test("the same requests with the organization's own ids find the resources", async () => {
  const tenant = await newTenant();
  const found = await Promise.all([
    tenant.api("GET", `/chats/${tenant.chat}`),
    tenant.api("GET", `/chats/${tenant.chat}/messages/${tenant.message}`),
    tenant.api("GET", `/chats/${tenant.chat}/messages?after=${tenant.message}`),
    tenant.api("GET", `/chats?contact=${tenant.address}&channel=${tenant.channel}`),
    tenant.api("GET", `/chats?before=${tenant.chat}`),
  ]);
  expect(found.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
  expect(found[3]?.body.chats).toHaveLength(1);
});

test("an organization's list contains and counts only its own chats", async () => {
  for (const tenant of [ours, theirs]) {
    const { body: listed } = await tenant.api("GET", "/chats");
    expect(listed.chats.map((chat: { id: string }) => chat.id).sort()).toEqual([tenant.chat, tenant.coldChat].sort());
    expect(listed.pagination.total).toBe(2);
  }
});

test("a chat that its own key has read is still a 404 for another organization", async () => {
  await ours.api("GET", ofOurs());
  expect((await theirs.api("GET", ofOurs())).status).toBe(404);
  expect((await ours.api("GET", ofOurs())).status).toBe(200);
});

test("requests for unknown chats store nothing", async () => {
  const id = newId("cht", null);
  for (const path of [`/chats/${id}`, `/chats/${id}/messages`]) await ours.api("GET", path);
  await ours.api("POST", `/chats/${id}/messages`, hello());
  expect(await heldBy(env.CHATS.getByName(id))).toEqual(NOTHING);
});
