import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { ACTOR_ROWS_A_DAY, MAX_ROW_BYTES, ORGANIZATION_ROWS_A_DAY } from "../../../src/model/audit.ts";
import { newSortableId } from "../../../src/model/id.ts";
import { replaceMethod } from "../../support/faults.ts";
import { admin, client, created, expectError, newChat, newKey } from "../../support/harness.ts";
import { neverRing } from "../../support/timers.ts";
import { until } from "../../support/until.ts";
import { newManager } from "../management/manager.ts";
import { endedEntries } from "./ended-entries.ts";

/** Noon, so that no hour and no day ends during a test. No alarm runs years ahead of the platform's clock. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2096, 4, 30, 12) });
});

const DAY_MS = 86_400_000;
const logOf = (organizationId: string) => env.ORGANIZATIONS.getByName(organizationId);

/** Says that an actor, or with an empty id the organization, has written rows today. */
function wrote(organizationId: string, actor: string, rows: number): Promise<void> {
  return runInDurableObject(logOf(organizationId), (_object, { storage: { sql } }) => {
    sql.exec(
      "insert or replace into audit_days (actor_id, day, rows) values (?, ?, ?)",
      ...[actor, Math.floor(Date.now() / DAY_MS), rows],
    );
  });
}

test("an actor writes 2,000 entries a day, and then nothing happens without one, but others and the next day go on", async () => {
  vi.setSystemTime(Date.UTC(2096, 4, 30, 23, 59));
  const { api, keyId, organizationId } = await newManager();
  const other = client((await newKey(organizationId, { permissions: ["members:write"] })).secret);
  const add = (asking = api) => asking("POST", "/members", { name: "Bea" });
  created(await add());
  await wrote(organizationId, keyId, ACTOR_ROWS_A_DAY - 1);
  const answers = await Promise.all([add(), add(), add()]);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const before = (await admin("GET", `/organizations/${organizationId}/members`)).body.pagination.total;
  expectError(await add(), 409, "audit_full", "its 2,000 entries in the audit log for today");
  expectError(await api("GET", "/chats?search=bea"), 409, "audit_full");
  expectError(await api("GET", "/export"), 409, "audit_full");
  expect((await admin("GET", `/organizations/${organizationId}/members`)).body.pagination.total).toBe(before);
  created(await add(other));
  created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea" }));
  vi.setSystemTime(Date.UTC(2096, 4, 31));
  created(await add());
});

test("the keys and members of an organization write 5,000 entries a day, and the operator's do not count", async () => {
  const { api, organizationId } = await newManager();
  created(await api("POST", "/members", { name: "Bea" }));
  await wrote(organizationId, "", ORGANIZATION_ROWS_A_DAY - 1);
  for (let i = 0; i < 3; i++) await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea" });
  created(await api("POST", "/members", { name: "Bea" }));
  expectError(await api("POST", "/members", { name: "Bea" }), 409, "audit_full", "The organization's keys and members");
  created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea" }));
});

test("a refused act counts too", async () => {
  const { api, keyId, organizationId } = await newManager();
  await api("DELETE", "/templates/tpl_gaaaaaaaaaaaaaaa");
  await wrote(organizationId, keyId, ACTOR_ROWS_A_DAY - 1);
  expectError(await api("DELETE", "/templates/tpl_gaaaaaaaaaaaaaaa"), 404, "template_not_found");
  expectError(await api("DELETE", "/templates/tpl_gaaaaaaaaaaaaaaa"), 409, "audit_full");
});

test("acts that cut off access still work beyond the ceilings, and then an hour's acts on one target share an entry", async () => {
  // A response waits for its entry, however long that takes.
  neverRing(2_000);
  const { api, keyId, organizationId } = await newManager();
  const { secret, key } = await newKey(organizationId);
  const { member } = created(await api("POST", "/members", { name: "Bea" }));
  const { webhook } = created(await api("POST", "/webhooks", { url: "https://receiver.test/1" }));
  await wrote(organizationId, keyId, ACTOR_ROWS_A_DAY);
  await wrote(organizationId, "", ORGANIZATION_ROWS_A_DAY);
  for (let i = 0; i < 3; i++) expect((await api("DELETE", `/members/${member.id}/sessions`)).status).toBe(200);
  expect((await api("POST", `/webhooks/${webhook.id}/disable`)).status).toBe(200);
  expect((await api("DELETE", `/keys/${key.id}`)).status).toBe(200);
  expect((await api("DELETE", `/members/${member.id}`)).status).toBe(200);
  // What stops nobody has no entry then.
  expectError(await api("DELETE", `/members/${member.id}`), 404, "member_not_found");
  expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key");
  const entries = await endedEntries(organizationId, `&actor=${keyId}`);
  const seen = entries.map(({ action, target, status, count }) => [action, target, status, count]);
  expect(seen.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1))).toEqual([
    ["key.revoke", key.id, 200, 1],
    ["member.create", member.id, 201, 1],
    ["member.delete", member.id, 200, 1],
    ["member.end_sessions", member.id, 200, 3],
    ["webhook.create", webhook.id, 201, 1],
    ["webhook.disable", webhook.id, 200, 1],
  ]);
  vi.setSystemTime(Date.UTC(2096, 4, 30, 13));
  await api("DELETE", "/members/mbr_gaaaaaaaaaaaaaaa/sessions");
  expect(await endedEntries(organizationId, `&actor=${keyId}`)).toHaveLength(entries.length);
});

test("the searches of an actor in an hour share an entry with their number", async () => {
  const { api, keyId, organizationId, channelId } = await newManager();
  const [one, two] = [await newChat(api, channelId), await newChat(api, channelId)];
  let underWay = 0;
  replaceMethod("ORGANIZATIONS", "endAct", (original) => async (...given) => {
    const answer = await original(...given);
    underWay--;
    return answer;
  });
  const search = (path: string) => {
    underWay++;
    return api("GET", path);
  };
  const searches = async (action = "chat.search") => {
    // Each search that ends sets the status of the entry that they share.
    await until(
      "all searches have ended",
      () => underWay,
      (count) => count === 0,
    );
    const entries = await endedEntries(organizationId, `&actor=${keyId}&action=${action}`);
    return entries.map(({ target, status, count }) => [target, status, count]);
  };
  for (let i = 0; i < 5; i++) await search(`/chats?search=mar${i}`);
  expect(await searches()).toEqual([[null, 200, 5]]);
  for (let i = 0; i < 2; i++) await search(`/chats/${one.id}/messages?search=mar${i}`);
  expect((await searches("message.search"))[0]).toEqual([one.id, 200, 2]);
  const last = await search(`/chats/${two.id}/messages?search=mar`);
  expect((await searches("message.search"))[0]).toEqual([null, 200, 3]);
  const [entry] = await endedEntries(organizationId, "&action=message.search");
  expect(entry?.requestId).toBe(last.headers.get("X-Request-Id"));
  expectError(await search("/chats/cht_gaaaaaaaaaaaaaaa/messages?search=mar"), 404, "chat_not_found");
  expect((await searches("message.search"))[0]).toEqual([null, 404, 4]);
  await Promise.all(Array.from({ length: 10 }, () => search("/chats?search=mar")));
  expect(await searches()).toEqual([[null, 200, 15]]);
  vi.setSystemTime(Date.UTC(2096, 4, 30, 13));
  await search("/chats?search=mar");
  expect(await searches()).toEqual([
    [null, 200, 1],
    [null, 200, 15],
  ]);
});

test("the responses that go on with an export share an entry in an hour, so that a large one does not use up the day's", async () => {
  const { api, keyId, organizationId, channelId } = await newManager();
  const chat = await newChat(api, channelId);
  created(await api("POST", `/chats/${chat.id}/messages`, { content: "Hello" }));
  const paths = ["/export", `/chats/${chat.id}/export`];
  const exports = async () =>
    (await endedEntries(organizationId, `&actor=${keyId}`))
      .filter(({ action }) => String(action).endsWith(".export"))
      .map(({ action, target, status, count }) => [action, target, status, count]);
  for (const path of paths) {
    await wrote(organizationId, keyId, 0);
    const lines = (await api("GET", path)).text.trim().split("\n");
    const [next] = lines.flatMap((line) => (JSON.parse(line) as { next?: string }).next ?? []);
    const goOn = () => api("GET", `${path}?after=${next}`);
    expect((await goOn()).status).toBe(200);
    await wrote(organizationId, keyId, ACTOR_ROWS_A_DAY);
    for (let i = 0; i < 2; i++) expect((await goOn()).status).toBe(200);
    expectError(await api("GET", path), 409, "audit_full");
  }
  expect(new Set(await exports())).toEqual(
    new Set([
      ["chat.export", chat.id, 200, 3],
      ["chat.export", chat.id, 200, 1],
      ["organization.export", organizationId, 200, 3],
      ["organization.export", organizationId, 200, 1],
    ]),
  );
});

test("a repeated call of one search counts once", async () => {
  const { keyId, organizationId } = await newManager();
  const id = newSortableId("aud", null, Date.now());
  const actor = { type: "key" as const, id: keyId, name: "Manager" };
  const act = { id, actor, action: "chat.search", target: null, requestId: "r", changed: [], merged: "m" };
  for (let i = 0; i < 3; i++) expect(await logOf(organizationId).beginAct(organizationId, act)).toBe(true);
  expect(await logOf(organizationId).beginAct(organizationId, { ...act, id: `${id}x`, requestId: "s" })).toBe(true);
  await logOf(organizationId).endAct(`${id}x`, { status: 200, target: null, merged: "m" });
  expect(await endedEntries(organizationId, "&action=chat.search")).toEqual([
    expect.objectContaining({ id, count: 2 }),
  ]);
});

test.each(["é", "字", "😀", '"'])(
  "an entry has at most 1 KiB, even if its actor's name is all %s",
  async (character) => {
    const { organizationId } = await newManager();
    const name = character.repeat(Math.floor(256 / character.length));
    const { secret, key } = await newKey(organizationId, { name, permissions: ["channels:write"] });
    const body = {
      kind: "telegram",
      name: "T",
      credentials: { botToken: "1:canary-token" },
      settings: { perSecond: 5 },
    };
    created(await client(secret)("POST", "/channels", body));

    const [{ actor }] = (await endedEntries(organizationId, `&actor=${key.id}`)) as [{ actor: { name: string } }];
    const shown = actor.name;
    expect(shown.isWellFormed()).toBe(true);
    expect(shown === name || (shown.endsWith("…") && name.startsWith(shown.slice(0, -1)))).toBe(true);
    const rows = await runInDurableObject(logOf(organizationId), (_object, { storage: { sql } }) =>
      sql.exec("select * from audit").toArray(),
    );
    for (const row of rows) {
      expect(new TextEncoder().encode(Object.values(row).map(String).join("")).length).toBeLessThanOrEqual(
        MAX_ROW_BYTES,
      );
    }
  },
);
