import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { OrganizationObject } from "../../../../src/organizations/object/organization-object.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { hurryDeadlines } from "../../../support/deadlines.ts";
import { aroundCall, breakObject, breakObjects } from "../../../support/faults.ts";
import { admin, expectError, newChannel, newChat, newOrganization } from "../../../support/harness.ts";
import { report } from "../../chats/inbound.ts";
import { alarmOf, pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { retain } from "../../chats/object/retention/fixtures.ts";

stopTheClock();

const DAY = 86_400_000;

async function placeWith(count: number) {
  const place = await newOrganization();
  const ids: string[] = [];
  while (ids.length < count) {
    pass(1);
    ids.push((await newChat(place.api, place.channelId)).id);
  }
  const object = () => env.ORGANIZATIONS.getByName(place.organizationId);
  return { ...place, ids, object };
}

/** The chats of an organization's object, by their state. */
function statesOf(object: DurableObjectStub): Promise<Record<string, string[]>> {
  return runInDurableObject(object, (_object, { storage }) => {
    const rows = storage.sql.exec<{ id: string; state: string }>("select id, state from chats order by id").toArray();
    const groups = Map.groupBy(rows, ({ state }) => state);
    return Object.fromEntries([...groups].map(([state, group]) => [state, group.map(({ id }) => id)]));
  });
}

/** Lets the object's alarm ring at each of its times, until `ms` from now. @returns how often it rang */
async function ringFor(object: () => DurableObjectStub, ms: number): Promise<number> {
  const until = Date.now() + ms;
  let rang = 0;
  for (let at = await alarmOf(object()); at !== null && at <= until; at = await alarmOf(object())) {
    vi.setSystemTime(Math.max(at, Date.now()));
    await runAlarm(object());
    if (++rang > 200) throw new Error("The alarm rings without end");
  }
  vi.setSystemTime(until);
  return rang;
}

/** The log lines with this event. */
function logged(event: string) {
  const spies = [vi.spyOn(console, "warn"), vi.spyOn(console, "error")];
  return () => spies.flatMap(({ mock }) => mock.calls).filter(([line]) => line?.event === event);
}

test("one chat that can't be emptied does not hold up the deletion of its channel's other chats", async () => {
  const { organizationId, channelId, ids, object } = await placeWith(60);
  const stays = await newChannel(organizationId, "web");
  const [bad = ""] = ids;
  const tries = breakObject("CHATS", bad, "erase", "throws");
  const lines = logged("chat_not_deleted");
  expect((await admin("DELETE", `/channels/${channelId}`)).status).toBe(500);
  expect(await statesOf(object())).toEqual({ deleting: [bad] });
  // The operator's request, and then the alarm with a wait that grows.
  expect(tries()).toBe(1);
  await ringFor(object, 3_600_000);
  expect(tries()).toBeGreaterThan(4);
  expect(tries()).toBeLessThan(12);
  expect(lines().length).toBe(tries());
  expect(lines()[0]?.[0]).toMatchObject({ chatId: bad, tries: 1 });
  vi.restoreAllMocks();
  await ringFor(object, 2 * 3_600_000);
  expect(await statesOf(object())).toEqual({});
  expect(await alarmOf(object())).toBeNull();
  expect((await admin("DELETE", `/channels/${channelId}`)).status).toBe(200);
  expect((await admin("GET", `/channels/${stays}`)).status).toBe(200);
});

test("a chat whose deletion hangs is given up after a few seconds, and the alarm goes on with the others", async () => {
  const { channelId, ids, object } = await placeWith(3);
  const [bad = ""] = ids;
  const mend = breakObjects("CHATS", "erase");
  expectError(await admin("DELETE", `/channels/${channelId}`), 503, "unavailable");
  mend();
  hurryDeadlines("CHATS");
  breakObject("CHATS", bad, "erase", "hangs");
  pass(60_000);
  await runAlarm(object());
  expect(await statesOf(object())).toEqual({ deleting: [bad] });
  expect(await alarmOf(object())).toBeGreaterThan(Date.now());
  vi.unstubAllGlobals();
});

test("20 chats that can't be adopted don't hold up those after them, and are tried again later and later", async () => {
  const { api, channelId, object } = await placeWith(0);
  breakObjects("CHATS", "adopt");
  const bad: string[] = [];
  while (bad.length < 21) {
    pass(1);
    const address = `bad${bad.length}`;
    expectError(await api("POST", "/chats", { channelId, contact: { address } }), 503, "unavailable");
    bad.push((await api("GET", `/chats?contact=${address}`)).body.chats[0].id);
  }
  vi.restoreAllMocks();
  pass(1);
  const mend = breakObjects("CHATS", "adopt");
  expect((await api("POST", "/chats", { channelId, contact: { address: "good" } })).status).toBe(503);
  mend();
  const calls = breakObject("CHATS", bad, "adopt");
  await ringFor(object, 5 * 60_000);
  const states = await statesOf(object());
  expect(states.adopted?.length).toBe(1);
  expect(states.created?.toSorted()).toEqual(bad.toSorted());
  const before = calls();
  await ringFor(object, 3_600_000);
  // Each try makes two calls.
  const tries = (calls() - before) / (2 * bad.length);
  expect(tries).toBeGreaterThan(0);
  expect(tries).toBeLessThan(8);
  vi.restoreAllMocks();
  await ringFor(object, 2 * 3_600_000);
  expect((await statesOf(object())).created).toBeUndefined();
  expect(await alarmOf(object())).toBeNull();
});

test("a chat that can't be told of a retention does not hold up the chats after it", async () => {
  const { channelId, ids, object } = await placeWith(45);
  for (const id of ids) await report(id);
  pass(DAY);
  await ringFor(object, DAY);
  const [bad = ""] = ids;
  const tries = breakObject("CHATS", bad, "retain");
  await retain(channelId, 7);
  await ringFor(object, 120_000);
  const tried = tries();
  vi.restoreAllMocks();
  const told = await Promise.all(
    ids.map((id) =>
      runInDurableObject(env.CHATS.getByName(id), (_object, { storage }) => {
        return storage.kv.get<{ days: number }>("retention")?.days;
      }),
    ),
  );
  expect(told.filter((days) => days === 7)).toHaveLength(44);
  const later = breakObject("CHATS", bad, "retain");
  await ringFor(object, DAY);
  // Ten tries with two calls each. Then it learns of it with its next report.
  expect(tried + later()).toBe(20);
  expect(await alarmOf(object())).toBeNull();
});

test("a deletion that begins and breaks off while the alarm works is completed by an alarm", async () => {
  const { ids, channelId, object } = await placeWith(2);
  const [, second = ""] = ids;
  for (const id of ids) await report(id);
  pass(DAY);
  await ringFor(object, DAY);
  await retain(channelId, 7);
  // The last of the alarm's parts awaits this call.
  aroundCall("CHATS", "retain", {
    after: () =>
      runInDurableObject(object(), async (organization) => {
        const { CHATS } = (organization as unknown as { env: Env }).env;
        const spy = vi.spyOn(CHATS, "getByName").mockImplementation(() => {
          throw new Error("Network connection lost.");
        });
        await expect((organization as OrganizationObject).deleteChat(second)).rejects.toThrow();
        spy.mockRestore();
      }),
  });
  await runAlarm(object());
  vi.restoreAllMocks();
  expect((await statesOf(object())).deleting).toEqual([second]);
  await ringFor(object, 10 * 60_000);
  expect((await statesOf(object())).deleting).toBeUndefined();
});

test("a part of the alarm that throws stops no other part, and the alarm rings again", async () => {
  const { ids, object } = await placeWith(1);
  const [chatId = ""] = ids;
  const mend = breakObjects("CHATS", "erase");
  expectError(await admin("DELETE", `/chats/${chatId}`), 503, "unavailable");
  mend();
  pass(60_000);
  const lines = logged("alarm_part_failed");
  await runInDurableObject(object(), (_object, { storage }) => {
    // What the audit log's purge reads is gone.
    storage.sql.exec("alter table audit rename to audit_away");
  });
  await runAlarm(object());
  expect(await statesOf(object())).toEqual({});
  expect(lines().length).toBeGreaterThan(0);
  expect(await alarmOf(object())).toBeGreaterThan(Date.now());
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec("alter table audit_away rename to audit");
  });
  await ringFor(object, 60_000);
  expect(await alarmOf(object())).toBeNull();
});
