import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { hurryAlarms, ringAlarm } from "../../../../support/alarms.ts";
import { asOwner } from "../../../../support/as-owner.ts";
import { breakObjects, replaceMethod } from "../../../../support/faults.ts";
import { admin, send, sendMany } from "../../../../support/harness.ts";
import { accept, fakeNetworks, hanging, inTurn, lost, type NetworkCall, refuse } from "../../../../support/networks.ts";
import { storedChat } from "../../../../support/stored.ts";
import { gate, turns, until } from "../../../../support/until.ts";
import {
  alarmOf,
  type Conversation,
  conversation,
  crash,
  deliveryOf,
  type Kind,
  pass,
  passToNext,
  runNext,
  stopTheClock,
} from "./conversation.ts";

stopTheClock();

const DAY = 86_400_000;
const texts = (calls: NetworkCall[]) => calls.map((call) => call.text);

/** Puts a message's delivery into the state that stands between two steps of an attempt, and forgets all else. */
async function putState({ object }: Conversation, seq: number, state: object): Promise<void> {
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec(
      "update messages set delivery = json_patch(delivery, ?) where seq = ?",
      JSON.stringify(state),
      seq,
    );
  });
  await evictDurableObject(object());
}

/** Two messages that wait, because the channel's object did not answer when they came. */
async function waiting(kind: Kind) {
  const chat = await conversation(kind);
  breakObjects("CHANNELS", "permit");
  await sendMany(chat.api, chat.chatId, 2);
  await evictDurableObject(chat.object());
  vi.restoreAllMocks();
  return chat;
}

test.each(["telegram", "whatsapp"] as const)(
  "the lease of an attempt is in the row before %s is called",
  async (kind) => {
    const states: object[] = [];
    const chat = await conversation(kind);
    fakeNetworks(async (call, number) => {
      states.push(await deliveryOf(chat.object(), 1));
      return inTurn()(call, number);
    });
    await send(chat.api, chat.chatId);
    await chat.run();
    expect(states).toMatchObject([{ attempts: 1, startedAt: Date.now(), firstAt: Date.now() }]);
    expect(await deliveryOf(chat.object(), 1)).toMatchObject({ attempts: 1, startedAt: null });
  },
);

test("an object that is lost while Telegram is called looks again after a minute, and sends again at the next back-off", async () => {
  const hang = hanging();
  const calls = fakeNetworks(inTurn(hang.script));
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 2);
  await hang.reached();
  await crash(chat.object());
  expect(await alarmOf(chat.object())).toBeLessThanOrEqual(Date.now() + 60_000);
  await chat.run();
  expect(await chat.queue()).toMatchObject({ depth: 2, lastError: { code: "outcome_unknown" } });
  expect(texts(calls)).toEqual(["Message 1"]);
  await runNext(chat);
  expect(texts(calls)).toEqual(["Message 1", "Message 1", "Message 2"]);
  expect((await chat.messages()).map((message) => message.status)).toEqual(["SENT", "SENT"]);
});

/** The states that stand between two steps, each with what an eviction there must lead to. */
const BETWEEN = [
  ["before the first attempt", { attempts: 0, startedAt: null, firstAt: null, nextAt: null }, 0],
  ["marked, not called", { attempts: 1, startedAt: 0, firstAt: 0, nextAt: null }, 1],
  ["held for its start", { attempts: 0, startedAt: null, firstAt: null, nextAt: 1_500, reserved: true }, 0],
  ["waiting for its next attempt", { attempts: 3, startedAt: null, firstAt: -60_000, nextAt: 9_000 }, 0],
  ["in its fourth attempt", { attempts: 4, startedAt: -20_000, firstAt: -90_000, nextAt: null }, 1],
  ["held by a broken channel", { attempts: 1, startedAt: null, firstAt: 0, nextAt: 300_000, heldSince: 0 }, 0],
] as const;

for (const kind of ["telegram", "whatsapp"] as const) {
  test.each(BETWEEN)(`an eviction from ${kind}'s line loses nothing: %s`, async (_name, state, unknown) => {
    const calls = fakeNetworks();
    const chat = await waiting(kind);
    const now = Date.now();
    const times = ["startedAt", "firstAt", "nextAt", "heldSince"];
    const shifted = Object.entries(state).map(([key, value]) => [
      key,
      times.includes(key) && value !== null ? now + Number(value) : value,
    ]);
    await putState(chat, 1, { nextAt: null, ...Object.fromEntries(shifted) });
    await chat.run();
    if (unknown) expect((await chat.queue()).lastError?.code).toBe("outcome_unknown");
    while ((await chat.queue()).depth > 0) {
      await runNext(chat);
      await evictDurableObject(chat.object());
    }
    expect(texts(calls)).toEqual(["Message 1", "Message 2"]);
    expect((await chat.messages()).map((message) => message.status)).toEqual(["SENT", "SENT"]);
    expect((await deliveryOf(chat.object(), 1)).attempts).toBe(state.attempts + 1);
  });
}

test("a late answer of an attempt that was given up changes nothing", async () => {
  const hang = hanging(refuse(400, "Too late"));
  const calls = fakeNetworks(inTurn(hang.script));
  const chat = await conversation("telegram");
  const message = await send(chat.api, chat.chatId);
  await hang.reached();
  // As another instance would: it took over, and has an attempt of its own under way.
  await runInDurableObject(chat.object(), (_object, { storage }) => {
    storage.sql.exec(
      "update messages set delivery = json_set(delivery, '$.attempts', 2, '$.startedAt', ?)",
      Date.now(),
    );
  });
  hang.letGo();
  await chat.run();
  expect(await chat.message(message.id)).toMatchObject({ status: "QUEUED" });
  expect((await deliveryOf(chat.object(), 1)).attempts).toBeGreaterThanOrEqual(2);
  await runNext(chat);
  expect(await chat.message(message.id)).toMatchObject({ status: "SENT", error: null });
  expect(calls).toHaveLength(2);
});

test("a message that is redacted while it waits is FAILED, never sent, and lets the rest pass", async () => {
  const calls = fakeNetworks(inTurn(refuse(429, "Slow down", { parameters: { retry_after: 60 } })));
  const chat = await conversation("telegram");
  const [first = "", second = "", third = ""] = (await sendMany(chat.api, chat.chatId, 3)).map(({ id }) => id);
  await chat.run();
  // The first goes last: with it the line moves on.
  for (const id of [second, first]) {
    expect((await admin("POST", `/chats/${chat.chatId}/messages/${id}/redact`)).status).toBe(200);
  }
  await chat.run();
  expect(texts(calls)).toEqual(["Message 1", "Message 3"]);
  for (const id of [first, second]) {
    const error = { code: "redacted", message: "The message was redacted before it was delivered" };
    expect(await chat.message(id)).toMatchObject({ status: "FAILED", content: "", text: "", error });
  }
  expect(await chat.message(third)).toMatchObject({ status: "SENT" });
});

test.each([
  [accept, "SENT", null],
  [refuse(400, "Canary"), "FAILED", { code: "redacted" }],
] as const)(
  "a message that is redacted during its attempt ends as the attempt does: %#",
  async (answer, status, error) => {
    const hang = hanging(answer);
    const calls = fakeNetworks(inTurn(hang.script));
    const chat = await conversation("telegram");
    const message = await send(chat.api, chat.chatId, { content: "Secret" });
    await hang.reached();
    await admin("POST", `/chats/${chat.chatId}/messages/${message.id}/redact`);
    hang.letGo();
    await chat.run();
    expect(await chat.message(message.id)).toMatchObject({ status, error, content: "", text: "" });
    expect(texts(calls)).toEqual(["Secret"]);
    const rows = await runInDurableObject(chat.object(), (_object, { storage }) => [
      ...storage.sql.exec("select * from messages"),
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/Secret|Canary/);
  },
);

test("a chat that is deleted during an attempt leaves only a tombstone and its alarm", async () => {
  let answer: Response | undefined;
  const hang = hanging((call) => (answer = accept(call)));
  fakeNetworks(inTurn(hang.script));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await hang.reached();
  const life = (await storedChat(chat.organizationId, chat.chatId))?.life ?? 0;
  await chat.object().erase(chat.organizationId, life);
  hang.letGo();
  await until("the attempt has read its answer", () => answer?.bodyUsed);
  await runInDurableObject(chat.object(), async (_object, { storage }) => {
    await turns(20);
    expect([...storage.kv.list()]).toEqual([
      ["tombstone", { organizationId: chat.organizationId, life, until: Date.now() + 600_000 }],
    ]);
    expect(await storage.getAlarm()).toBe(Date.now() + 600_000);
  });
});

test("a channel's object that does not answer holds the message, longer each time, which counts as no attempt", async () => {
  const calls = fakeNetworks();
  const chat = await conversation("telegram");
  breakObjects("CHANNELS", "permit");
  await sendMany(chat.api, chat.chatId, 2);
  const lastError = { code: "channel_away", message: "The channel does not answer" };
  for (const plain of [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
    const queue = await chat.queue();
    expect(queue).toMatchObject({ depth: 2, lastError });
    const wait = Date.parse(queue.nextAttemptAt) - Date.now();
    expect(wait).toBeGreaterThanOrEqual(plain * 0.8);
    expect(wait).toBeLessThanOrEqual(plain * 1.2);
    expect(await deliveryOf(chat.object(), 1)).toMatchObject({ attempts: 0, firstAt: null });
    await evictDurableObject(chat.object());
    await runNext(chat);
  }
  vi.restoreAllMocks();
  await runNext(chat);
  expect(texts(calls)).toEqual(["Message 1", "Message 2"]);
  expect(await deliveryOf(chat.object(), 1)).toMatchObject({ attempts: 1 });
});

test("the alarm stands while work is left and no longer, and never later than what is due", async () => {
  fakeNetworks(inTurn(refuse(500, "No"), lost));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  for (let runs = 0; (await chat.queue()).depth > 0; runs++) {
    expect(runs).toBeLessThan(8);
    await chat.run();
    const { nextAttemptAt } = await chat.queue();
    const alarm = await alarmOf(chat.object());
    if (nextAttemptAt) expect(alarm).toBeLessThanOrEqual(Date.parse(nextAttemptAt));
    if (alarm !== null) {
      expect(alarm).toBeGreaterThan(Date.now());
      vi.setSystemTime(alarm);
    }
  }
  await chat.run();
  expect(await alarmOf(chat.object())).toBeNull();
});

test("a channel's object that takes its time does not make the alarm ring without end", async () => {
  fakeNetworks();
  const chat = await conversation("telegram");
  const permit = gate("the request for a permit");
  replaceMethod("CHANNELS", "permit", (original) => async (request) => {
    await permit.pass();
    return original(request);
  });
  await sendMany(chat.api, chat.chatId, 3);
  hurryAlarms();
  await ringAlarm(chat.object());
  expect(await alarmOf(chat.object())).toBe(Date.now() + 30_000);
  permit.open();
  await chat.run();
  expect(await chat.queue()).toMatchObject({ depth: 0 });
});

test("a row that delivery chokes on does not make the alarm ring without end", async () => {
  fakeNetworks();
  const chat = await waiting("telegram");
  await runInDurableObject(chat.object(), (_object, { storage }) => {
    storage.sql.exec("update messages set delivery = 'no JSON' where seq = 1");
  });
  await evictDurableObject(chat.object());
  pass(10_000);
  await chat.run();
  expect(await alarmOf(chat.object())).toBeGreaterThanOrEqual(Date.now() + 4_000);
});

test("a long line is worked off in runs of bounded length", async () => {
  const calls = fakeNetworks((call, number) => {
    // A call takes time, so the next one need not wait for its start.
    pass(1);
    return inTurn(lost)(call, number);
  });
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  await sendMany(chat.api, chat.chatId, 60);
  await passToNext(chat);
  await chat.runOnce();
  expect(calls).toHaveLength(51);
  expect(await alarmOf(chat.object())).toBe(Date.now());
  await chat.run();
  expect(calls).toHaveLength(62);
});

test.each([
  ["its channel works again", ({ object }: Conversation) => object().wake()],
  [
    "the network told of the message before",
    async ({ object, organizationId, channelId, messages }: Conversation) => {
      const [first] = await messages();
      const told = { status: "SENT" as const, error: null, addresses: [] };
      const news = { messageId: first?.id ?? "", networkId: "wamid.1", ...told };
      await object().applyStatus(asOwner(organizationId), channelId, news);
    },
  ],
  [
    "the message before was redacted",
    async ({ object, organizationId, messages }: Conversation) => {
      const [first] = await messages();
      await object().redact(asOwner(organizationId), first?.id ?? "", "req_1");
    },
  ],
] as const)(
  "should its object be lost, a message that may go because %s goes within half a minute",
  async (_why, happen) => {
    const chat = await waiting("whatsapp");
    await chat.run();
    await putState(chat, 1, { nextAt: Date.now() + DAY, heldSince: Date.now() });
    await runInDurableObject(chat.object(), (_object, { storage }) => storage.setAlarm(Date.now() + DAY));
    await evictDurableObject(chat.object());
    replaceMethod("CHANNELS", "permit", () => () => new Promise(() => {}));
    await happen(chat);
    await crash(chat.object());
    expect(await alarmOf(chat.object())).toBeLessThanOrEqual(Date.now() + 30_000);
  },
);
