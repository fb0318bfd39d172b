import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { alarmAt, runAlarm } from "../../support/alarms.ts";
import { countCalls, replaceMethod } from "../../support/faults.ts";
import { withGrants } from "../../support/grants.ts";
import { admin, expectError } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { type AwakeKey, awakeKey, getGrant, untilUsed } from "./grants-fixtures.ts";
import { CHANGES } from "./key-changes.ts";

stopTheClock();
withGrants();

const LOSSES: [string, (key: AwakeKey) => unknown][] = [
  ["", () => {}],
  [", also if its object was evicted after the grant", ({ object }) => evictDurableObject(object())],
];

test.each(
  CHANGES.flatMap(([what, change, status, code]) =>
    LOSSES.map(([when, lose]) => ({ what, change, status, code, when, lose })),
  ),
)("a key that is $what waits a second for its grants, and is then refused$when", async (given) => {
  const { change, status, code, lose } = given;
  const key = await awakeKey();
  await getGrant(key);
  await lose(key);
  const changing = change(key.id);
  await key.waits.begun(1_000);
  // A request that begins before the change is written may use the grant.
  expect((await key.get()).status).toBe(200);
  await key.waits.pass(1_000);
  expect((await changing).status).toBeLessThan(300);
  expectError(await key.get(), status, code);
});

test("a change that is over in its object too early, by a clock set forward, waits for what was granted meanwhile", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const revoking = admin("DELETE", `/keys/${key.id}`);
  await key.waits.begun(1_000);
  await runInDurableObject(key.object(), (_key, { storage }) => storage.kv.delete("changing"));
  await key.waits.pass(900);
  const calls = countCalls("KEYS", "admit");
  for (let n = 0; n < 3; n++) expect((await key.get()).status).toBe(200);
  expect(calls()).toBeLessThan(3);
  await key.waits.pass(100);
  await key.waits.begun(1_000);
  // Not answered yet, so the old key may still be used.
  expect((await key.get()).status).toBe(200);
  await key.waits.pass(1_000);
  expect((await revoking).status).toBe(200);
  expectError(await key.get(), 401, "invalid_api_key");
});

test("during a change no isolate gets units ahead", async () => {
  const key = await awakeKey();
  await key.object().beginChange("change");
  const calls = countCalls("KEYS", "admit");
  for (let n = 0; n < 5; n++) expect((await key.get()).status).toBe(200);
  expect(calls()).toBe(5);
});

test("a change that a Worker of an earlier version makes waits in the key's object", async () => {
  const key = await awakeKey();
  await getGrant(key);
  let isOver = false;
  const beginning = key
    .object()
    .beginChange("change")
    .then((ms) => {
      isOver = true;
      return ms;
    });
  await key.waits.begun(1_000);
  expect(isOver).toBe(false);
  await key.waits.pass(1_000);
  expect(await beginning).toBe(0);
});

test("a change of a key without grants does not wait", async () => {
  const key = await awakeKey();
  for (let n = 0; n < 2; n++) await key.get();
  expect((await admin("PATCH", `/keys/${key.id}`, { name: "New" })).status).toBe(200);
  expect(key.waits.count(1_000)).toBe(0);
});

test("a key whose grants all came back does not wait", async () => {
  const key = await awakeKey();
  await getGrant(key);
  await key.waits.pass(2_000);
  await untilUsed(key, 4);
  expect((await admin("PATCH", `/keys/${key.id}`, { name: "New" })).status).toBe(200);
  expect(key.waits.count(1_000)).toBe(0);
});

test("after a change that waited, the next one does not", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const changing = admin("PATCH", `/keys/${key.id}`, { name: "New" });
  await key.waits.begun(1_000);
  await key.waits.pass(1_000);
  expect((await changing).status).toBe(200);
  expect((await admin("PATCH", `/keys/${key.id}`, { name: "Newer" })).status).toBe(200);
  expect(key.waits.count(1_000)).toBe(0);
});

test("a change is not written while it waits", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const changing = admin("PATCH", `/keys/${key.id}`, { name: "New" });
  await key.waits.begun(1_000);
  const name = () => env.DB.prepare("select name from api_keys where id = ?").bind(key.id).first("name");
  expect(await name()).not.toBe("New");
  await key.waits.pass(1_000);
  await changing;
  expect(await name()).toBe("New");
});

test("a key is revoked when the revocation is written, not when it was asked for", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const revoking = admin("DELETE", `/keys/${key.id}`);
  await key.waits.begun(1_000);
  await key.waits.pass(1_000);
  expect((await revoking).body.key.revokedAt).toBe(new Date().toISOString());
});

test("an overlap of secrets begins when the rotation is written", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const rotating = admin("POST", `/keys/${key.id}/rotate`, { overlapSeconds: 1 });
  await key.waits.begun(1_000);
  await key.waits.pass(1_000);
  expect((await rotating).status).toBe(201);
  expect((await key.get()).status).toBe(200);
  await key.waits.pass(1_000);
  expectError(await key.get(), 401, "invalid_api_key");
});

test("an object of an earlier version, which returns nothing, is waited for", async () => {
  const key = await awakeKey();
  replaceMethod(
    "KEYS",
    "beginChange",
    (original) =>
      async (...given) =>
        void (await original(...given)),
  );
  const changing = admin("PATCH", `/keys/${key.id}`, { name: "New" });
  await key.waits.begun(1_000);
  await key.waits.pass(1_000);
  expect((await changing).status).toBe(200);
});

/** A key whose object lost a grant: its isolate used it up. The object waits when its alarm rings. */
async function settlingKey() {
  const key = await awakeKey();
  await getGrant(key);
  for (let n = 0; n < 3; n++) await key.get();
  await key.waits.pass(3_000);
  const ringing = runAlarm(key.object());
  await key.waits.begun(1_000);
  return { ...key, ringing };
}

test("a key that was quiet since its object's alarm does not wait", async () => {
  const key = await settlingKey();
  expect(await key.stored()).toMatchObject({ mayHoldGrants: true });
  await key.waits.pass(1_000);
  await key.ringing;
  expect(await key.stored()).not.toHaveProperty("mayHoldGrants");
  expect((await admin("PATCH", `/keys/${key.id}`, { name: "New" })).status).toBe(200);
  expect(key.waits.count(1_000)).toBe(0);
});

test("a change while the object's alarm waits for grants waits too", async () => {
  const key = await settlingKey();
  const changing = admin("PATCH", `/keys/${key.id}`, { name: "New" });
  await until(
    "both wait",
    () => key.waits.count(1_000),
    (count) => count === 2,
  );
  await key.waits.pass(1_000);
  expect((await changing).status).toBe(200);
  await key.ringing;
});

test("an alarm that rings while a grant is open leaves it counted, and rings again", async () => {
  const key = await awakeKey();
  await getGrant(key);
  await runAlarm(key.object());
  expect(await key.stored()).toMatchObject({ mayHoldGrants: true, windowCount: 7 });
  expect(await alarmAt(key.object())).not.toBeNull();
});

test("a grant that is used up before a change counts, although its isolate returns nothing of it", async () => {
  const key = await awakeKey();
  await getGrant(key);
  for (let unit = 0; unit < 3; unit++) expect((await key.get()).status).toBe(200);
  const changing = admin("PATCH", `/keys/${key.id}`, { name: "New" });
  await key.waits.begun(1_000);
  await key.waits.pass(1_000);
  expect((await changing).status).toBe(200);
  await runAlarm(key.object());
  expect(await alarmAt(key.object())).toBe(Date.now() + 5_000);
  await key.waits.pass(5_000);
  await runAlarm(key.object());
  expect(await key.stored()).toMatchObject({ stats: { admitted: 7 }, windowCount: 7, monthCount: 7 });
});

test("what is granted while an alarm waits for older grants is not forgotten", async () => {
  const key = await settlingKey();
  await getGrant(key);
  await key.waits.pass(1_000);
  await key.ringing;
  expect(await key.stored()).toMatchObject({ mayHoldGrants: true });
  expect(await alarmAt(key.object())).not.toBeNull();
});

test("the deletion of an organization waits for the grants of its keys", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const deleting = admin("DELETE", `/organizations/${key.organizationId}`);
  await key.waits.begun(1_000);
  expect((await key.get()).status).toBe(200);
  await key.waits.pass(1_000);
  expect((await deleting).status).toBe(200);
  expectError(await key.get(), 401, "invalid_api_key");
});
