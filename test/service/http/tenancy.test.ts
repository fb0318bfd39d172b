import { env } from "cloudflare:workers";
import { beforeAll, expect, test, vi } from "vitest";
import { app } from "../../../src/app.ts";
import { newChatBody } from "../../../src/chats/create-chat.ts";
import { newId } from "../../../src/model/id.ts";
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

type Ask = [request: string, status?: number, body?: object | undefined, headers?: Record<string, string>];

/**
 * Requests with an id that belongs to the other organization, or that doesn't exist: `{chat}`. `<message>` is always an
 * id of the other organization, and `(message)` of the one that asks. Where no status stands, it is a 404.
 */
const REQUESTS: Ask[] = [
  ["GET /chats/{chat}"],
  ["GET /chats/{coldChat}"],
  ["HEAD /chats/{chat}"],
  ["PATCH /chats/{chat}", 404, { contact: { name: "Eve" }, metadata: { a: "b" } }],
  ["PATCH /chats/{chat}", 400, { contact: { name: 1 } }],
  ["POST /chats/{chat}/answered"],
  ["DELETE /chats/{chat}/answered"],
  ["POST /chats/{chat}/handover", 404, { to: "people", note: "Hello" }],
  ["POST /chats/{chat}/handover", 404, { to: "bot" }],
  ["POST /chats/(chat)/handover", 404, { to: "people", assigneeId: "{sender}" }],
  ["POST /chats/{chat}/media", 404, {}, UPLOAD],
  ["POST /chats/(chat)/messages", 404, { content: "Hello", mediaId: "{media}" }],
  ["POST /chats/(chat)/messages", 404, { content: "Hello", draftId: "{note}" }],
  ["DELETE /chats/{chat}"],
  ["POST /chats/{chat}/messages/<message>/redact"],
  ["POST /chats/(chat)/messages/{message}/redact"],
  ["GET /chats/{chat}/messages"],
  ["GET /chats/{coldChat}/messages"],
  ["GET /chats/{chat}/messages?page=2&limit=1"],
  ["GET /chats/{chat}/messages?page=0", 400],
  ["GET /chats/{chat}/messages?before=<message>"],
  ["GET /chats/{chat}/messages?after=(message)"],
  ["GET /chats/{chat}/messages?type=TEXT"],
  ["GET /chats/{chat}/messages?search=Hello"],
  ["GET /chats/{chat}/scheduled"],
  ["PUT /chats/{chat}/labels/<label>"],
  ["PUT /chats/(chat)/labels/{label}"],
  ["DELETE /chats/{chat}/labels/<label>"],
  ["DELETE /chats/(chat)/labels/{label}"],
  ["GET /chats/{chat}/notes"],
  ["POST /chats/{chat}/notes", 404, { content: "Hi" }],
  ["DELETE /chats/{chat}/notes/<note>"],
  ["DELETE /chats/(chat)/notes/{note}"],
  ["PATCH /chats/{chat}/messages/<message>", 404, { scheduledAt: null }],
  ["PATCH /chats/(chat)/messages/{message}", 404, { scheduledAt: null }],
  ["POST /chats/{chat}/messages/<message>/cancel"],
  ["POST /chats/(chat)/messages/{message}/cancel"],
  ["PUT /chats/{chat}/messages/<message>/reaction", 404, { emoji: "👍" }],
  ["PUT /chats/(chat)/messages/{message}/reaction", 404, { emoji: "👍" }],
  ["DELETE /chats/{chat}/messages/<message>/reaction"],
  ["POST /chats/{chat}/read", 404, { messageId: "<message>" }],
  ["POST /chats/(chat)/read", 404, { messageId: "{message}" }],
  ["POST /chats/{chat}/typing"],
  ["POST /chats/(chat)/messages", 400, { content: "Hello", replyTo: "{message}" }],
  ["POST /chats/{chat}/messages/<message>/resend"],
  ["POST /chats/(chat)/messages/{message}/resend"],
  ["GET /chats/{chat}/messages/<message>/attempts"],
  ["GET /chats/(chat)/messages/{message}/attempts"],
  ["GET /chats/{chat}/export"],
  ["GET /chats/{chat}/events"],
  // The id of a chat's event has the chat's own.
  ["GET /events/evt_{chat}0VbhEuzN1"],
  ["GET /chats/{chat}/messages/<message>"],
  ["HEAD /chats/{chat}/messages/<message>"],
  ["GET /chats/{chat}/messages/<message>/media"],
  ["GET /chats/(chat)/messages/{message}/media"],
  ["GET /chats/{chat}/messages", 404, undefined, { "If-None-Match": "*" }],
  ["GET /chats/(chat)/messages/{message}"],
  ["GET /chats/(chat)/messages?before={message}", 400],
  ["GET /chats/(chat)/messages?after={message}", 400],
  ["POST /chats/{chat}/messages", 404, { content: "Hello" }],
  ["POST /chats/{coldChat}/messages", 404, { content: "Hello" }],
  // The idempotency key was used there.
  ["POST /chats/{chat}/messages", 404, { content: "Hello" }, IDEMPOTENCY],
  ["POST /chats/{chat}/messages", 404, { content: "Bye" }, IDEMPOTENCY],
  ["POST /chats/{chat}/messages", 404, { content: "Hello", senderId: "<sender>" }],
  ["POST /chats/{chat}/messages", 404, { content: "Hello", templateId: "<template>" }],
  ["POST /chats/{chat}/messages", 400, {}],
  ["POST /chats/(chat)/messages", 404, { content: "Hello", senderId: "{sender}" }],
  ["POST /chats/(chat)/messages", 404, { content: "Hello", templateId: "{template}", variables: { name: "Ada" } }],
  ["POST /chats/(chat)/messages", 404, { content: "Hello", templateId: "{template}" }],
  ["POST /chats", 404, { channelId: "{channel}", contact: { address: "new" } }],
  ["POST /chats", 404, { channelId: "{channel}", contact: { address: "<address>" } }],
  ["POST /chats", 404, { channelId: "{channel}", contact: { address: "web_1" } }],
  ["GET /chats?channel={channel}", 200],
  ["GET /chats?channel={channel}&contact=<address>", 200],
  ["GET /chats?contact={address}", 200],
  ["GET /chats?channel=<channel>&before={chat}", 400],
  ["GET /chats?channel={channel}&before=(coldChat)", 200],
  ["GET /chats?contact={chat}", 200],
  ["GET /chats?before={chat}", 400],
  ["GET /stats/history?of={key}"],
  ["GET /stats/history?of={channel}"],
  ["GET /stats/history?of={sender}"],
];

const PREFIXES = {
  chat: "cht",
  coldChat: "cht",
  message: "msg",
  note: "note",
  label: "lbl",
  sender: "mbr",
  template: "tpl",
  media: "med",
  channel: "chn",
  key: "key",
} as const;

type Id = keyof typeof PREFIXES | "address";

/** The text of a request with the ids of both organizations, and `id` as the one that is asked for. */
function filled(text: string, id: string): string {
  return text
    .replace(/evt_\{\w+\}/, `evt_${id.slice(4)}`)
    .replace(/\{\w+\}/, id)
    .replace(/<(\w+)>/, (_, name: Id) => theirs[name])
    .replace(/\((\w+)\)/, (_, name: Id) => ours[name]);
}

/** The requests, and the text of each. */
const ASKED = REQUESTS.map((request): [string, ...Ask] => {
  const [line, , ...content] = request;
  return [[line, ...content.map((each) => JSON.stringify(each))].join(" "), ...request];
});

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
  const tables = ["organizations", "members", "channels", "templates", "replies", "api_keys"];
  const rows = await env.DB.batch(tables.map((table) => env.DB.prepare(`select * from ${table}`)));
  const objects = [
    env.ORGANIZATIONS.getByName(organizationId),
    ...[chat, coldChat].map((id) => env.CHATS.getByName(id)),
  ];
  const stored = await Promise.all(objects.map(async (each) => [await storedBy(each), await heldBy(each)]));
  return { directory: rows.map((row) => row.results), stored };
}

test.each(ASKED)(
  "%s: another organization's id gets the same response as an unknown id, and changes nothing",
  async (text, line, status, body, headers) => {
    const name = /\{(\w+)\}/.exec(text)?.[1] as Id;
    const ask = (id: string) => {
      const [method = "", path = ""] = filled(line, id).split(" ");
      return ours.api(method, path, body && JSON.parse(filled(JSON.stringify(body), id)), headers);
    };
    const newUnknown = () => (name === "address" ? "nobody" : newId(PREFIXES[name], null));
    const before = await everything(theirs);

    // Ten seconds after its last call, an object leaves memory. Its next call may read D1, and is not counted.
    await ask(newUnknown());
    const [foreign, hopsOfForeign] = await withHops(() => ask(theirs[name]));
    const [nobodys, hopsOfNobodys] = await withHops(() => ask(newUnknown()));

    expect(foreign.status, foreign.text).toBe(status ?? 404);
    expect(seen(foreign)).toEqual(seen(nobodys));
    // The two cases also need the same number of calls, so their time does not differ.
    expect(hopsOfForeign).toEqual(hopsOfNobodys);
    expect(await everything(theirs)).toEqual(before);
  },
);

test("the requests cover every route with an id in its path, and every field with an id in a body", () => {
  const asked = REQUESTS.map(([line]) =>
    line
      .replace(/\?.*/, "")
      .replace(/[{<(]message[}>)]/, ":messageId")
      .replace(/[{<(]note[}>)]/, ":noteId")
      .replace(/[{<(]label[}>)]/, ":labelId")
      .replace(/evt_.*|[{<(]\w+[}>)]/, ":id")
      .replace(" ", " /api/v1"),
  );
  // Those of webhooks have the same test in service/webhooks/ownership.test.ts, and those of the other resources in
  // service/management/routes.test.ts.
  const routes = app.routes.filter(
    ({ method, path }) => method !== "ALL" && /^\/api\/v1\/(chats|events)\/.*:/.test(path),
  );
  expect(routes.length).toBeGreaterThan(4);
  for (const { method, path } of routes) expect(asked).toContain(`${method} ${path}`);
  const ids = [sendBody, newChatBody].flatMap(({ shape }) =>
    Object.keys(shape).filter((field) => field.endsWith("Id")),
  );
  expect(ids).toEqual(["senderId", "templateId", "mediaId", "draftId", "channelId"]);
  for (const field of ids) expect(JSON.stringify(ASKED)).toContain(`"${field}"`);
});

test("the same requests with the organization's own ids find the resources", async () => {
  const tenant = await newTenant();
  const found = await Promise.all([
    tenant.api("GET", `/chats/${tenant.chat}`),
    tenant.api("GET", `/chats/${tenant.chat}/messages/${tenant.message}`),
    tenant.api("GET", `/chats/${tenant.chat}/messages?after=${tenant.message}`),
    tenant.api("GET", `/chats?contact=${tenant.address}&channel=${tenant.channel}`),
    tenant.api("GET", `/chats?before=${tenant.chat}`),
    tenant.api("GET", `/stats/history?of=${tenant.key}`),
    tenant.api("GET", `/stats/history?of=${tenant.channel}`),
  ]);
  expect(found.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200, 200, 200]);
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
  const path = `/chats/${ours.chat}/messages`;
  await ours.api("GET", path);
  expect((await theirs.api("GET", path)).status).toBe(404);
  expect((await ours.api("GET", path)).status).toBe(200);
});

test("requests for unknown chats store nothing", async () => {
  const id = newId("cht", null);
  for (const path of [`/chats/${id}`, `/chats/${id}/messages`]) await ours.api("GET", path);
  await ours.api("POST", `/chats/${id}/messages`, { content: "Hello" });
  expect(await heldBy(env.CHATS.getByName(id))).toEqual(NOTHING);
});
