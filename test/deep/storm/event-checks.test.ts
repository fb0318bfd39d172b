import { expect, test } from "vitest";
import type { ReceivedCall } from "../../support/webhook-receiver.ts";
import { callFaults, eventFaults, feedFaults } from "./event-checks.ts";
import type { ChatEvent, Message } from "./parley.ts";

function eventOf(number: number, type = "message.created"): ChatEvent {
  return { id: `evt_${number}`, type, chatId: "cht_1", number, data: { messageId: `msg_${number}`, seq: number - 1 } };
}

const events = [eventOf(1, "chat.created"), eventOf(2), eventOf(4)];
const dense = [eventOf(1, "chat.created"), eventOf(2), eventOf(3)];
const messages = [2, 3].map((n) => ({ id: `msg_${n}`, seq: n - 1 })) as Message[];

test("dense events of all messages are no fault", () => {
  expect(eventFaults(dense, messages)).toEqual([]);
});

test.for([
  ["the events' numbers have a gap", events],
  ["the first event is message.created", [eventOf(1), eventOf(2)]],
  ["1 events tell of 2 messages", dense.slice(0, 2)],
] as const)("a fault in a chat's events is found: %s", ([fault, wrong]) => {
  expect(eventFaults([...wrong], messages)).toContain(fault);
});

/** A call in a life; each event is called after the one before it unless `previous` says otherwise. */
function call(number: number, previous: number | null, life = 1, status = 200): ReceivedCall {
  const event = { ...eventOf(number), previous };
  return { event, attempt: 1, status, life, at: 0 };
}

test.for([
  ["each event once", [call(1, null), call(2, 1), call(4, 2)]],
  ["an event that failed", [call(1, null), call(2, 1, 1, 500), call(2, 1, 1, 0), call(2, 1), call(4, 2)]],
  ["a repeat after a kill", [call(1, null), call(2, 1), call(2, 1, 2), call(2, 1, 3), call(4, 2, 3)]],
] as const)("calls without a fault: %s", ([, calls]) => {
  expect(callFaults(events, [...calls])).toEqual([]);
});

test.for([
  ["1 events did not come, from 4 on", [call(1, null), call(2, 1)]],
  ["event 4 came when 2 was due", [call(1, null), call(4, 2), call(2, 1), call(4, 2)]],
  ["event 4 came after 1, instead of 2", [call(1, null), call(2, 1), call(4, 1)]],
  ["event 1 came after 7, instead of null", [call(1, 7), call(2, 1), call(4, 2)]],
  ["event 2 was repeated without a kill between", [call(1, null), call(2, 1), call(2, 1), call(4, 2)]],
  [
    "event 2 is the second repeat for one kill",
    [call(1, null), call(2, 1), call(2, 1, 2, 500), call(2, 1, 2, 500), call(4, 2, 2)],
  ],
  ["event 1 came when 4 was due", [call(1, null), call(2, 1), call(1, null, 2), call(4, 2, 2)]],
] as const)("a fault in calls is found: %s", ([fault, calls]) => {
  expect(callFaults(events, [...calls])).toContain(fault);
});

test("a call with another event's id is found", () => {
  const wrong = { ...call(2, 1), event: { ...call(2, 1).event, id: "evt_9" } };
  expect(callFaults(events, [call(1, null), wrong, call(4, 2)])).toEqual(["event 2 came as evt_9"]);
});

test("repeats in the feed are no fault", () => {
  expect(
    feedFaults(
      events,
      [1, 2, 1, 2, 4].map((n) => eventOf(n)),
    ),
  ).toEqual([]);
});

test.for([
  ["1 events are missing, from 2 on", [1, 4]],
  ["events came out of order", [1, 4, 2]],
] as const)("a fault in the feed is found: %s", ([fault, numbers]) => {
  expect(
    feedFaults(
      events,
      numbers.map((n) => eventOf(n)),
    ),
  ).toEqual([fault]);
});

test("another event's id in the feed is found", () => {
  expect(feedFaults(events.slice(0, 1), [{ number: 1, id: "evt_9" }])).toEqual(["event 1 came as evt_9"]);
});
