import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { app } from "../../../src/app.ts";
import { ACTION_NAMES, actionSpec } from "../../../src/model/audit-action.ts";
import { aroundCall, breakDirectory, breakObjects, watchSteps } from "../../support/faults.ts";
import { type Answer, admin, expectError, newOrganization } from "../../support/harness.ts";
import { neverRing } from "../../support/timers.ts";
import { until } from "../../support/until.ts";
import { ACTORS, ACTS, type ActorName, type Everything, everything, fakePlatforms } from "./audit-acts.ts";
import { type Entry, endedEntries } from "./ended-entries.ts";

beforeEach(fakePlatforms);

/** The log lines of a call. Attempts of webhooks are made at any time. */
async function linesOf(run: () => Promise<Answer>) {
  const log = vi.spyOn(console, "log");
  const answer = await run();
  const lines = log.mock.calls
    .map(([line]): Record<string, unknown> => (typeof line === "string" ? JSON.parse(line) : line))
    .filter(({ event }) => event !== "webhook_attempt");
  log.mockRestore();
  return { answer, lines, audits: lines.filter((line) => line.event === "audit") };
}

/** The entries of a request in an organization's log. */
async function entriesOf(organizationId: string, answer: Answer): Promise<Entry[]> {
  const entries = await endedEntries(organizationId);
  return entries.filter(({ requestId }) => requestId === answer.headers.get("X-Request-Id"));
}

/** Each act by each actor that can do it. */
const CASES = ACTS.flatMap((act) => act.actors.map((actor) => ({ ...act, actor })));
type Case = (typeof CASES)[number];

async function ask({ actor, method, request }: Case, ids: Everything): Promise<() => Promise<Answer>> {
  const [path, body] = await request(ids);
  const { client, pathOf } = ACTORS[actor];
  return () => client(ids)(method, pathOf(path), body);
}

function actorIn(actor: ActorName, { managerId }: Everything) {
  return actor === "operator"
    ? { type: "operator", id: "operator", name: "Operator" }
    : { type: "key", id: managerId, name: "Manager" };
}

/** The names of the fields in the request of a creation or a change. */
async function changedIn({ action, request }: Case, ids: Everything): Promise<string[]> {
  return /create|update/.test(action) ? Object.keys((await request(ids))[1] ?? {}) : [];
}

const lost = () => Promise.reject(new Error("internal error; reference = 0123456789abcdef"));

/** The steps that find the organization and admit the request, and what chats, keys and webhooks do at any time. */
const OTHER_STEPS =
  /^(KEYS\.admit|CHATS\.owner|WEBHOOKS\.(permit|report)|ORGANIZATIONS\.(report|reportKey|reportWebhook|find|webhookEvent|storeActs))$/;

/** An act begins with its entry. If the entry can't be stored, the act is a 503 that does nothing. */
async function expectNothingWithoutEntry(run: () => Promise<Answer>): Promise<void> {
  const steps = watchSteps({ beginAct: () => lost });
  const { answer, audits } = await linesOf(run);
  expectError(answer, 503, "unavailable");
  expect(answer.headers.get("Retry-After")).toBe("1");
  expect(audits).toEqual([]);
  expect(steps.filter((step) => !OTHER_STEPS.test(step))).toEqual(["ORGANIZATIONS.beginAct"]);
  vi.restoreAllMocks();
}

test.each(CASES)(
  "$action by the $actor does nothing without its entry, and leaves one entry and one log line, with no value of the request",
  async (act) => {
    const { action, actor, method, route } = act;
    // A response waits for its entry, however long that takes.
    neverRing(2_000);
    // What is done to an organization is done to all that it has. A webhook could hear of any act.
    const ids = await everything(action.startsWith("organization.") ? undefined : [...act.names, "webhookId"]);
    const run = await ask(act, ids);
    // The log gets acts that cut off access afterward: see `stopping-acts.test.ts`.
    if (action !== "organization.create" && !actionSpec(action).stops) await expectNothingWithoutEntry(run);
    const { answer, lines, audits } = await linesOf(run);
    expect(answer.status, answer.text).toBeLessThan(300);
    const requestId = answer.headers.get("X-Request-Id");
    const target = act.targetOf(answer.body, ids);
    const organizationId = action === "organization.create" ? answer.body.organization.id : ids.organizationId;
    const { prefix, pathOf } = ACTORS[actor];
    const by = actorIn(actor, ids);
    expect(audits).toEqual([
      {
        event: "audit",
        requestId,
        method,
        route: `${prefix}${pathOf(route)}`,
        id: target,
        action,
        organizationId,
        actor: by.id,
        status: answer.status,
      },
    ]);
    const entry = {
      id: expect.stringMatching(/^aud_g[0-9A-Za-z]{15}$/),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      actor: by,
      action,
      target,
      status: answer.status,
      requestId,
      changed: await changedIn(act, ids),
      count: 1,
      linkBy: null,
    };
    const entries = await entriesOf(organizationId, answer);
    expect(entries).toEqual(action === "organization.delete" ? [] : [entry]);
    const logged = JSON.stringify([lines, entries]);
    for (const secret of ["canary", "192.0.2.77", env.ADMIN_TOKEN, answer.body?.secret, answer.body?.identitySecret]) {
      if (secret) expect(logged).not.toContain(secret);
    }
  },
);

test.each([false, true])(
  "an organization whose entry can't be stored is removed again (stored, answer lost: %s)",
  async (isStored) => {
    const count = () => env.DB.prepare("select count(*) as n from organizations join members").first("n");
    const before = await count();
    const ids: unknown[] = [];
    const steps = watchSteps({
      beginAct: (original) => async (id, row) => {
        ids.push(id);
        if (isStored) await original(id, row);
        return lost();
      },
    });
    const body = { name: "Acme", owner: { name: "Ada" } };
    const { answer, audits } = await linesOf(() => admin("POST", "/organizations", body));
    expectError(answer, 503, "unavailable");
    expect(audits).toEqual([expect.objectContaining({ action: "organization.create", id: ids[0], status: 503 })]);
    expect(steps).toContain("ORGANIZATIONS.erase");
    expect(await count()).toBe(before);
    vi.restoreAllMocks();
    expect(await env.ORGANIZATIONS.getByName(String(ids[0])).acts({}, null, 10)).toEqual({ acts: [], cursor: null });
  },
);

test("an entry has no status while the act runs, nor after it if the status can't be stored", async () => {
  const ids = await everything();
  const path = `/organizations/${ids.organizationId}/audit?action=webhook.ping`;
  const during: unknown[] = [];
  aroundCall("WEBHOOKS", "ping", { before: async () => during.push((await admin("GET", path)).body.entries[0]) });
  breakObjects("ORGANIZATIONS", "endAct");
  const warn = vi.spyOn(console, "warn");
  const { answer, audits } = await linesOf(() => ids.manager("POST", `/webhooks/${ids.webhookId}/ping`));
  expect(answer.status).toBe(200);
  expect(audits).toEqual([expect.objectContaining({ status: 200 })]);
  expect(during).toEqual([expect.objectContaining({ target: ids.webhookId, status: null })]);
  expect((await admin("GET", path)).body.entries).toEqual(during);
  expect(warn).toHaveBeenCalledWith(expect.objectContaining({ event: "audit_status_lost", status: 200 }));
});

test.each<[string, (ids: Everything) => string]>([
  ["organizations", (ids) => ids.organizationId],
  ["channels", (ids) => ids.channelId],
  ["chats", (ids) => ids.chatId],
])("a deletion in %s that fails halfway has its entry, and so does the one that completes it", async (list, idOf) => {
  const ids = await everything();
  const id = idOf(ids);
  breakObjects("CHATS", "erase");
  const broken = await linesOf(() => admin("DELETE", `/${list}/${id}`));
  vi.restoreAllMocks();
  expect(broken.answer.status).toBe(503);
  expect(broken.audits).toEqual([expect.objectContaining({ id, status: 503 })]);
  expect(await entriesOf(ids.organizationId, broken.answer)).toEqual([
    expect.objectContaining({ target: id, status: 503 }),
  ]);
  const ended = await linesOf(() => admin("DELETE", `/${list}/${id}`));
  expect(ended.answer.status).toBe(200);
  expect(ended.audits).toEqual([expect.objectContaining({ id, status: 200 })]);
});

test("an organization whose object is erased already can be deleted, and gets no new entry", async () => {
  const { organizationId, templateId } = await everything();
  breakObjects("ORGANIZATIONS", "erase");
  expectError(await admin("DELETE", `/organizations/${organizationId}`), 503, "unavailable");
  vi.restoreAllMocks();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  await object.erase();
  expectError(await admin("DELETE", `/templates/${templateId}`), 404, "template_not_found");
  expect(await object.acts({}, null, 10)).toEqual({ acts: [], cursor: null });
  expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
});

test("a refused act has an entry with the status, and a request that is refused before it begins has none", async () => {
  const { organizationId, ownerId, keyId, manager, memberId } = await everything();
  await admin("DELETE", `/members/${memberId}`);
  await admin("DELETE", `/keys/${keyId}`);
  const refused: [string, string, number, string | null, object?][] = [
    ["DELETE", `/members/${ownerId}`, 409, ownerId],
    ["POST", `/keys/${keyId}/rotate`, 409, keyId],
    ["PATCH", "/templates/tpl_gaaaaaaaaaaaaaaa", 404, "tpl_gaaaaaaaaaaaaaaa", { name: "New" }],
    ["DELETE", "/chats/cht_gaaaaaaaaaaaaaaa", 404, "cht_gaaaaaaaaaaaaaaa"],
    ["DELETE", "/keys/canary-of-no-id", 404, null],
  ];
  for (const [method, path, status, target, body] of refused) {
    const { answer, audits } = await linesOf(() => manager(method, path, body));
    expect(answer.status, answer.text).toBe(status);
    // A response waits for the log two seconds at most.
    const entries = await until(
      "the request has an entry",
      () => entriesOf(organizationId, answer),
      ({ length }) => length,
    );
    expect(entries).toEqual([expect.objectContaining({ target, status })]);
    expect(audits).toEqual([expect.objectContaining({ id: target, status })]);
  }
  const before: [string, string, object?][] = [
    ["POST", "/members", {}],
    ["PATCH", "/keys/key_gaaaaaaaaaaaaaaa", { name: 1 }],
    ["GET", "/chats?search=a&page=1&unknown=1"],
    ["GET", "/export?unknown=1"],
    ["PUT", "/members"],
  ];
  for (const [method, path, body] of before) {
    const { answer, audits } = await linesOf(() => manager(method, path, body));
    expect([400, 405]).toContain(answer.status);
    expect([await entriesOf(organizationId, answer), audits]).toEqual([[], []]);
  }
});

test("the operator's act on an id that nobody has leaves nothing", async () => {
  for (const [method, path] of [
    ["DELETE", "/chats/cht_gaaaaaaaaaaaaaaa"],
    ["DELETE", "/templates/tpl_gaaaaaaaaaaaaaaa"],
    ["DELETE", "/organizations/org_gaaaaaaaaaaaaaaa"],
    ["DELETE", "/webhooks/whk_gaaaaaaaaaaaaaaa"],
  ] as const) {
    const { answer } = await linesOf(() => admin(method, path));
    expect(answer.status).toBe(404);
  }
});

test("POST /reseal belongs to no organization, and logs one audit line", async () => {
  const { answer, audits } = await linesOf(() => admin("POST", "/reseal"));
  expect(answer.status).toBe(200);
  expect(audits).toEqual([
    {
      event: "audit",
      requestId: answer.headers.get("X-Request-Id"),
      method: "POST",
      route: "/admin/v1/reseal",
      id: null,
      action: "service.reseal",
      organizationId: null,
      actor: "operator",
      status: 200,
    },
  ]);
});

test("a read and a send leave no entry and no audit line", async () => {
  const { organizationId, api, channelId, chatId } = await everything();
  type Asking = (method: string, path: string, body?: object) => Promise<Answer>;
  const reads: [Asking, string, string, object?][] = [
    ...["", "/members", "/channels", "/templates", "/chats", "/chats?contact=search%3D", "/keys", "/webhooks"].map(
      (list): [Asking, string, string] => [admin, "GET", `/organizations/${organizationId}${list}`],
    ),
    [admin, "GET", `/chats/${chatId}`],
    [api, "GET", "/chats?contact=search%3D"],
    [api, "GET", `/chats/${chatId}/messages?limit=5`],
    [api, "POST", "/chats", { channelId, contact: { address: "someone" } }],
    [api, "POST", `/chats/${chatId}/messages`, { content: "Hi" }],
  ];
  for (const [client, method, path, body] of reads) {
    const { answer, audits } = await linesOf(() => client(method, path, body));
    expect(answer.status, answer.text).toBeLessThan(300);
    expect([await entriesOf(organizationId, answer), audits]).toEqual([[], []]);
  }
  breakDirectory("bare");
  const failed = await linesOf(() => admin("GET", `/organizations/${organizationId}`));
  expect([failed.answer.status, failed.audits]).toEqual([503, []]);
});

test("a call without the operator's token leaves no audit line", async () => {
  const { audits } = await linesOf(() => admin("POST", "/organizations", {}, { ADMIN_TOKEN: "" }));
  expect(audits).toEqual([]);
  expect((await newOrganization()).organizationId).toMatch(/^org_/);
});

/** The routes of keys that write and are no management: what their organization's software does all day. */
const DAILY = [
  "POST /chats",
  "PATCH /chats/:id",
  "POST /chats/:id/answered",
  "POST /chats/:id/handover",
  "DELETE /chats/:id/answered",
  "PUT /chats/:id/labels/:labelId",
  "DELETE /chats/:id/labels/:labelId",
  "POST /chats/:id/media",
  "POST /chats/:id/messages",
  "PATCH /chats/:id/messages/:messageId",
  "POST /chats/:id/messages/:messageId/cancel",
  "POST /chats/:id/messages/:messageId/resend",
  "POST /chats/:id/notes",
  "DELETE /chats/:id/notes/:noteId",
  "PUT /chats/:id/messages/:messageId/reaction",
  "DELETE /chats/:id/messages/:messageId/reaction",
  "POST /chats/:id/read",
  "POST /chats/:id/typing",
  // Its tools call the routes, which leave their rows.
  "POST /mcp",
];

test("each route that writes is in the list of acts, and so is each action", () => {
  const routesBelow = (prefix: string) =>
    app.routes
      .filter(({ method, path }) => !["ALL", "GET"].includes(method) && path.startsWith(`${prefix}/`))
      .map(({ method, path }) => `${method} ${path.slice(prefix.length)}`);
  const actsOf = (actor: ActorName) =>
    CASES.filter((act) => act.actor === actor && act.method !== "GET").map(
      ({ method, route }) => `${method} ${ACTORS[actor].pathOf(route)}`,
    );
  expect([...new Set(routesBelow("/admin/v1"))].sort()).toEqual([...actsOf("operator"), "POST /reseal"].sort());
  expect([...new Set(routesBelow("/api/v1"))].sort()).toEqual([...actsOf("key"), ...DAILY].sort());
  // `test/service/console/passkeys/audit.test.ts` has what members alone do.
  const others = ACTION_NAMES.filter((action) => actionSpec(action).needs !== null);
  expect([...new Set(ACTS.map(({ action }) => action))].sort()).toEqual(others.sort());
});
