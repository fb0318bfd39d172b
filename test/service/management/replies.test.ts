import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { PRESETS } from "../../../src/model/permission.ts";
import { MAX_REPLIES } from "../../../src/model/reply.ts";
import { browser, signInMember } from "../../support/console.ts";
import {
  admin,
  type Client,
  client,
  created,
  expectError,
  expectFaults,
  newKey,
  newOrganization,
} from "../../support/harness.ts";

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const BODY = { name: "Where is my order", shortcut: "where", content: "Hello {{contact.name}}" };

/** An organization with a key that sends and writes replies. */
async function place() {
  const { organizationId, ownerId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, { permissions: ["messages:send", "replies:write"] });
  return { organizationId, ownerId, keyId: key.id, api: client(secret), at: `/organizations/${organizationId}` };
}

async function make(api: Client, changes: object = {}): Promise<Record<string, string>> {
  return created(await api("POST", "/replies", { ...BODY, ...changes })).reply;
}

/** Stores as many copies of a reply, without shortcuts, that there are `total`. */
async function fill(organizationId: string, total: number): Promise<void> {
  await env.DB.prepare(
    `insert into replies (id, organization_id, name, content, created_by, created_at, updated_at)
     with recursive n (value) as (select 1 union all select value + 1 from n where value < ?2)
     select 'rpl_g' || substr('000000000000000' || value, -9) || substr(?1, -6), ?1, 'n', 'c', 'operator', value, value
     from n`,
  )
    .bind(organizationId, total)
    .run();
}

test("a saved reply is created, listed, changed and deleted", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { api, keyId } = await place();
  const answer = await api("POST", "/replies", BODY);
  expect([answer.status, answer.body]).toEqual([
    201,
    { reply: { id: expect.stringMatching(/^rpl_g[0-9A-Za-z]{15}$/), ...BODY, updatedAt: TIME, createdBy: keyId } },
  ]);
  const { reply } = answer.body;
  const listed = await api("GET", "/replies");
  expect(listed.body).toEqual({ replies: [reply], pagination: { limit: 20, hasMore: false, cursor: null } });
  vi.advanceTimersByTime(1_000);
  const changed = await api("PATCH", `/replies/${reply.id}`, { content: "Bye {{member.name}}" });
  const after = { ...reply, content: "Bye {{member.name}}", updatedAt: new Date().toISOString() };
  expect([changed.status, changed.body]).toEqual([200, { reply: after }]);
  expect((await api("GET", "/replies")).body.replies).toEqual([after]);
  const deleted = await api("DELETE", `/replies/${reply.id}`);
  expect([deleted.status, deleted.body]).toEqual([200, { reply: after }]);
  for (const [method, body] of [["DELETE"], ["PATCH", { name: "New" }]] as const) {
    const gone = await api(method, `/replies/${reply.id}`, body);
    expect([gone.status, gone.body]).toEqual([404, { error: expect.any(String), code: "reply_not_found" }]);
  }
  expect((await api("GET", "/replies")).body.replies).toEqual([]);
});

test.each([
  "No placeholder, a lone }} and a {single} brace",
  "Hello {{contact.name}} {{ member.name }}",
  "{{metadata.order}} {{metadata.order|your order}} {{ metadata.first name | you | and you }}",
  "{{metadata.order|}}",
  "Hello {{contact.name|there}}",
  `{{metadata.${"k".repeat(40)}|words}}`,
  "x".repeat(4_096),
])("the content %j is stored as it is", async (content) => {
  const { api } = await place();
  expect(await make(api, { content })).toMatchObject({ content });
});

test.each([
  ["Hi {{contact.nmae}}", "{{contact.nmae}}"],
  ["Hi {{contact.name}} {{name}}", "{{name}}"],
  ["Hi {{contact.name.first}}", "{{contact.name.first}}"],
  ["Hi {{metadata.}}", "{{metadata.}}"],
  ["Hi {{metadata.|you}}", "{{metadata.|you}}"],
  [`Hi {{metadata.${"k".repeat(41)}}}`, "{{metadata.kkk"],
  ["Hi {{}}", "{{}}"],
  ["Hi {{Contact.Name}}", "{{Contact.Name}}"],
  ["Hi {{a{{contact.name}}", "{{a{{contact.name}}"],
  ["Hi {{contact.name", "not closed"],
])("the content %j is a 400 that names the placeholder, on creation and on change", async (content, named) => {
  const { api } = await place();
  const reply = await make(api);
  const answers = [
    await api("POST", "/replies", { name: "Other", content }),
    await api("PATCH", `/replies/${reply.id}`, { content }),
  ];
  for (const answer of answers) {
    expectFaults(answer, "content");
    expect(answer.body.errors[0].message).toContain(named);
  }
  expect((await api("GET", "/replies")).body.replies).toEqual([reply]);
});

test.each<[object, string]>([
  [{ name: "x".repeat(81) }, "name"],
  [{ name: 7 }, "name"],
  [{ content: "x".repeat(4_097) }, "content"],
  [{ shortcut: "" }, "shortcut"],
  [{ shortcut: "two words" }, "shortcut"],
  [{ shortcut: "/where" }, "shortcut"],
  [{ shortcut: "a.b" }, "shortcut"],
  // A mark without a letter, and an invisible letter.
  [{ shortcut: "\u0301a" }, "shortcut"],
  [{ shortcut: "\u3164" }, "shortcut"],
  [{ shortcut: "x".repeat(33) }, "shortcut"],
  [{ shortcut: 7 }, "shortcut"],
])("a saved reply with %j is a 400 for %s, on creation and on change", async (changes, path) => {
  const { api } = await place();
  const reply = await make(api);
  expectFaults(await api("POST", "/replies", { ...BODY, shortcut: "other", ...changes }), path);
  expectFaults(await api("PATCH", `/replies/${reply.id}`, changes), path);
  expect((await api("GET", "/replies")).body.replies).toEqual([reply]);
});

test.each(["name", "content"])("a saved reply needs its %s", async (field) => {
  const { api } = await place();
  const { id } = await make(api);
  for (const value of [undefined, null, "  "]) {
    const answer = await api("POST", "/replies", { ...BODY, [field]: value });
    expectError(answer, 400, "missing_field", `${field} is required`);
  }
  const answer = await api("PATCH", `/replies/${id}`, { [field]: null });
  expectError(answer, 400, "missing_field", `${field} is required`);
});

test("a change needs at least one field", async () => {
  const { api } = await place();
  const reply = await make(api);
  for (const body of [{}, { title: "New" }]) {
    const answer = await api("PATCH", `/replies/${reply.id}`, body);
    expectFaults(answer, "");
  }
  expect((await api("GET", "/replies")).body.replies).toEqual([reply]);
});

test("a shortcut can have letters of any language, and none by default", async () => {
  const { api } = await place();
  for (const shortcut of ["Größe_2-a", "सवाल", "ตอบ", "7", "x".repeat(32)]) {
    expect(await make(api, { shortcut })).toMatchObject({ shortcut });
  }
  for (const shortcut of [undefined, null]) expect(await make(api, { shortcut })).toMatchObject({ shortcut: null });
});

test("a shortcut belongs to one reply of an organization, whatever its case, width and accents", async () => {
  const [{ api }, other] = [await place(), await place()];
  const first = await make(api, { shortcut: "José" });
  const second = await make(api, { shortcut: null });
  for (const shortcut of ["José", "jose", "JOSE\u0301", "ｊｏｓｅ"]) {
    expectError(await api("POST", "/replies", { ...BODY, shortcut }), 409, "reply_exists");
    const answer = await api("PATCH", `/replies/${second.id}`, { name: "New", shortcut });
    expect([answer.status, answer.body]).toEqual([409, { error: expect.any(String), code: "reply_exists" }]);
    // Its own is no other one's.
    expect((await api("PATCH", `/replies/${first.id}`, { shortcut })).body.reply.shortcut).toBe(shortcut);
  }
  const { replies } = (await api("GET", "/replies")).body;
  expect(replies.map(({ name }: { name: string }) => name)).toEqual([BODY.name, BODY.name]);
  await make(other.api, { shortcut: "jose" });
  const freed = await api("PATCH", `/replies/${first.id}`, { shortcut: null });
  expect(freed.body.reply.shortcut).toBeNull();
  expect((await api("PATCH", `/replies/${second.id}`, { shortcut: "jose" })).status).toBe(200);
  // A change of another field keeps the shortcut.
  expect((await api("PATCH", `/replies/${second.id}`, { name: "New" })).body.reply.shortcut).toBe("jose");
  expectError(await api("POST", "/replies", { ...BODY, shortcut: "JOSE" }), 409, "reply_exists");
});

test("of many requests at once with one shortcut, exactly one creates its reply", async () => {
  const { api } = await place();
  const answers = await Promise.all(Array.from({ length: 8 }, () => api("POST", "/replies", BODY)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array(7).fill(409)]);
  expect((await api("GET", "/replies")).body.replies).toHaveLength(1);
});

test("an organization has at most 1,000 replies: of many requests at once for the last one, one succeeds", async () => {
  const { api, at, organizationId } = await place();
  await fill(organizationId, MAX_REPLIES - 1);
  const body = { name: "Last", content: "Bye" };
  const answers = await Promise.all(Array.from({ length: 6 }, () => api("POST", "/replies", body)));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(5);
  for (const answer of [...refused, await admin("POST", `${at}/replies`, body)]) {
    expect([answer.status, answer.body]).toEqual([409, { error: expect.any(String), code: "reply_limit" }]);
  }
  const [{ reply }] = answers.filter(({ status }) => status === 201).map((answer) => answer.body);
  // A reply that is there can be changed, and a deletion makes room.
  expect((await api("PATCH", `/replies/${reply.id}`, { shortcut: "last" })).status).toBe(200);
  expect((await api("DELETE", `/replies/${reply.id}`)).status).toBe(200);
  await make(api);
});

test("the list is walked with a cursor, oldest first, and a deletion moves no other row", async () => {
  const { api, organizationId, at } = await place();
  await fill(organizationId, 5);
  const [first, ...rest] = (await api("GET", "/replies")).body.replies;
  const page = (await api("GET", "/replies?limit=2")).body;
  expect(page.replies).toEqual([first, rest[0]]);
  expect(page.pagination).toEqual({ limit: 2, hasMore: true, cursor: expect.any(String) });
  for (const { id } of page.replies) await api("DELETE", `/replies/${id}`);
  const next = (await api("GET", `/replies?limit=2&after=${page.pagination.cursor}`)).body;
  expect(next.replies).toEqual([rest[1], rest[2]]);
  const last = (await admin("GET", `${at}/replies?limit=2&after=${next.pagination.cursor}`)).body;
  expect(last).toEqual({ replies: [rest[3]], pagination: { limit: 2, hasMore: false, cursor: null } });
  const other = await place();
  const { cursor } = page.pagination;
  expectFaults(await other.api("GET", `/replies?after=${cursor}`), "after");
  for (const [query, path] of [
    [`after=${cursor}x`, "after"],
    [`after=${rest[1].id}`, "after"],
    ["after=", "after"],
    ["limit=101", "limit"],
    ["page=1", "page"],
  ] as const) {
    expectFaults(await api("GET", `/replies?${query}`), path);
  }
});

test("who sends reads the replies, and only replies:write changes them", async () => {
  const { api, organizationId } = await place();
  const reply = await make(api);
  const [sender, writer] = await Promise.all(
    ["messages:send", "replies:write"].map(async (permission) =>
      client((await newKey(organizationId, { permissions: [permission] })).secret),
    ),
  );
  expect((await sender?.("GET", "/replies"))?.body.replies).toEqual([reply]);
  const acts: [string, string, object?][] = [
    ["POST", "/replies", { name: "Other", content: "Bye" }],
    ["PATCH", `/replies/${reply.id}`, { name: "New" }],
    ["DELETE", `/replies/${reply.id}`],
  ];
  for (const act of acts) {
    expectError(await (sender as Client)(...act), 403, "permission_denied", /replies:write/);
    expect((await (writer as Client)(...act)).status).toBeLessThan(300);
  }
  expectError(await (writer as Client)("GET", "/replies"), 403, "permission_denied", /messages:send/);
});

test("the operator has the same routes, and another organization's reply is not found", async () => {
  const [{ api, at }, other] = [await place(), await place()];
  const { reply } = created(await admin("POST", `${at}/replies`, BODY));
  expect(reply).toMatchObject({ ...BODY, createdBy: "operator" });
  expect((await admin("GET", `${at}/replies`)).body).toEqual((await api("GET", "/replies")).body);
  for (const [method, body] of [["PATCH", { name: "Mine" }], ["DELETE"]] as const) {
    expectError(await other.api(method, `/replies/${reply.id}`, body), 404, "reply_not_found");
  }
  const { updatedAt: _, ...changed } = (await admin("PATCH", `/replies/${reply.id}`, { name: "New" })).body.reply;
  expect(changed).toEqual({ id: reply.id, ...BODY, name: "New", createdBy: "operator" });
  expect((await admin("DELETE", `/replies/${reply.id}`)).status).toBe(200);
  expectError(await admin("DELETE", `/replies/${reply.id}`), 404, "reply_not_found");
  expectError(await admin("GET", "/organizations/org_gaaaaaaaaaaaaaaa/replies"), 404, "organization_not_found");
});

test("a member writes replies in the console, as which it is their maker", async () => {
  const { ownerId, at } = await place();
  const ask = browser(await signInMember(ownerId));
  const { reply } = created(await ask("POST", `${at}/replies`, BODY));
  expect(reply.createdBy).toBe(ownerId);
  expect((await ask("GET", `${at}/replies`)).body.replies).toEqual([reply]);
});

test("each change leaves an entry in the audit log, with the names of its fields", async () => {
  const { api, at, keyId } = await place();
  const { id } = await make(api);
  await api("PATCH", `/replies/${id}`, { shortcut: null });
  await api("DELETE", `/replies/${id}`);
  const { entries } = (await admin("GET", `${at}/audit?target=${id}`)).body;
  expect(entries).toMatchObject([
    { action: "reply.delete", target: id, status: 200, changed: [], actor: { id: keyId } },
    { action: "reply.update", target: id, status: 200, changed: ["shortcut"] },
    { action: "reply.create", target: id, status: 201, changed: ["name", "shortcut", "content"] },
  ]);
});

test("an organization's replies are deleted with it, and none is added meanwhile", async () => {
  const { api, at, organizationId } = await place();
  await make(api);
  await env.DB.prepare("update organizations set erasing_at = 1 where id = ?").bind(organizationId).run();
  const refused = await admin("POST", `${at}/replies`, { ...BODY, shortcut: null });
  expectError(refused, 404, "organization_not_found");
  expect((await admin("DELETE", at)).status).toBe(200);
  const left = env.DB.prepare("select count(*) as n from replies where organization_id = ?").bind(organizationId);
  expect(await left.first<number>("n")).toBe(0);
});

test("the presets agent and manager write replies, and viewer does not", () => {
  const names = Object.entries(PRESETS).filter(([, permissions]) => permissions.includes("replies:write"));
  expect(names.map(([name]) => name)).toEqual(["agent", "manager"]);
});

const OLD_AGENT = PRESETS.agent.filter((permission) => !["replies:write", "labels:write"].includes(permission));

test.each<[string, string[], boolean]>([
  ["an agent", OLD_AGENT, true],
  ["an agent with more", [...OLD_AGENT, "stats:read"], true],
  ["an agent in another order", OLD_AGENT.toReversed(), true],
  ["who lacks one of an agent's", OLD_AGENT.slice(1), false],
  ["who lacks one and has another one twice", [...OLD_AGENT.slice(1), "chats:write"], false],
  ["a viewer", [...PRESETS.viewer], false],
  ["nobody", [], false],
])("the migration looks at the permissions of a member: %s", async (_name, permissions, isGiven) => {
  const { ownerId } = await newOrganization();
  const set = env.DB.prepare("update members set permissions = ? where id = ?");
  await set.bind(JSON.stringify(permissions), ownerId).run();
  const { queries = [] } = env.TEST_MIGRATIONS.find(({ name }) => name.includes("agents_write_replies")) ?? {};
  expect(queries).toHaveLength(1);
  // Again: a member who has the permission keeps it once.
  for (const query of [...queries, ...queries]) await env.DB.prepare(query).run();
  const row = env.DB.prepare("select permissions from members where id = ?").bind(ownerId);
  expect(JSON.parse((await row.first<string>("permissions")) ?? "")).toEqual([
    ...permissions,
    ...(isGiven ? ["replies:write"] : []),
  ]);
});
