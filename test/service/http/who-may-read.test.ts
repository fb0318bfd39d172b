import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { allow, neededPermissions, needsOnlyOne, PERMISSIONS, type Permission } from "../../../src/model/permission.ts";
import { needOf } from "../../../src/openapi/permissions.ts";
import { runAlarm } from "../../support/alarms.ts";
import { DOCUMENTS } from "../../support/documents.ts";
import { admin, type Client, client, created, newKey, newOrganization } from "../../support/harness.ts";
import { untilStatus } from "../../support/message-status.ts";
import { once } from "../../support/once.ts";
import { report, writeAsContact } from "../chats/inbound.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { fakeReceiver } from "../webhooks/receiver.ts";
import { UPLOAD } from "./tenant.ts";

stopTheClock();

/**
 * The rule: which permissions show what a resource says. What the organization's people configure is shown to whoever may
 * change it, too. What contacts and people say is not.
 */
const SHOWN_WITH: Record<string, readonly Permission[]> = {
  chat: ["chats:read", "events:read", "data:export"],
  message: ["messages:read", "events:read", "data:export"],
  note: ["notes:read", "data:export"],
  channel: ["channels:read", "channels:write", "chats:read", "events:read", "stats:read", "data:export"],
  template: ["templates:read", "templates:write", "data:export"],
  reply: ["messages:send", "replies:write", "data:export"],
  label: ["chats:read", "labels:write", "events:read", "data:export"],
  // Who wrote a message or a note.
  member: [
    "members:read",
    "members:write",
    "messages:read",
    "notes:read",
    "events:read",
    "audit:read",
    "stats:read",
    "data:export",
  ],
  key: ["keys:read", "keys:write", "notes:read", "events:read", "stats:read", "audit:read", "data:export"],
  webhook: ["webhooks:read", "webhooks:write"],
};

/** A text that names its resource. */
const canary = (resource: string) => `canary-${resource}-4711`;

/** The resources whose texts are in an answer, and that these permissions don't show. */
function leaksIn(text: string, permissions: readonly Permission[]): string[] {
  const found = new Set([...text.matchAll(/canary-([a-z]+)/gi)].map(([, resource = ""]) => resource.toLowerCase()));
  return [...found].filter((resource) => !SHOWN_WITH[resource]?.some((one) => permissions.includes(one)));
}

type Operation = {
  method: string;
  path: string;
  needed: readonly Permission[];
  isAllowed: (of: Permission[]) => boolean;
};

/** Every operation of keys in the document of the public API. */
const OPERATIONS: Operation[] = Object.entries(DOCUMENTS.public.paths).flatMap(([path, { servers, ...operations }]) =>
  servers
    ? []
    : Object.keys(operations).flatMap((method) => {
        const need = needOf(method, path);
        if (need === null) return [{ method: method.toUpperCase(), path, needed: [], isAllowed: () => true }];
        const needed = neededPermissions(need);
        const least = needsOnlyOne(need) ? needed.slice(0, 1) : needed;
        return [{ method: method.toUpperCase(), path, needed: least, isAllowed: (of) => allow(of, need) }];
      }),
);

/** An organization in which every stored text is a canary, and a key for each permission alone. */
const place = once(async () => {
  // What a network says may quote what it got.
  fakeReceiver(undefined, async () =>
    Response.json({ ok: false, error_code: 400, description: canary("message") }, { status: 400 }),
  );
  const { organizationId, ownerId } = await newOrganization({ selfService: {} });
  const at = `/organizations/${organizationId}`;
  const all = client((await newKey(organizationId, { name: canary("key"), permissions: [...PERMISSIONS] })).secret);
  const make = async (path: string, body: object) => created(await all("POST", path, body));
  const web = (
    await make("/channels", { kind: "web", name: canary("channel"), settings: { title: canary("channel") } })
  ).channel.id;
  const credentials = { botToken: "123456:telegram-bot-token" };
  const telegram = (await make("/channels", { kind: "telegram", name: canary("channel"), credentials })).channel.id;
  const template = (await make("/templates", { name: "canary-template", language: "en", body: canary("template") }))
    .template.id;
  const reply = (await make("/replies", { name: canary("reply"), content: canary("reply") })).reply.id;
  const label = (await make("/labels", { name: canary("label") })).label.id;
  const person = { name: canary("member"), publicName: canary("member"), email: "canary-member@acme.test" };
  await admin("PATCH", `/members/${ownerId}`, person);
  const member = (await make("/members", { ...person, permissions: [] })).member.id;
  const hook = { url: "https://canary-webhook.customer.test/", description: canary("webhook") };
  const webhook = (await make("/webhooks", hook)).webhook.id;
  const chatOf = async (channelId: string, address: string) => {
    const contact = { address, name: canary("chat") };
    return (await make("/chats", { channelId, contact, metadata: { [canary("chat")]: canary("chat") } })).chat.id;
  };
  const chat: string = await chatOf(web, canary("chat"));
  const failing: string = await chatOf(telegram, "4711");
  const say = { content: canary("message"), metadata: { a: canary("message") }, senderId: ownerId };
  const sendTo = async (id: string, body: object = {}): Promise<string> =>
    (await make(`/chats/${id}/messages`, { ...say, ...body })).message.id;
  const later = new Date(Date.now() + 86_400_000).toISOString();
  const theirs = (await writeAsContact(organizationId, chat, canary("message"))).id;
  const failed = await sendTo(failing, { mediaUrl: `https://acme.test/${canary("message")}`, type: "IMAGE" });
  await runAlarm(env.CHATS.getByName(failing));
  await untilStatus(failing, failed, "FAILED");
  const upload = await all("POST", `/chats/${chat}/media?fileName=${canary("message")}`, "{}", UPLOAD);
  const withFile = await sendTo(chat, { mediaId: created(upload).media.id });
  const note = (await make(`/chats/${chat}/notes`, { content: canary("note"), mentions: [ownerId] })).note.id;
  await report(chat);
  const replay = (await all("POST", `/webhooks/${webhook}/replays`, { failed: true })).body.replay.id;
  const [event] = (await all("GET", `/events?types=chat.*`)).body.events;
  const keys = new Map<Permission, Client>();
  for (const permission of PERMISSIONS) {
    const { secret } = await newKey(organizationId, { name: canary("key"), permissions: [permission] });
    keys.set(permission, client(secret));
  }
  return {
    ...{
      organizationId,
      ownerId,
      at,
      all,
      keys,
      web,
      telegram,
      template,
      reply,
      label,
      member,
      webhook,
      chat,
      failing,
      failed,
    },
    ...{ theirs, withFile, note, replay, later, eventId: event.id as string, sendTo },
    scheduled: () => sendTo(chat, { scheduledAt: later }),
    newKey: async () => (await newKey(organizationId, { name: canary("key"), permissions: [] })).key.id,
  };
});

type Place = Awaited<ReturnType<typeof place>>;
interface Ask {
  path?: string;
  query?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** If it does not succeed here: a network or the clock would be needed. */
  status?: number;
}

/** What each operation that acts is asked, in this order; the last ones delete. Lists and reads need nothing more. */
const ACTS: Record<string, (at: Place) => Ask | Promise<Ask>> = {
  "POST /chats": ({ web }) => ({ body: { channelId: web, contact: { address: canary("chat") } } }),
  "PATCH /chats/{id}": () => ({ body: {} }),
  "POST /chats/{id}/answered": () => ({}),
  "POST /chats/{id}/handover": () => ({ body: { to: "people" } }),
  "DELETE /chats/{id}/answered": async ({ organizationId, chat }) => {
    await writeAsContact(organizationId, chat, canary("message"));
    return {};
  },
  "POST /chats/{id}/messages": () => ({ body: { content: "Mine" } }),
  "POST /chats/{id}/media": () => ({ body: "{}", headers: UPLOAD }),
  "PATCH /chats/{id}/messages/{messageId}": async (at) => ({
    path: `/chats/${at.chat}/messages/${await at.scheduled()}`,
    body: {},
  }),
  "POST /chats/{id}/messages/{messageId}/cancel": async (at) => ({
    path: `/chats/${at.chat}/messages/${await at.scheduled()}/cancel`,
  }),
  "POST /chats/{id}/messages/{messageId}/resend": (at) => ({
    path: `/chats/${at.failing}/messages/${at.failed}/resend`,
    body: {},
  }),
  "PUT /chats/{id}/messages/{messageId}/reaction": () => ({ body: { emoji: "👍" } }),
  "DELETE /chats/{id}/messages/{messageId}/reaction": () => ({}),
  "POST /chats/{id}/read": ({ theirs }) => ({ body: { messageId: theirs } }),
  "POST /chats/{id}/typing": () => ({ body: {} }),
  "POST /mcp": () => ({ body: { jsonrpc: "2.0", id: 1, method: "tools/list" } }),
  "POST /chats/{id}/notes": () => ({ body: { content: "Mine" } }),
  "POST /webhooks": () => ({ body: { url: "https://mine.customer.test/" } }),
  "PATCH /webhooks/{id}": () => ({ body: {} }),
  "POST /webhooks/{id}/rotate": () => ({ body: {} }),
  "POST /webhooks/{id}/ping": () => ({ body: {} }),
  "POST /webhooks/{id}/enable": () => ({ body: {} }),
  "POST /webhooks/{id}/chats/{chatId}/retry": () => ({}),
  "POST /webhooks/{id}/retry": () => ({}),
  "POST /webhooks/{id}/chats/{chatId}/skip": ({ eventId }) => ({ body: { eventId }, status: 409 }),
  "POST /webhooks/{id}/replays": () => ({ body: { failed: true }, status: 409 }),
  "POST /webhooks/{id}/disable": () => ({}),
  "PATCH /organization": () => ({ body: {} }),
  "POST /keys": () => ({ body: { name: "Mine", permissions: [] } }),
  "PATCH /keys/{id}": () => ({ body: {} }),
  "POST /keys/{id}/rotate": () => ({ body: {} }),
  "POST /channels": () => ({ body: { kind: "web", name: "Mine" } }),
  "PATCH /channels/{id}": () => ({ body: {} }),
  "POST /channels/{id}/webhook": ({ telegram }) => ({ path: `/channels/${telegram}/webhook` }),
  "POST /channels/{id}/check": ({ telegram }) => ({ path: `/channels/${telegram}/check` }),
  "POST /channels/{id}/identity-secret": () => ({ body: {} }),
  "POST /templates": () => ({ body: { name: "mine", language: "en", body: "Mine" } }),
  "PATCH /templates/{id}": () => ({ body: {} }),
  "POST /replies": () => ({ body: { name: "mine", content: "Mine" } }),
  "PATCH /replies/{id}": () => ({ body: { shortcut: null } }),
  "POST /labels": () => ({ body: { name: "mine" } }),
  "PUT /chats/{id}/labels/{labelId}": () => ({}),
  "DELETE /chats/{id}/labels/{labelId}": () => ({}),
  "PATCH /labels/{labelId}": () => ({ body: { color: null } }),
  // A web channel has no account at a network.
  "POST /channels/{id}/templates/sync": () => ({ status: 400 }),
  "POST /members": () => ({ body: { name: "Mine", permissions: [] } }),
  "PATCH /members/{id}": () => ({ body: {} }),
  "POST /members/{id}/sign-in-link": () => ({}),
  "DELETE /members/{id}/sessions": () => ({}),
  "POST /chats/{id}/messages/{messageId}/redact": () => ({}),
  "DELETE /chats/{id}/notes/{noteId}": () => ({ status: 403 }),
  "DELETE /webhooks/{id}": () => ({}),
  "DELETE /members/{id}": () => ({}),
  "DELETE /templates/{id}": () => ({}),
  "DELETE /replies/{id}": () => ({}),
  "DELETE /labels/{labelId}": () => ({}),
  "DELETE /keys/{id}": () => ({}),
  "DELETE /chats/{id}": () => ({}),
  "DELETE /channels/{id}": ({ telegram }) => ({ path: `/channels/${telegram}` }),
};

/** What some of those that read are asked. */
const READS: typeof ACTS = {
  "GET /stats/history": ({ web }) => ({ query: `?of=${web}` }),
  "GET /messages": async ({ organizationId, all }) => {
    await all("PATCH", "/organization", { search: { on: true } });
    await runAlarm(env.ORGANIZATIONS.getByName(organizationId));
    const { body } = await all("GET", "/messages?search=canary");
    expect(body.messages.length).toBeGreaterThan(1);
    return { query: "?search=canary" };
  },
  // A stream would not end, so its cursor is wrong.
  "GET /events/stream": () => ({ query: "?after=wrong", status: 400 }),
  "GET /chats/{id}/messages/{messageId}/media": ({ chat, withFile }) => ({
    path: `/chats/${chat}/messages/${withFile}/media`,
  }),
};

/** The path of an operation, with the ids of the place. */
async function pathOf(at: Place, path: string): Promise<string> {
  const ids: Record<string, string> = {
    ...{ chats: at.chat, messages: at.theirs, notes: at.note, events: at.eventId, webhooks: at.webhook },
    ...{
      replays: at.replay,
      channels: at.web,
      templates: at.template,
      replies: at.reply,
      members: at.member,
      labels: at.label,
    },
    ...(path.startsWith("/keys/{") && { keys: await at.newKey() }),
  };
  return path.replace(/([\w-]+)\/\{\w+\}/g, (_, list: string) => `${list}/${ids[list]}`);
}

test("the operations that act are all asked below", () => {
  const acts = OPERATIONS.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(ACTS).toSorted()).toEqual(acts.toSorted());
});

test("a key with one permission gets a 403 from every operation that needs another", async () => {
  const at = await place();
  const open: string[] = [];
  for (const { method, path, isAllowed } of OPERATIONS) {
    const asked = await pathOf(at, path);
    for (const [permission, api] of at.keys) {
      if (isAllowed([permission])) continue;
      const { status, body } = await api(method, asked);
      if (status !== 403 || body.code !== "permission_denied")
        open.push(`${method} ${path} with ${permission}: ${status}`);
    }
  }
  expect(open).toEqual([]);
});

test("what an operation answers has only what the key's permissions show", async () => {
  const at = await place();
  const unexpected: string[] = [];
  const leaks: string[] = [];
  const ordered = [
    ...OPERATIONS.filter(({ method }) => method === "GET"),
    ...Object.keys(ACTS).map((name) => OPERATIONS.find(({ method, path }) => `${method} ${path}` === name)),
  ].filter((operation) => operation !== undefined);
  for (const { method, path, needed } of ordered) {
    const name = `${method} ${path}`;
    const { secret } = await newKey(at.organizationId, { name: "Least", permissions: needed });
    const ask: Ask = (await (ACTS[name] ?? READS[name])?.(at)) ?? {};
    const asked = `${ask.path ?? (await pathOf(at, path))}${ask.query ?? ""}`;
    const answer = await client(secret)(method, asked, ask.body, ask.headers);
    if (ask.status === undefined ? answer.status >= 300 : answer.status !== ask.status)
      unexpected.push(`${name}: ${answer.status} ${answer.text}`);
    const headers = JSON.stringify([...answer.headers]);
    for (const leak of leaksIn(answer.text + headers, needed)) leaks.push(`${name} shows a ${leak}: ${answer.text}`);
  }
  expect(unexpected).toEqual([]);
  expect(leaks).toEqual([]);
});
