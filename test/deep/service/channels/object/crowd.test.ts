import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { SHORT_WAIT_MS } from "../../../../../src/channels/object/pace.ts";
import { all, channel } from "../../../../service/channels/object/crowd.ts";
import { alarmOf, pass, stopTheClock } from "../../../../service/chats/object/delivery/conversation.ts";
import { runOneAlarm } from "../../../../support/alarms.ts";
import { countRoundTrips } from "../../../../support/faults.ts";
import { holdWaits } from "../../../../support/waits.ts";

stopTheClock();

const MINUTE = 60_000;
const CHATS = 10_000;

/** How many chats wait to be woken. */
function waiting(object: DurableObjectStub): Promise<number> {
  return runInDurableObject(object, (_object, { storage }) => [...storage.kv.list({ prefix: "waiting:" })].length);
}

/** Puts chats in place that only say when they are woken. */
function fakeChats(): string[] {
  const woken: string[] = [];
  vi.spyOn(env.CHATS, "getByName").mockImplementation(
    (name) => ({ wake: async () => void woken.push(name) }) as unknown as ReturnType<typeof env.CHATS.getByName>,
  );
  return woken;
}

test("10,000 chats of a broken channel: one probe at a time, and they are woken in bounded runs once it is replaced", async () => {
  const { object, permit, go, tell, broke, repair, crowd } = await channel();
  await broke(await go(0), 0);
  const trips = countRoundTrips();
  expect(await crowd(CHATS)).toEqual([]);
  expect(await waiting(object())).toBe(CHATS);
  pass(5 * MINUTE);
  const probes = await crowd(CHATS);
  expect(probes).toMatchObject([{ probe: 1 }]);
  for (const probe of probes) await broke(probe, 0);
  pass(10 * MINUTE - 1);
  expect(await crowd(CHATS)).toEqual([]);
  // The channel itself, each time its record was old.
  expect(trips()).toBeLessThanOrEqual(2);

  await repair();
  const woken = fakeChats();
  await runOneAlarm(object());
  expect([woken.length, await waiting(object())]).toEqual([200, CHATS - 200]);
  // One goes first; the others begin when it has shown that the channel works, and the rest are woken then.
  holdWaits(SHORT_WAIT_MS);
  const answers = await all(0, 200, (chat) =>
    permit(chat).then(async (answer) => {
      if (answer.outcome === "granted" && answer.trial !== null) await tell(answer, true);
      return answer;
    }),
  );
  expect(answers.filter((answer) => answer.outcome === "granted")).toHaveLength(200);
  const trials = answers.filter((answer) => answer.outcome === "granted" && answer.trial !== null);
  expect(trials).toMatchObject([{ probe: null }]);
  for (let runs = 1; runs < CHATS / 200; runs++) {
    expect(woken).toHaveLength(200 * runs);
    const alarm = (await alarmOf(object())) ?? 0;
    expect(alarm).toBeLessThanOrEqual(Date.now() + 1_000);
    vi.setSystemTime(Math.max(alarm, Date.now()));
    await runOneAlarm(object());
  }
  await runOneAlarm(object());
  expect(new Set(woken).size).toBe(CHATS);
  expect(woken).toHaveLength(CHATS);
  expect(await waiting(object())).toBe(0);
  expect(await alarmOf(object())).toBeNull();
});
