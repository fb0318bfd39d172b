import { expect } from "vitest";
import type { CancelAnswer, MoveAnswer } from "../../../../../src/model/chat-answers.ts";
import { runAlarm } from "../../../../support/alarms.ts";
import { asOwner } from "../../../../support/as-owner.ts";
import { send } from "../../../../support/harness.ts";
import { untilQueueIsEmpty } from "../../../../support/message-status.ts";
import { fakeNetworks } from "../../../../support/networks.ts";
import { pass } from "../delivery/conversation.ts";
import { DAY, MINUTE, scheduledPlace } from "./fixtures.ts";

function shuffled<Item>(items: Item[]): Item[] {
  const placed = items.map((item) => ({ item, at: Math.random() }));
  return placed.sort((one, other) => one.at - other.at).map(({ item }) => item);
}

/** Two moves, a cancellation and the due time of one message at the same time, in random order, once a round. */
export async function race(rounds: number): Promise<void> {
  const calls = fakeNetworks();
  const { api, chatId, organizationId, object, schedule, message, messages } = await scheduledPlace("telegram");
  const ends = { CANCELED: 0, SENT: 0 };
  const placed: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const { id } = await schedule(MINUTE, { content: `Round ${round}` });
    // In every second round the message is not due yet, so only a move can send it.
    pass(round % 2 === 0 ? MINUTE : MINUTE - 1);
    const answers: { now?: MoveAnswer; later?: MoveAnswer; cancel?: CancelAnswer } = {};
    const move = (scheduledAt: number | null) => object().move(asOwner(organizationId), id, { scheduledAt });
    const cancel = async () => (answers.cancel = await object().cancel(asOwner(organizationId), id));
    const requests: (() => Promise<unknown>)[] = [
      async () => (answers.now = await move(null)),
      async () => (answers.later = await move(Date.now() + DAY)),
      () => runAlarm(object()),
    ];
    // Of four rounds, one sends the message and one cancels it before anybody else asks.
    if (round % 4 === 0) await runAlarm(object());
    if (round % 4 === 2) await cancel();
    else requests.push(cancel);
    await Promise.all(shuffled(requests).map((start) => start()));
    await untilQueueIsEmpty(chatId);

    const { now, cancel: canceled } = answers;
    const after = await message(id);
    const said = JSON.stringify([after, answers]);
    for (const { outcome } of Object.values(answers)) {
      expect(["ok", "not_scheduled", "not_cancelable"], said).toContain(outcome);
    }
    // Each answer is true: a message that was canceled was never sent, and the others were sent once.
    const status = canceled?.outcome === "ok" ? "CANCELED" : "SENT";
    expect(after.status, said).toBe(status);
    expect(calls.filter(({ text }) => text === `Round ${round}`).length, said).toBe(status === "SENT" ? 1 : 0);
    if (now?.outcome === "ok") expect(after.seq, said).toBe(JSON.parse(now.doc).seq);
    ends[status]++;
    if (after.seq !== null) placed.push(after.id);
  }
  expect(ends.CANCELED).toBeGreaterThan(0);
  expect(ends.SENT).toBeGreaterThan(0);
  expect((await messages()).map(({ id }) => id)).toEqual(placed.slice(-100));
  expect((await send(api, chatId)).seq).toBe(placed.length + 1);
}
