import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { countRows, take } from "../../bench/workers/counting.ts";
import { send } from "../../support/harness.ts";
import { acceptAs, fakeNetworks } from "../../support/networks.ts";
import { conversation, pass, stopTheClock } from "../delivery/conversation.ts";
import { taken, tellStatus } from "../inbound/webhook-calls.ts";

stopTheClock();

const NAMESPACES = ["KEYS", "CHATS", "CHANNELS"] as const;

/** Counts what is billed from here on: calls to objects, and rows that the objects and the directory write. */
async function meter(objects: DurableObjectStub[]) {
  for (const object of objects) {
    // Its storage is watched until the object is destroyed.
    await runInDurableObject(object, (_object, state) => countRows(state, () => true));
  }
  const spies = NAMESPACES.map((namespace) => vi.spyOn(env[namespace], "getByName"));
  const run = vi.spyOn(Object.getPrototypeOf(env.DB.prepare("select 1")) as D1PreparedStatement, "run");
  take();
  return async () => {
    const calls = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
    const results = (await Promise.all(run.mock.results.map(({ value }) => value))) as D1Result[];
    const directory = results.reduce((sum, { meta }) => sum + meta.rows_written, 0);
    for (const spy of [...spies, run]) spy.mockClear();
    return { calls, rows: take().written, directory };
  };
}

test("the cost of a single message on a network, from the send to the last status", async () => {
  fakeNetworks(acceptAs("wamid.1"));
  const chat = await conversation("whatsapp");
  const objects = [env.KEYS.getByName(chat.keyId), chat.object(), env.CHANNELS.getByName(chat.channelId)] as const;
  const [ofKey, ofChat, ofChannel] = objects;
  const settle = async () => {
    pass(2_000);
    await runDurableObjectAlarm(ofChat);
    await runDurableObjectAlarm(ofChannel);
  };
  await send(chat.api, chat.chatId);
  await chat.run();
  await settle();
  // Also writes the key's numbers, which would otherwise happen a minute later.
  await runDurableObjectAlarm(ofKey);
  pass(60_000);
  await send(chat.api, chat.chatId);
  await settle();
  const read = await meter([...objects]);

  const { id } = await send(chat.api, chat.chatId);
  const waits = () =>
    runInDurableObject(ofChat, (_object, { storage }) =>
      storage.sql.exec("select 1 from messages where status = 'QUEUED'").toArray(),
    );
  while ((await waits()).length > 0);
  expect(await read()).toEqual({ calls: 3, rows: 4, directory: 0 });
  for (const status of ["sent", "delivered", "read"]) {
    taken(await tellStatus(chat, id, status, { id: "wamid.1" }));
  }
  expect(await read()).toEqual({ calls: 3, rows: 2, directory: 0 });
  // Two alarms. The second one can cover up to 500 chats.
  await settle();
  expect(await read()).toEqual({ calls: 1, rows: 14, directory: 5 });
});
