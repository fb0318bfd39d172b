import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../../support/alarms.ts";
import { hurryDeadlines } from "../../../support/deadlines.ts";
import { breakObject, countCalls } from "../../../support/faults.ts";
import { until } from "../../../support/until.ts";
import { alarmOf, chatOf, conversation, pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";

stopTheClock();

/** A channel that works again, for which chats wait. */
async function placeWithWaiting(count: number) {
  const place = await conversation("telegram");
  const chats = [place.chatId];
  while (chats.length < count) chats.push((await chatOf(place, place.channelId)).chatId);
  const object = () => env.CHANNELS.getByName(place.channelId);
  await runInDurableObject(object(), async (_object, { storage }) => {
    for (const id of chats) storage.kv.put(`waiting:${id}`, true);
    await storage.setAlarm(Date.now() + 1);
  });
  return { ...place, chats, object };
}

function waitingIn(object: DurableObjectStub): Promise<number> {
  return runInDurableObject(object, (_object, { storage }) => [...storage.kv.list({ prefix: "waiting:" })].length);
}

test("a chat that never answers to its wake-up holds up no other chat, and no alarm", async () => {
  const { chats, object } = await placeWithWaiting(45);
  const [bad = ""] = chats;
  hurryDeadlines("CHATS");
  breakObject("CHATS", bad, "wake", "hangs");
  const lines = vi.spyOn(console, "warn");
  await runAlarm(object());
  await until(
    "no chat waits",
    () => waitingIn(object()),
    (count) => count === 0,
  );
  // A chat no longer waits when its wake-up begins.
  const notWoken = () => lines.mock.calls.map(([line]) => line).filter(({ event }) => event === "chat_not_woken");
  await until("a chat is not woken", notWoken, ({ length }) => length > 0);
  expect(notWoken()).toMatchObject([{ chatId: bad }]);
  // The alarm did not wait for the last ones.
  await runAlarm(object());
  expect(await alarmOf(object())).toBeNull();
});

test("an organization that never answers to a report of health delays no wake-up, and is told later", async () => {
  const { channelId, organizationId, object } = await placeWithWaiting(3);
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.kv.put("health", { channelId, number: 1, at: Date.now(), isReported: false });
  });
  hurryDeadlines("CHATS", "ORGANIZATIONS");
  breakObject("ORGANIZATIONS", organizationId, "reportHealth", "hangs");
  const lines = vi.spyOn(console, "warn");
  await runAlarm(object());
  expect(await waitingIn(object())).toBe(0);
  // The alarm does not wait for the end of the report.
  await until(
    "the report has failed",
    () => lines.mock.calls.map(([{ event }]) => event),
    (events) => events.includes("health_not_reported"),
  );
  const at = await alarmOf(object());
  expect(at).toBeGreaterThan(Date.now());
  vi.restoreAllMocks();
  pass((at ?? 0) - Date.now());
  const reports = countCalls("ORGANIZATIONS", "reportHealth");
  await runAlarm(object());
  expect([reports(), await alarmOf(object())]).toEqual([1, null]);
});

test("chats that begin to wait during an alarm of a channel that works are woken by the next one", async () => {
  const { chats, object } = await placeWithWaiting(2);
  const [first = "", second = ""] = chats;
  await runInDurableObject(object(), (_object, { storage }) => void storage.kv.delete(`waiting:${second}`));
  const { CHATS } = env;
  const getByName = CHATS.getByName.bind(CHATS);
  vi.spyOn(CHATS, "getByName").mockImplementation((name, options) => {
    if (name !== first) return getByName(name, options);
    const late = {
      wake: () => runInDurableObject(object(), (_object, { storage }) => storage.kv.put(`waiting:${second}`, true)),
    };
    return late as unknown as ReturnType<typeof getByName>;
  });
  await runAlarm(object());
  vi.restoreAllMocks();
  expect(await waitingIn(object())).toBe(1);
  expect(await alarmOf(object())).not.toBeNull();
  await runAlarm(object());
  expect([await waitingIn(object()), await alarmOf(object())]).toEqual([0, null]);
});
