import { expect, test } from "vitest";
import type { Message } from "../../src/web/console/api.ts";
import { isInReach, linesOf, merged, newestSeq, reloaded } from "../../src/web/console/inbox/timeline.ts";

const AT = new Date(2026, 10, 20, 10).getTime();
const time = (minutes: number) => new Date(AT + minutes * 60_000).toISOString();

function message(seq: number | null, minutes: number, changes: Partial<Message> = {}): Message {
  return {
    id: `msg_${seq ?? minutes}`,
    chatId: "cht_1",
    seq,
    direction: "OUTBOUND",
    type: "TEXT",
    content: "text",
    mediaUrl: null,
    senderId: "mbr_1",
    templateId: null,
    variables: null,
    text: "text",
    status: "SENT",
    error: null,
    metadata: {},
    createdAt: time(minutes),
    updatedAt: time(minutes),
    ...changes,
  };
}

test("of two versions of a message the later one counts, in whichever order they come", () => {
  const sent = message(1, 0);
  const read = message(1, 0, { status: "READ", updatedAt: time(2) });
  expect(merged([sent], [read])).toEqual([read]);
  expect(merged([read], [sent])).toEqual([read]);
});

test("a reload keeps what came meanwhile, and drops scheduled messages that are gone", () => {
  const canceled = message(null, 5, { status: "SCHEDULED" });
  const sent = message(null, 6, { status: "SCHEDULED" });
  const before = [message(1, 0), canceled];
  const answers = { page: [message(1, 0)], hasMore: false, scheduled: [] };
  expect(reloaded(before, [...before, sent], answers)).toEqual({ messages: [message(1, 0), sent], isGap: false });
});

test("after a long absence only the newest page is known, and what came while it was loaded", () => {
  const before = [message(1, 0), message(2, 1), message(null, 2, { status: "SCHEDULED" })];
  const came = message(9, 8);
  const answers = { page: [message(8, 7), message(7, 6)], hasMore: true, scheduled: [] };
  const { messages, isGap } = reloaded(before, [...before, came], answers);
  expect(isGap).toBe(true);
  expect(messages).toEqual([came, message(8, 7), message(7, 6)]);
});

test("a changed message before the loaded ones is out of reach, a scheduled one never is", () => {
  const loaded = [message(null, 9, { status: "SCHEDULED" }), message(7, 1), message(5, 0)];
  expect([4, 5, 6, 8].map((seq) => isInReach(loaded, message(seq, 0)))).toEqual([false, true, true, true]);
  expect(isInReach(loaded, message(null, 3))).toBe(true);
});

test("placed messages come by their number, the scheduled ones after them by their time", () => {
  const later = message(null, 3, { status: "SCHEDULED", scheduledAt: time(90) });
  const sooner = message(null, 4, { status: "SCHEDULED", scheduledAt: time(60) });
  const canceled = message(null, 5, { status: "CANCELED" });
  const lines = linesOf([later, message(2, 1), sooner, canceled, message(1, 0)]);
  expect(lines.map(({ key, isNewDay }) => [key, isNewDay])).toEqual([
    ["msg_1", true],
    ["msg_2", false],
    ["msg_4", false],
    ["msg_3", false],
  ]);
});

test("a run ends with the day, the sender, the direction, or five minutes", () => {
  const lines = linesOf([
    message(1, 0),
    message(2, 1),
    message(3, 2, { senderId: "mbr_2" }),
    message(4, 3, { senderId: "mbr_2", direction: "INBOUND" }),
    message(5, 9, { senderId: "mbr_2", direction: "INBOUND" }),
    message(6, 24 * 60, { senderId: "mbr_2", direction: "INBOUND" }),
  ]);
  expect(lines.map(({ isFirst }) => isFirst)).toEqual([true, false, true, true, true, true]);
  expect(lines.map(({ isNewDay }) => isNewDay)).toEqual([true, false, false, false, false, true]);
});

test("a run ends where the messages were written elsewhere, or to the network's own agent", () => {
  const lines = linesOf([
    message(1, 0, { senderId: null, origin: "app" }),
    message(2, 1, { senderId: null, origin: "app" }),
    message(3, 2, { senderId: null, origin: "network" }),
    message(4, 3, { senderId: null, direction: "INBOUND" }),
    message(5, 4, { senderId: null, direction: "INBOUND", standby: true }),
  ]);
  expect(lines.map(({ isFirst }) => isFirst)).toEqual([true, false, true, true, true]);
});

test("the newest number counts placed messages alone", () => {
  expect(newestSeq([])).toBe(0);
  expect(newestSeq([message(3, 0), message(null, 1), message(7, 2), message(5, 3)])).toBe(7);
});

test("a note stands behind the message after which it was written, and before none that is not loaded", () => {
  const note = (id: string, afterSeq: number, minutes: number) => ({
    ...{ id, chatId: "cht_1", afterSeq, content: "text", mentions: [], createdAt: time(minutes) },
    author: { type: "member" as const, id: "mbr_1", name: "Ann" },
  });
  const notes = [note("d", 6, 9), note("c", 5, 5), note("b", 5, 4), note("a", 3, 1)];
  const messages = [message(4, 2), message(5, 3), message(6, 1_500), message(null, 9, { status: "SCHEDULED" })];
  const keys = (from: number) => linesOf(messages, notes, from).map(({ key }) => key);
  expect(keys(4)).toEqual(["msg_4", "msg_5", "b", "c", "msg_6", "d", "msg_9"]);
  expect(keys(0)).toEqual(["a", "msg_4", "msg_5", "b", "c", "msg_6", "d", "msg_9"]);
  expect(linesOf(messages, notes, 4).map(({ isNewDay }) => isNewDay)).toEqual([
    ...[true, false, false, false, true, true, false],
  ]);
  // A run does not go on behind a note.
  expect(linesOf([message(4, 2), message(5, 3)], [note("a", 4, 2)]).map(({ isFirst }) => isFirst)).toEqual([
    ...[true, true, true],
  ]);
});

test("within a run, the next message shows the time, unless its status is another", () => {
  const run = [message(1, 0), message(2, 1), message(3, 2, { status: "QUEUED" }), message(4, 3, { status: "QUEUED" })];
  const later = [...run, message(5, 30), message(6, 31, { senderId: "mbr_2" })];
  const within = linesOf(later).map(({ key, isWithin }) => [key, isWithin]);
  expect(Object.fromEntries(within)).toEqual({
    ...{ msg_1: true, msg_2: false, msg_3: true, msg_4: false },
    ...{ msg_5: false, msg_6: false },
  });
});
