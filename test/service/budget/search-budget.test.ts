import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { newChat, newOrganization, send } from "../../support/harness.ts";
import { alarmOf, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { meter } from "./meter.ts";

stopTheClock();

const MINUTE_MS = 60_000;

/** A web chat whose messages come alone, and what one costs from here on. */
async function quietChat(search: object) {
  const { api, organizationId, channelId, keyId } = await newOrganization({ search });
  const { id } = await newChat(api, channelId);
  const ofChat = env.CHATS.getByName(id);
  const objects = [ofChat, env.KEYS.getByName(keyId), env.ORGANIZATIONS.getByName(organizationId)];
  const settle = async (ring: (object: DurableObjectStub) => Promise<unknown>) => {
    for (let rings = 0; rings < 3; rings++) {
      pass(MINUTE_MS);
      for (const object of objects) if ((await alarmOf(object)) !== null) await ring(object);
    }
  };
  await send(api, id);
  await settle(runAlarm);
  const { ring, read } = await meter([...objects, env.SEARCH_INDEXES.getByName(`${organizationId}:1`)]);
  const cost = async (act: () => Promise<unknown>) => {
    await act();
    await settle(ring);
    return read();
  };
  return { cost, send: () => send(api, id, { content: "Your parcel is on its way" }) };
}

/** What the search adds to the cost of this many messages that come together. */
async function costOfSearch(messages: number) {
  const costs = [];
  for (const on of [false, true]) {
    const { cost, send: sendOne } = await quietChat({ on });
    const sendAll = async () => {
      for (let count = 0; count < messages; count++) await sendOne();
    };
    costs.push(await cost(sendAll));
    // The next chat is made without the meter of this one.
    vi.restoreAllMocks();
  }
  const [without, withSearch] = costs as [Cost, Cost];
  const added = { calls: withSearch.calls - without.calls, rows: withSearch.rows - without.rows };
  return { without, added };
}

type Cost = { calls: number; rows: number; directory: number };

test("the search costs a message that comes alone a call and five rows, and nothing while it is off", async () => {
  const { without, added } = await costOfSearch(1);
  expect(without).toEqual({ calls: 6, rows: 12, directory: 0 });
  // How far the index knows the chat. In the index the message with its index, its grams, and the counts of their table.
  expect(added).toEqual({ calls: 1, rows: 1 + 4 });
});

test("messages that come together share the call, and the rows that are not theirs", async () => {
  const { added } = await costOfSearch(3);
  expect(added).toEqual({ calls: 1, rows: 1 + 3 * 3 + 1 });
});
