import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { breakObject, breakObjects } from "../../support/faults.ts";
import { created, expectError } from "../../support/harness.ts";
import { heldBy, NOTHING } from "../../support/stored.ts";
import { neverRing } from "../../support/timers.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { type Manager, newManager } from "./manager.ts";

const DAY = 86_400_000;

stopTheClock();

/** Creates a key and revokes it. @returns its id */
async function useUp({ api }: Manager): Promise<string> {
  const { id } = created(await api("POST", "/keys", { name: "Short" })).key;
  expect((await api("DELETE", `/keys/${id}`)).status).toBe(200);
  return id;
}

async function rowsOf({ organizationId }: Manager): Promise<string[]> {
  const { results } = await env.DB.prepare("select id from api_keys where organization_id = ? order by id")
    .bind(organizationId)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** Adds keys that are revoked now. */
async function plantRevoked(manager: Manager, count: number): Promise<void> {
  const copy = `insert into api_keys
    (id, organization_id, name, hash, permissions, rate_limit, window_seconds, revoked_at, created_at)
    select ?, organization_id, name, ?, permissions, rate_limit, window_seconds, ?, created_at
    from api_keys where id = ?`;
  const planted = Array.from({ length: count }, (_, n) => `${manager.keyId}${n}`);
  await env.DB.batch(planted.map((id) => env.DB.prepare(copy).bind(id, id, Date.now(), manager.keyId)));
}

test("revoked keys have a limit of their own until they are deleted after 31 days", async () => {
  // A creation waits for each key that it deletes, however long that takes.
  neverRing(5_000);
  const manager = await newManager({}, { maxKeys: 3 });
  // With the manager's key and the first one of the organization: 2 × 3 + 100, less one.
  await plantRevoked(manager, 103);
  await useUp(manager);
  const body = { name: "One more" };
  expectError(await manager.api("POST", "/keys", body), 409, "key_limit", /has 106 keys, including revoked ones/);
  pass(31 * DAY - 1);
  expectError(await manager.api("POST", "/keys", body), 409, "key_limit");
  expect(await rowsOf(manager)).toHaveLength(106);
  pass(1);
  created(await manager.api("POST", "/keys", body));
  // Each creation deletes 20 at most.
  expect(await rowsOf(manager)).toHaveLength(106 - 20 + 1);
  for (let made = 0; made < 5; made++) await useUp(manager);
  expect(await rowsOf(manager)).toHaveLength(2 + 5);
});

test("a deleted key leaves nothing behind, and is a 404", async () => {
  const manager = await newManager();
  const id = await useUp(manager);
  const { organizationId } = manager;
  await env.ORGANIZATIONS.getByName(organizationId).reportKey(organizationId, id, { admitted: 1, refused: {} });
  const numbers = async () => (await env.ORGANIZATIONS.getByName(organizationId).numbers([], [id])).keys;
  expect(await numbers()).toHaveLength(1);
  pass(31 * DAY);
  await useUp(manager);
  expectError(await manager.api("GET", `/keys/${id}`), 404, "key_not_found");
  expectError(await manager.api("DELETE", `/keys/${id}`), 404, "key_not_found");
  expect(await numbers()).toEqual([]);
  expect(await heldBy(env.KEYS.getByName(id))).toEqual(NOTHING);
});

test("a deletion that fails is repeated, and no creation fails with it", async () => {
  const manager = await newManager();
  const id = await useUp(manager);
  pass(31 * DAY);
  breakObjects("KEYS", "erase");
  const other = await useUp(manager);
  vi.restoreAllMocks();
  expect(await rowsOf(manager)).toEqual(expect.arrayContaining([id, other]));
  await useUp(manager);
  expect(await rowsOf(manager)).not.toContain(id);
});

test("without a ceiling for keys, revoked ones are deleted too, and have no limit", async () => {
  const manager = await newManager({}, {});
  await plantRevoked(manager, 150);
  await useUp(manager);
  pass(31 * DAY);
  for (let made = 0; made < 8; made++) await useUp(manager);
  expect(await rowsOf(manager)).toHaveLength(1 + 8);
});

test("keys whose objects can't be erased hold up no other key", async () => {
  const manager = await newManager();
  const bad: string[] = [];
  while (bad.length < 3) bad.push(await useUp(manager));
  const good = await useUp(manager);
  pass(31 * DAY);
  breakObject("KEYS", bad, "erase");
  const { id } = created(await manager.api("POST", "/keys", { name: "One more" })).key;
  expect(await rowsOf(manager)).toEqual(expect.arrayContaining([...bad, id]));
  expect(await rowsOf(manager)).not.toContain(good);
  vi.restoreAllMocks();
  await useUp(manager);
  expect(await rowsOf(manager)).not.toEqual(expect.arrayContaining([bad[0]]));
});

test("more keys than one purge takes, whose objects can't be erased, hold up no other key", async () => {
  const manager = await newManager();
  const good = await useUp(manager);
  await plantRevoked(manager, 40);
  pass(31 * DAY);
  const planted = (await rowsOf(manager)).filter((id) => id !== good && id.startsWith(manager.keyId));
  breakObject("KEYS", planted, "erase");
  // Each takes 20 of the 41: that it never takes the good one has a chance of one in a billion.
  for (let made = 0; made < 32 && (await rowsOf(manager)).includes(good); made++) {
    created(await manager.api("POST", "/keys", { name: `More ${made}` }));
  }
  expect(await rowsOf(manager)).not.toContain(good);
});
