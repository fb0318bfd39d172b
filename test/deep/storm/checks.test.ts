import { expect, test } from "vitest";
import { extras, type Heard, logFaults, wireFaults } from "./checks.ts";
import type { Message } from "./parley.ts";
import type { Said } from "./senders.ts";
import { table } from "./table.ts";
import { inboundFaults } from "./webhooks.ts";

function message(seq: number, content = `text ${seq}`): Message {
  return { id: `msg_${seq}`, seq, direction: "OUTBOUND", content, text: content, status: "SENT" };
}

function said(seq: number, more: Partial<Said> = {}): Said {
  const answer = { id: `msg_${seq}`, seq };
  return { chatId: "cht_1", content: `text ${seq}`, sender: 1, keyed: false, answer, ...more };
}

function heard(content: string, more: Partial<Heard> = {}): Heard {
  return { content, life: 1, at: 0, toldAt: null, ...more };
}

const telegram = { statusForbids: false, apartMs: 0 };
const whatsapp = { statusForbids: true, apartMs: 90_000 };
const chat = [message(1), message(2)];

test("a chat with every confirmed message has no fault", () => {
  expect(logFaults(chat, 2, [said(1), said(2)])).toEqual([]);
});

test("a send without a response and without a key may be stored or not", () => {
  expect(logFaults([message(1)], 1, [said(1, { answer: null }), said(2, { answer: null })])).toEqual([]);
});

test.for([
  ["lost: text 2", [message(1)], [said(1), said(2)]],
  ["lost: text 2", [message(1)], [said(1), said(2, { answer: null, keyed: true })]],
  ["stored 2 times: text 1", [message(1), message(2, "text 1")], [said(1)]],
  ["nobody sent: text 2", chat, [said(1)]],
  ["stored otherwise than it was answered: text 2", chat, [said(1), said(2, { answer: { id: "msg_2", seq: 3 } })]],
  ["out of order of sender 1", chat, [said(2), said(1)]],
  ["message 2 has seq 3", [message(1), message(3)], [said(1), said(3)]],
] as const)("a chat's fault is found: %s", ([fault, messages, journal]) => {
  expect(logFaults([...messages], messages.length, [...journal])).toEqual([fault]);
});

test("a wrong total is found", () => {
  expect(logFaults(chat, 3, [said(1), said(2)])).toEqual(["total is 3, there are 2 messages"]);
});

test("a call that is repeated after a kill is not a fault for Telegram, and counts as an extra", () => {
  const calls = [heard("text 1"), heard("text 1", { life: 2 }), heard("text 2", { life: 2 })];
  expect(wireFaults(chat, calls, telegram)).toEqual([]);
  expect(extras(calls)).toBe(1);
});

test.for([
  ["lost on its way: text 2", [heard("text 1")], telegram],
  ["the network heard what no chat has: x", [heard("text 1"), heard("text 2"), heard("x")], telegram],
  ["out of order at the network: 1 after 2", [heard("text 2"), heard("text 1")], telegram],
  ["twice without a kill between: text 2", [heard("text 1"), heard("text 2"), heard("text 2")], telegram],
  ["again after 5 ms: text 2", [heard("text 1"), heard("text 2"), heard("text 2", { life: 2, at: 5 })], whatsapp],
  [
    "again after its status: text 2",
    [heard("text 1"), heard("text 2", { toldAt: 9 }), heard("text 2", { life: 2, at: 90_000 })],
    whatsapp,
  ],
] as const)("a network's fault is found: %s", ([fault, calls, repeats]) => {
  expect(wireFaults(chat, [...calls], repeats)).toEqual([fault]);
});

test("a message that is not sent in the end is found", () => {
  const failed = { ...message(1), status: "FAILED" };
  expect(wireFaults([failed], [heard("text 1")], telegram)).toEqual(["ended as FAILED: text 1"]);
});

test("a webhook's message that is stored twice, not at all, or without a webhook is found", () => {
  const events = [{ n: 1 }, { n: 2 }];
  expect(inboundFaults([message(1, "event 2"), message(2, "event 1")], events)).toEqual([]);
  expect(inboundFaults([message(1, "event 2"), message(2, "event 2")], events)).toEqual([
    "event 1 is stored 0 times",
    "event 2 is stored 2 times",
  ]);
  expect(inboundFaults([message(1, "event 1"), message(2, "event 2"), message(3, "x")], events)).toHaveLength(1);
});

test("the table shows what held, and what did not", () => {
  const row = { test: "kills", howMany: "3", held: "all", faults: [] };
  const text = table([row, { ...row, test: "pauses", faults: ["lost", "twice"] }], 7);
  expect(text.split("\n")).toEqual([
    "test    how many  what held               seed",
    "kills   3         all                     7",
    "pauses  3         DID NOT HOLD: 2 faults  7",
  ]);
});
