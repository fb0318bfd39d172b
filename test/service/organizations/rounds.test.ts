import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { replaceMethod } from "../../support/faults.ts";
import { countRowsWritten } from "../../support/rows-written.ts";
import { heldBy, NOTHING } from "../../support/stored.ts";
import { turns } from "../../support/until.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { runCron } from "./cron.ts";

stopTheClock();

const MINUTE = 60_000;

beforeEach(async () => {
  await env.DB.batch(["alarm_net", "organizations"].map((table) => env.DB.prepare(`delete from ${table}`)));
});

/** Adds organizations that nobody uses. @returns their ids, in the order of the rounds */
async function addOrganizations(count: number, region: string | null = null): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, n) => `org_g${String(n).padStart(15, "0")}`);
  const insert = env.DB.prepare("insert into organizations (id, name, region, created_at) values (?, 'Other', ?, 0)");
  for (let from = 0; from < count; from += 500) {
    await env.DB.batch(ids.slice(from, from + 500).map((id) => insert.bind(id, region)));
  }
  return ids;
}

/** Records which organizations are called from here on. `answer` answers in their place. */
function watchCalls(answer: (id: string) => Promise<void> = async () => {}) {
  const called: string[] = [];
  const regions: unknown[] = [];
  vi.spyOn(env.ORGANIZATIONS, "getByName").mockImplementation(((id: string, options?: { locationHint?: string }) => ({
    checkAlarms: () => {
      called.push(id);
      regions.push(options?.locationHint);
      return answer(id);
    },
  })) as never);
  return { called, regions };
}

test.each([
  [1, 1],
  [14, 14],
  [15, 15],
  [16, 8],
  [100, 15],
  [1_000, 15],
])("a round over %i organizations takes %i runs, and calls each once", async (count, runs) => {
  const ids = await addOrganizations(count);
  const { called } = watchCalls();
  for (let run = 0; run < runs; run++) {
    await runCron();
    pass(MINUTE);
  }
  expect(called).toEqual(ids);
  await runCron();
  expect(called[count]).toBe(ids[0]);
});

test.each([1, 2, 40])("of two runs at once over %i organizations, one calls them", async (count) => {
  const ids = await addOrganizations(count);
  const { called } = watchCalls();
  await Promise.all([runCron(), runCron(), runCron()]);
  // The platform may also start a run again that is over.
  for (const at of [Date.now(), Date.now() - 1]) await runCron(at);
  expect(called).toEqual(ids.slice(0, Math.ceil(count / 15)));
  pass(MINUTE);
  await Promise.all([runCron(Date.now()), runCron(Date.now() + 1)]);
  expect(called.toSorted()).toEqual([...called].toSorted());
  expect(called).toHaveLength(2 * Math.ceil(count / 15));
});

test("at most 20 organizations are called at once, and one that fails or runs an earlier version holds up no other", async () => {
  const ids = await addOrganizations(900);
  let [underWay, most] = [0, 0];
  const { called } = watchCalls(async (id) => {
    most = Math.max(most, ++underWay);
    await turns(3);
    underWay--;
    if (id === ids[3])
      throw Object.assign(new Error('The RPC receiver does not implement "checkAlarms".'), { remote: true });
    if (id === ids[5]) throw new Error("Network connection lost.");
  });
  await runCron();
  expect(called).toEqual(ids.slice(0, 60));
  expect(most).toBe(20);
});

test("a run writes one row of the directory", async () => {
  await addOrganizations(40);
  watchCalls();
  for (let run = 0; run < 3; run++) {
    const rows = countRowsWritten();
    await runCron();
    expect(await rows()).toBe(1);
    pass(MINUTE);
    vi.restoreAllMocks();
    watchCalls();
  }
});

test("without organizations, or without the table, a run does nothing", async () => {
  const { called } = watchCalls();
  await runCron();
  expect((await env.DB.prepare("select * from alarm_net").all()).results).toEqual([]);
  await addOrganizations(2);
  await env.DB.prepare("alter table alarm_net rename to elsewhere").run();
  await runCron();
  await env.DB.prepare("alter table elsewhere rename to alarm_net").run();
  expect(called).toEqual([]);
});

test("an organization's object that the run creates is where its organization is", async () => {
  await addOrganizations(1, "weur");
  const { regions } = watchCalls();
  await runCron();
  expect(regions).toEqual(["weur"]);
});

test("a run that calls an organization without an object creates nothing in it", async () => {
  const [id = ""] = await addOrganizations(1);
  let answers = 0;
  replaceMethod("ORGANIZATIONS", "checkAlarms", (original) => async (...given) => {
    await original(...given);
    answers++;
  });
  await runCron();
  expect(answers).toBe(1);
  vi.restoreAllMocks();
  expect(await heldBy(env.ORGANIZATIONS.getByName(id))).toEqual(NOTHING);
});
