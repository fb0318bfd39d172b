import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newSortableId } from "../../../../src/model/id.ts";
import { alarmAt, runAlarm, runOneAlarm } from "../../../support/alarms.ts";
import { admin, created, expectError, expectFaults } from "../../../support/harness.ts";
import { TOMORROW } from "../../../support/tomorrow.ts";
import { type Manager, newManager } from "../../management/manager.ts";

const DAY_MS = 86_400_000;

/** Writes entries into the log, each with the time in `times`, by turns of two actors. */
function fill({ organizationId, keyId }: Manager, times: number[]): Promise<void> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) => {
    for (const [index, at] of times.entries()) {
      storage.sql.exec(
        `insert into audit (id, actor_type, actor_id, actor_name, action, target, status, request_id, changed)
         values (?, 'key', ?, 'Key', 'key.rotate', ?, 201, 'r', '[]')`,
        ...[newSortableId("aud", null, at), index % 2 === 0 ? keyId : "key_other", `target-${index}`],
      );
    }
  });
}

function idsIn(organizationId: string): Promise<string[]> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) =>
    [...storage.sql.exec<{ id: string }>("select id from audit order by id")].map(({ id }) => id),
  );
}

test("before walks the whole log, newest first, each entry once, for a key and the operator alike", async () => {
  const manager = await newManager();
  for (let count = 0; count < 5; count++) created(await manager.api("POST", "/members", { name: "Bea" }));
  const all = (await idsIn(manager.organizationId)).toReversed();
  const walks: [typeof manager.api, string][] = [
    [manager.api, "/audit"],
    [admin, `/organizations/${manager.organizationId}/audit`],
  ];
  for (const [client, path] of walks) {
    const found: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await client("GET", `${path}?limit=3${cursor && `&before=${cursor}`}`);
      found.push(...body.entries.map(({ id }: { id: string }) => id));
      cursor = body.pagination.cursor;
      expect(body.pagination.hasMore).toBe(cursor !== null);
    }
    expect(found).toEqual(all);
  }
});

test("filters by actor, action and target can be combined", async () => {
  const { api, keyId, organizationId } = await newManager();
  const { member } = created(await api("POST", "/members", { name: "Bea" }));
  await admin("DELETE", `/members/${member.id}`);
  const found = async (query: string) =>
    (await api("GET", `/audit?${query}`)).body.entries.map(({ action }: { action: string }) => action);
  expect(await found(`target=${member.id}`)).toEqual(["member.delete", "member.create"]);
  expect(await found(`actor=${keyId}`)).toEqual(["member.create"]);
  expect(await found(`actor=operator&target=${member.id}`)).toEqual(["member.delete"]);
  expect(await found(`action=member.create&target=${member.id}&actor=${keyId}`)).toEqual(["member.create"]);
  expect(await found("action=template.create")).toEqual([]);
  expectFaults(await api("GET", "/audit?action=member.praise"), "action");
  expectError(await admin("GET", "/organizations/org_gaaaaaaaaaaaaaaa/audit"), 404, "organization_not_found");
  expect((await admin("GET", `/organizations/${organizationId}/audit?limit=1`)).body.entries).toHaveLength(1);
});

test("a cursor of another organization is a 400, and its entries are not in the log", async () => {
  const [ours, theirs] = [await newManager(), await newManager()];
  const [foreign] = await idsIn(theirs.organizationId);
  expectFaults(await ours.api("GET", `/audit?before=${foreign}`), "before");
  const listed = (await ours.api("GET", "/audit?limit=100")).body.entries;
  expect(listed.map(({ id }: { id: string }) => id)).toEqual((await idsIn(ours.organizationId)).toReversed());
});

test("a filter examines at most 10,000 entries for a page, and goes on behind them", async () => {
  const manager = await newManager();
  const now = Date.now();
  await fill(
    manager,
    Array.from({ length: 10_200 }, (_, index) => now - DAY_MS + index),
  );
  const first = (await manager.api("GET", "/audit?target=target-0")).body;
  expect([first.entries, first.pagination.hasMore]).toEqual([[], true]);
  const next = (await manager.api("GET", `/audit?target=target-0&before=${first.pagination.cursor}`)).body;
  expect(next.entries).toHaveLength(1);
  expect(next.pagination).toEqual({ limit: 20, hasMore: false, cursor: null });
});

test("the alarm deletes entries that are older than 400 days, 1,000 at a time", async () => {
  const manager = await newManager();
  const object = env.ORGANIZATIONS.getByName(manager.organizationId);
  const kept = await idsIn(manager.organizationId);
  const now = TOMORROW;
  vi.useFakeTimers({ now, toFake: ["Date"] });
  const old = Array.from({ length: 1_500 }, (_, index) => now - 401 * DAY_MS - index);
  await fill(manager, [...old, now - 399 * DAY_MS]);
  const [oldest] = await idsIn(manager.organizationId);
  await runOneAlarm(object);
  expect(await idsIn(manager.organizationId)).toHaveLength(kept.length + 501);
  await runAlarm(object);
  const left = await idsIn(manager.organizationId);
  expect(left).toHaveLength(kept.length + 1);
  expect(left.slice(1)).toEqual(kept);
  expect(Math.abs(((await alarmAt(object)) ?? 0) - (now + 2 * DAY_MS))).toBeLessThan(DAY_MS);
  // A walk that had come this far ends.
  const { body } = await manager.api("GET", `/audit?before=${oldest}`);
  expect(body).toEqual({ entries: [], pagination: { limit: 20, hasMore: false, cursor: null } });
});
