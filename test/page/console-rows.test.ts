import fc from "fast-check";
import { expect, test } from "vitest";
import type { FollowedEvent } from "../../src/client/event.ts";
import type { Chat, Message } from "../../src/web/console/api.ts";
import {
  afterEvent,
  afterMessage,
  belongs,
  changes,
  type Filter,
  filterOf,
  inOrder,
  isUnclear,
  NOBODY,
  queryOf,
  type View,
  withChat,
} from "../../src/web/console/inbox/chat-rows.ts";
import { chatRow as chat } from "./chat-row.ts";

const AT = Date.parse("2026-11-20T10:00:00.000Z");
const time = (minutes: number) => new Date(AT + minutes * 60_000).toISOString();

function message(seq: number | null, changes: Partial<Message> = {}): Message {
  return {
    id: `msg_${seq ?? "scheduled"}`,
    chatId: "a",
    seq,
    direction: "INBOUND",
    type: "TEXT",
    content: "text",
    mediaUrl: null,
    senderId: null,
    templateId: null,
    variables: null,
    text: "text",
    status: "RECEIVED",
    error: null,
    metadata: {},
    createdAt: time(seq ?? 0),
    updatedAt: time(seq ?? 0),
    ...changes,
  };
}

const ids = (rows: Chat[]) => rows.map(({ id }) => id);

test("each view has its order", () => {
  const rows = [
    chat("a", { lastMessageAt: time(5), unansweredSince: time(3), nextScheduledAt: time(90) }),
    chat("b", { lastMessageAt: time(9), unansweredSince: time(1), nextScheduledAt: time(60) }),
    chat("c", { lastMessageAt: time(7), unansweredSince: time(2), nextScheduledAt: time(70) }),
  ];
  expect(ids(inOrder(rows, "all"))).toEqual(["b", "c", "a"]);
  expect(ids(inOrder(rows, "unanswered"))).toEqual(["b", "c", "a"]);
  expect(ids(inOrder(rows, "scheduled"))).toEqual(["b", "c", "a"]);
  const mention = (n: number) => ({ mention: { noteId: "", afterSeq: 0, createdAt: time(n) } });
  expect(ids(inOrder([chat("x", mention(3)), chat("y", mention(8)), chat("z", mention(5))], "mentions"))).toEqual([
    ...["y", "z", "x"],
  ]);
  expect(ids(inOrder([chat("new", { createdAt: time(8) }), ...rows], "all"))).toEqual(["b", "new", "c", "a"]);
});

test("an answered chat leaves the unanswered ones, unless it is open", () => {
  const rows = [chat("a", { unansweredSince: time(1) }), chat("b", { unansweredSince: time(2) })];
  const list = { view: "unanswered", assignee: null, label: null, channel: null } as const;
  expect(ids(withChat(rows, chat("a"), list, null))).toEqual(["b"]);
  expect(ids(withChat(rows, chat("a"), list, "a"))).toEqual(["a", "b"]);
  expect(ids(withChat(rows, chat("c"), list, "c"))).toEqual(["a", "b"]);
});

test("an answered chat stays in its place while it is open, also once the list is loaded again", () => {
  const rows = [1, 2, 3].map((wait) => chat(`${wait}`, { unansweredSince: time(wait) }));
  const list = { view: "unanswered", assignee: null, label: null, channel: null } as const;
  const answered = withChat(rows, chat("2"), list, "2");
  const assigned = withChat(answered, chat("2", { assigneeId: "mbr_1" }), list, "2");
  expect(assigned[1]).toMatchObject({ id: "2", unansweredSince: null, assigneeId: "mbr_1" });
  expect(ids(inOrder([...rows.filter(({ id }) => id !== "2"), ...assigned.slice(1, 2)], "unanswered"))).toEqual([
    "1",
    "2",
    "3",
  ]);
  // It waits again, as the last one.
  expect(ids(withChat(assigned, chat("2", { unansweredSince: time(9) }), list, "2"))).toEqual(["1", "3", "2"]);
});

test("a chat that is given to another member leaves the lists of the first one and of nobody, unless it is open", () => {
  const given = chat("a", { assigneeId: "mbr_2", unansweredSince: time(1) });
  for (const assignee of ["mbr_1", NOBODY]) {
    const list = { view: "all", assignee, label: null, channel: null } as const;
    expect(ids(withChat([chat("a"), chat("b")], given, list, null))).toEqual(["b"]);
    expect(ids(withChat([chat("a"), chat("b")], given, list, "a"))).toEqual(["a", "b"]);
  }
  expect(ids(withChat([], given, { view: "unanswered", assignee: "mbr_2", label: null, channel: null }, null))).toEqual(
    ["a"],
  );
  expect(ids(withChat([], chat("a"), { view: "all", assignee: NOBODY, label: null, channel: null }, null))).toEqual([
    "a",
  ]);
});

test("a chat of another channel is not put into a channel's list, whatever the person does in it", () => {
  const list = { view: "all", assignee: null, label: null, channel: "chn_2" } as const;
  const own = chat("a", { channel: { id: "chn_2", kind: "telegram", name: "Bot" } });
  expect(ids(withChat([own], chat("b"), list, "b"))).toEqual(["a"]);
  expect(ids(withChat([], own, list, null))).toEqual(["a"]);
});

test("a chat is in a list once, and in its order, after any changes", () => {
  const views: View[] = ["all", "unanswered", "scheduled", "open", "snoozed", "closed"];
  const minute = fc.option(fc.integer({ min: 0, max: 50 }), { nil: null });
  const member = fc.constantFrom("mbr_1", "mbr_2", null);
  const id = fc.constantFrom("a", "b", "c", "d");
  const state = fc.constantFrom<Chat["state"]>("open", "snoozed", "closed");
  const labels = fc.subarray(["lbl_1", "lbl_2"]);
  const wantedLabel = fc.constantFrom("lbl_1", null);
  const change = fc.record({ id, last: minute, since: minute, next: minute, assigneeId: member, state, labels });
  const whose = fc.constantFrom("mbr_1", NOBODY, null);
  fc.assert(
    fc.property(fc.constantFrom(...views), whose, wantedLabel, fc.array(change), (view, assignee, label, changes) => {
      const known = new Map<string, Chat>();
      let rows: Chat[] = [];
      for (const { id, last, since, next, assigneeId, state, labels } of changes) {
        const now = chat(id, {
          assigneeId,
          state,
          labels: labels.map((id) => ({ id, name: id })),
          lastMessageAt: last === null ? null : time(last),
          unansweredSince: since === null ? null : time(since),
          nextScheduledAt: next === null ? null : time(next),
        });
        known.set(id, now);
        rows = withChat(rows, now, { view, assignee, label, channel: null }, null);
      }
      expect(rows).toEqual(
        inOrder(
          [...known.values()].filter((one) => belongs(one, { view, assignee, label, channel: null })),
          view,
        ),
      );
    }),
  );
});

test("a contact's message makes a chat wait since the first one, and an answer ends it", () => {
  const first = afterMessage(chat("a"), message(1));
  expect(first).toMatchObject({
    unansweredSince: time(1),
    lastMessageAt: time(1),
    lastMessage: { seq: 1, text: "text" },
  });
  const second = afterMessage(first, message(2));
  expect(second.unansweredSince).toBe(time(1));
  const answered = afterMessage(second, message(3, { direction: "OUTBOUND", status: "QUEUED" }));
  expect(answered).toMatchObject({ unansweredSince: null, lastMessage: { seq: 3, status: "QUEUED" } });
  // A status of the last message is no new message.
  const delivered = afterMessage(answered, message(3, { direction: "OUTBOUND", status: "DELIVERED" }));
  expect(delivered).toMatchObject({ unansweredSince: null, lastMessage: { status: "DELIVERED" } });
});

test("what was written elsewhere ends a wait that began before it, and only the chat knows what it leaves", () => {
  const waiting = afterMessage(chat("a"), message(2));
  const echo = (networkTime: string) =>
    message(3, { direction: "OUTBOUND", status: "SENT", origin: "app", networkTime });
  expect(afterMessage(waiting, echo(time(2))).unansweredSince).toBeNull();
  expect(afterMessage(waiting, echo(time(1))).unansweredSince).toBe(time(2));
  const event = { chatId: "a", type: "message.created", data: { message: echo(time(1)) } } as unknown as FollowedEvent;
  expect([isUnclear(waiting, event), isUnclear(chat("a"), event)]).toEqual([true, false]);
  const own = { ...event, data: { message: message(3, { direction: "OUTBOUND" }) } } as FollowedEvent;
  expect(isUnclear(waiting, own)).toBe(false);
});

test("an away message ends no wait, and the chat need not be asked", () => {
  const waiting = afterMessage(chat("a"), message(2));
  const away = message(3, { direction: "OUTBOUND", status: "SENT", origin: "away" });
  expect(afterMessage(waiting, away)).toMatchObject({ unansweredSince: time(2), lastMessage: { seq: 3 } });
  const event = { chatId: "a", type: "message.created", data: { message: away } } as unknown as FollowedEvent;
  expect(isUnclear(waiting, event)).toBe(false);
});

test("a message to the network's own agent makes no chat wait, and ends no wait", () => {
  expect(afterMessage(chat("a"), message(1, { standby: true })).unansweredSince).toBeNull();
  expect(afterMessage(afterMessage(chat("a"), message(1)), message(2, { standby: true })).unansweredSince).toBe(
    time(1),
  );
});

test("a status of an older message, and a scheduled message, change nothing in the list", () => {
  const before = afterMessage(chat("a"), message(2));
  expect(afterMessage(before, message(1, { status: "READ" }))).toBe(before);
  expect(afterMessage(before, message(null, { status: "SCHEDULED" }))).toBe(before);
});

test("an event with a chat replaces the row, and keeps the preview that a chat without it had", () => {
  const before = afterMessage(chat("a"), message(1));
  const named = chat("a", { contact: { address: "a", name: "Ann", username: null, personId: null, addresses: ["a"] } });
  const event = { type: "chat.updated", chatId: "a", data: { chat: named } } as unknown as FollowedEvent;
  expect(afterEvent(before, event)).toMatchObject({ contact: { name: "Ann" }, lastMessage: { seq: 1 } });
  const ping = { type: "ping", chatId: null, data: {} } as unknown as FollowedEvent;
  expect(afterEvent(before, ping)).toBe(before);
});

test("an event that a row shows already changes nothing: the chat's creation, or a message before its newest one", () => {
  const before = afterMessage(chat("a", { assigneeId: "mbr_1" }), message(2));
  const about = (event: object) => ({ chatId: "a", ...event }) as unknown as FollowedEvent;
  const created = about({ type: "chat.created", data: { chat: chat("a") } });
  expect(afterEvent(before, created)).toBe(before);
  expect(changes(before, created)).toBe(false);
  expect(changes(before, about({ type: "message.created", data: { message: message(1) } }))).toBe(false);
  const received = about({ type: "message.received", data: { message: message(3) } });
  expect(changes(before, received)).toBe(true);
  expect(changes(before, { ...received, chatId: "b" })).toBe(false);
});

test("an address names a filter, and none that is unknown", () => {
  const part = fc.constantFrom(null, NOBODY, "mbr_1", "chn_a&b=c#d");
  const view = fc.constantFrom<View>("unanswered", "open", "snoozed", "closed", "all", "scheduled", "mentions");
  const filter: fc.Arbitrary<Filter> = fc.record({
    view,
    channel: part,
    assignee: part,
    label: part,
    search: fc.string(),
  });
  fc.assert(
    fc.property(filter, (one) => {
      expect(filterOf(queryOf(one))).toEqual(one);
    }),
  );
  expect(queryOf(filterOf("?view=other&x=1"))).toBe("");
});

test("a contact's message opens WhatsApp's window for a day, and nothing closes it again", () => {
  const whatsapp = { id: "chn_1", kind: "whatsapp", name: "WA" } as const;
  const createdAt = time(0);
  const until = (minutes: number) => new Date(Date.parse(time(minutes)) + 86_400_000).toISOString();
  const before = chat("a", { channel: whatsapp, createdAt, replyUntil: createdAt });
  const first = afterMessage(before, message(1));
  expect(first.replyUntil).toBe(until(1));
  expect(afterMessage(first, message(2, { direction: "OUTBOUND" })).replyUntil).toBe(until(1));
  // A message that its network delivered late.
  const late = { ...message(2), networkTime: time(-600) };
  expect(afterMessage(first, late).replyUntil).toBe(until(1));
  const older = { type: "chat.updated", chatId: "a", data: { chat: before } } as unknown as FollowedEvent;
  expect(afterEvent(first, older).replyUntil).toBe(until(1));
  expect(afterMessage(chat("b"), message(1)).replyUntil).toBeNull();
});
