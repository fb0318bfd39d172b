import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { MAX_WAITING_ACTS } from "../../../src/keys/waiting-acts.ts";
import { ACTION_NAMES, actionSpec } from "../../../src/model/audit-action.ts";
import { runAlarm } from "../../support/alarms.ts";
import { breakObjects, breakStatements, replaceMethod } from "../../support/faults.ts";
import { type Answer, admin, client, expectError, newKey } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { ACTORS, ACTS, type Act, type ActorName, type Everything, everything } from "./audit-acts.ts";

// The webhook's object tells the log in its alarm, which rings only when a test says so.
stopTheClock();

/** No receiver accepts an event. */
beforeEach(() => vi.stubGlobal("fetch", async () => new Response(null, { status: 500 })));

const STOPS = ACTS.filter(({ action }) => actionSpec(action).stops);
const CASES = STOPS.flatMap((act) => act.actors.map((actor) => [act.action, actor, act] as const));

/** The calls to an organization's audit log. While it is broken, each of them fails. */
const CALLS = /^(beginAct|endAct|storeActs|acts)$/;

async function requestOf(actor: ActorName, { method, request }: Act, ids: Everything) {
  const { client: clientOf, pathOf } = ACTORS[actor];
  const [path, body] = await request(ids);
  return (): Promise<Answer> => clientOf(ids)(method, pathOf(path), body);
}

/** The entries of an action, as a client lists them once its webhook's object has done what is due. */
async function entriesOf(
  { organizationId, webhookId }: Everything,
  action: string,
): Promise<Record<string, unknown>[]> {
  await runAlarm(env.WEBHOOKS.getByName(webhookId));
  return (await admin("GET", `/organizations/${organizationId}/audit?action=${action}`)).body.entries;
}

async function waitingIn(organizationId: string): Promise<number> {
  const counted = env.DB.prepare("select count(*) as n from waiting_acts where organization_id = ?");
  return (await counted.bind(organizationId).first<number>("n")) ?? 0;
}

function breakLog(): void {
  breakObjects("ORGANIZATIONS", CALLS);
}

test("a row that the log refuses each time holds up none of those that wait with it", async () => {
  const ids = await everything();
  const { organizationId } = ids;
  const keyIds: string[] = [];
  while (keyIds.length < 3) keyIds.push((await newKey(organizationId)).key.id);
  breakLog();
  for (const id of keyIds) expect((await admin("DELETE", `/keys/${id}`)).status).toBe(200);
  vi.restoreAllMocks();
  const logged = vi.spyOn(console, "error").mockReturnValue();
  const first = env.DB.prepare("select id from waiting_acts where organization_id = ? order by id");
  const bad = await first.bind(organizationId).first<string>("id");
  replaceMethod("ORGANIZATIONS", "storeActs", (original) => async (...given) => {
    const [, acts] = given as [string, { id: string }[]];
    if (acts.some(({ id }) => id === bad)) throw Object.assign(new Error("A row can't be stored"), { remote: true });
    return original(...given);
  });
  const entries = await entriesOf(ids, "key.revoke");
  expect(entries).toHaveLength(2);
  expect(await waitingIn(organizationId)).toBe(1);
  expect(logged).toHaveBeenCalledWith(expect.objectContaining({ event: "audit_row_refused", id: bad }));
  vi.restoreAllMocks();
  expect(await entriesOf(ids, "key.revoke")).toHaveLength(3);
  expect(await waitingIn(organizationId)).toBe(0);
});

test("the acts that cut off access are those that the guide names", () => {
  const stops = ACTION_NAMES.filter((action) => actionSpec(action).stops);
  expect(stops).toEqual(["member.end_sessions", "member.delete", "key.revoke", "webhook.disable"]);
});

test.each(CASES)(
  "%s by the %s works while the log fails, and has one entry once it is back",
  async (action, actor, act) => {
    const ids = await everything([...act.names, "webhookId"]);
    const run = await requestOf(actor, act, ids);
    breakLog();
    const answer = await run();
    expect(answer.status, answer.text).toBe(200);
    vi.restoreAllMocks();
    const target = act.targetOf(answer.body, ids);
    const requestId = answer.headers.get("X-Request-Id");
    const entry = expect.objectContaining({ action, target, requestId, status: 200, count: 1 });
    expect(await entriesOf(ids, action)).toEqual([entry]);
    expect(await entriesOf(ids, action)).toEqual([entry]);
    expect(await waitingIn(ids.organizationId)).toBe(0);
  },
);

test.each(CASES)(
  "%s by the %s has one entry if the log has stored it, and its answer is lost",
  async (action, actor, act) => {
    const ids = await everything([...act.names, "webhookId"]);
    const run = await requestOf(actor, act, ids);
    replaceMethod("ORGANIZATIONS", "storeActs", (original) => async (...given) => {
      await original(...given);
      throw new Error("internal error; reference = 0123456789abcdef");
    });
    expect((await run()).status).toBe(200);
    vi.restoreAllMocks();
    expect(await entriesOf(ids, action)).toEqual([expect.objectContaining({ status: 200, count: 1 })]);
    expect(await waitingIn(ids.organizationId)).toBe(0);
  },
);

test.each(CASES)("%s by the %s has one entry if the row that waited can't be removed", async (action, actor, act) => {
  const ids = await everything([...act.names, "webhookId"]);
  const run = await requestOf(actor, act, ids);
  breakStatements("bare", /^delete from "waiting_acts"/);
  expect((await run()).status).toBe(200);
  expect(await entriesOf(ids, action)).toHaveLength(1);
  vi.restoreAllMocks();
  expect(await entriesOf(ids, action)).toEqual([expect.objectContaining({ action, status: 200, count: 1 })]);
  expect(await waitingIn(ids.organizationId)).toBe(0);
});

test("a revocation is answered although the log hangs", async () => {
  const ids = await everything();
  const setTimeout = globalThis.setTimeout;
  // The two seconds that a response waits for the log are over at once.
  vi.stubGlobal("setTimeout", (run: () => void, ms: number) => setTimeout(run, ms === 2_000 ? 1 : ms));
  replaceMethod("ORGANIZATIONS", "storeActs", () => () => new Promise(() => {}));
  expect((await ids.manager("DELETE", `/keys/${ids.keyId}`)).status).toBe(200);
  vi.restoreAllMocks();
  expectError(await ids.api("GET", "/key"), 401, "invalid_api_key");
  expect(await entriesOf(ids, "key.revoke")).toEqual([expect.objectContaining({ target: ids.keyId, status: 200 })]);
});

test("an act that stops nobody leaves no row behind, and an entry with its status while the log works", async () => {
  const ids = await everything();
  const refused: [string, string, number][] = [
    ["DELETE", `/members/${ids.ownerId}`, 409],
    ["DELETE", "/keys/key_gaaaaaaaaaaaaaaa", 404],
    ["DELETE", "/members/mbr_gaaaaaaaaaaaaaaa/sessions", 404],
    ["POST", "/webhooks/whk_gaaaaaaaaaaaaaaa/disable", 404],
  ];
  await ids.manager("DELETE", `/members/${ids.memberId}`);
  for (const [method, path, status] of refused) {
    // Entries are listed by their time.
    pass(1);
    const answer = await ids.manager(method, path);
    expect(answer.status, path).toBe(status);
    expect(await waitingIn(ids.organizationId)).toBe(0);
    // A response waits for the log two seconds at most.
    await until(
      "the newest entry has the status of the response",
      async () => (await admin("GET", `/organizations/${ids.organizationId}/audit?limit=1`)).body.entries[0],
      (entry) => entry?.status === status && entry.requestId === answer.headers.get("X-Request-Id"),
    );
  }
  breakLog();
  for (const [method, path, status] of refused) expect((await ids.manager(method, path)).status).toBe(status);
  expect(await waitingIn(ids.organizationId)).toBe(0);
});

test("a key can be revoked while a thousand entries wait for the log, and all of them get into it", async () => {
  const ids = await everything();
  const { secret, key } = await newKey(ids.organizationId);
  breakLog();
  await ids.manager("DELETE", `/members/${ids.memberId}/sessions`);
  await env.DB.prepare(
    `insert into waiting_acts (id, organization_id, act)
     select row.id || '-' || n.value, organization_id,
       json_set(act, '$.id', row.id || '-' || n.value, '$.requestId', 'r' || n.value) from waiting_acts row,
       (with recursive n (value) as (select 1 union all select value + 1 from n where value < ?) select value from n) n
     where organization_id = ?`,
  )
    .bind(MAX_WAITING_ACTS - 1, ids.organizationId)
    .run();
  expect(await waitingIn(ids.organizationId)).toBe(MAX_WAITING_ACTS);
  expect((await ids.manager("DELETE", `/keys/${key.id}`)).status).toBe(200);
  expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key");
  expect(await waitingIn(ids.organizationId)).toBe(MAX_WAITING_ACTS);
  vi.restoreAllMocks();
  for (let i = 0; i < MAX_WAITING_ACTS / 100; i++) await admin("GET", `/organizations/${ids.organizationId}/audit`);
  expect(await waitingIn(ids.organizationId)).toBe(0);
});

test("the waiting entries of an organization are deleted with it", async () => {
  const ids = await everything();
  breakLog();
  await ids.manager("DELETE", `/members/${ids.memberId}`);
  expect(await waitingIn(ids.organizationId)).toBe(1);
  vi.restoreAllMocks();
  breakObjects("ORGANIZATIONS", "storeActs");
  expect((await admin("DELETE", `/organizations/${ids.organizationId}`)).status).toBe(200);
  expect(await waitingIn(ids.organizationId)).toBe(0);
});
