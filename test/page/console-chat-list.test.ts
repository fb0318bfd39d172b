import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FollowedEvent } from "../../src/client/event.ts";
import type { Chat } from "../../src/web/console/api.ts";
import { NOBODY } from "../../src/web/console/inbox/chat-rows.ts";
import { Together } from "../../src/web/console/inbox/together.ts";
import { ids, numbers, scrollToTheEnd, settle } from "./console-chat-list.ts";
import { InboxService, ME } from "./inbox-service.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a few chats beside the list are asked for one by one", async () => {
  const service = new InboxService(1_000);
  const list = service.list();
  await list.load();
  service.asked.length = 0;
  list.take([service.writes(1), service.writes(2)]);
  await settle();
  expect(service.asked.map((path) => path.slice(-6))).toEqual([
    expect.stringMatching(/cht_1$/),
    expect.stringMatching(/cht_2$/),
  ]);
  expect(ids(list).slice(0, 2)).toEqual(["cht_2", "cht_1"]);
});

test("the unanswered list asks only for chats that a contact wrote in, and for none that stand on a page not loaded", async () => {
  const service = new InboxService(10);
  const list = service.list({ view: "unanswered" });
  await list.load();
  service.asked.length = 0;
  list.take([service.writes(1, "message.created"), service.writes(2)]);
  expect(service.asked).toEqual([expect.stringMatching(/cht_2$/)]);
  const busy = new InboxService(1_000, (n) => ({ unansweredSince: n > 100 ? new Date(n).toISOString() : null }));
  const long = busy.list({ view: "unanswered" });
  await long.load();
  busy.asked.length = 0;
  long.take([busy.writes(1)]);
  expect(busy.asked).toEqual([]);
});

test("the list of scheduled chats asks for none that only got a message", async () => {
  const service = new InboxService(10);
  const list = service.list({ view: "scheduled" });
  const scheduled = { ...service.writes(2), type: "message.scheduled" } as FollowedEvent;
  list.take([service.writes(1), scheduled]);
  expect(service.asked).toEqual([expect.stringMatching(/cht_2$/)]);
});

test("a member's own list asks for no chat if it has all: whose a chat becomes is in the event", async () => {
  const service = new InboxService(100, (n) => ({ assigneeId: n < 10 ? ME : null }));
  const list = service.list({ assignee: ME });
  await list.load();
  service.asked.length = 0;
  list.take([service.writes(50), service.assign(60, ME)]);
  await settle();
  expect(service.asked).toEqual([]);
  expect(ids(list)).toContain("cht_60");
});

test("rows that came one by one do not add up without end", async () => {
  const service = new InboxService(1_000);
  const list = service.list({ assignee: NOBODY });
  await list.load();
  list.openId = "cht_960";
  for (let n = 0; n < 500; n++) {
    list.take([service.create()]);
    await vi.advanceTimersByTimeAsync(100);
  }
  await settle();
  expect(ids(list).length).toBeLessThan(300);
  expect(ids(list)).toContain("cht_960");
});

test("what happens to a chat at once is one change of the list, and the newest counts", async () => {
  const service = new InboxService(10);
  const list = service.list();
  await list.load();
  let changes = -1;
  list.rows.subscribe(() => void changes++);
  list.take([service.writes(3), service.writes(5), service.writes(3)]);
  expect(changes).toBe(1);
  expect(list.rows.value.slice(0, 2).map(({ id, lastMessage }) => [id, lastMessage?.seq])).toEqual([
    ["cht_3", 3],
    ["cht_5", 2],
  ]);
});

const LABEL = "lbl_1";
const STEPS = fc.oneof(
  fc.record({
    does: fc.constantFrom(
      "received",
      "created",
      "mine",
      "freed",
      "deleted",
      "snoozed",
      "closed",
      "opened",
      "labeled",
      "unlabeled",
    ),
    n: fc.nat(),
    count: fc.integer({ min: 1, max: 12 }),
  }),
  fc.record({
    does: fc.constantFrom("new", "more", "load", "wait"),
    n: fc.nat(),
    count: fc.integer({ min: 1, max: 60 }),
  }),
);
type Step = typeof STEPS extends fc.Arbitrary<infer T> ? T : never;

/** An answer that is newer than the events of its way: the assignment showed the chat before its message. */
const ANSWER_NEWER_THAN_EVENTS: Step[] = [
  { does: "wait", n: 0, count: 1 },
  { does: "deleted", n: 2, count: 9 },
  { does: "more", n: 0, count: 1 },
  { does: "load", n: 0, count: 1 },
  { does: "mine", n: 908_180_146, count: 1 },
  { does: "new", n: 0, count: 12 },
  { does: "received", n: 889_307_892, count: 2 },
];

/** What a step does in the service: the events of it. */
function eventsOf(service: InboxService, { does, n, count }: Step): FollowedEvent[] {
  return numbers(count).flatMap((each) => {
    if (does === "new") return service.create();
    const chats = [...service.chats.keys()];
    const chosen = Number(chats[(n + each * 7) % chats.length]?.slice(4));
    const isOpen = service.chats.get(`cht_${chosen}`)?.state === "open";
    if (does === "received") return [service.writes(chosen), ...(isOpen ? [] : [service.move(chosen, "open")])];
    if (does === "labeled" || does === "unlabeled") return service.label(chosen, LABEL, does === "labeled");
    if (does === "opened") return service.move(chosen, "open");
    if (does === "snoozed" || does === "closed") return service.move(chosen, does);
    if (does === "created") return service.writes(chosen, "message.created");
    if (does === "mine") return service.assign(chosen, ME);
    if (does === "freed") return service.assign(chosen, null);
    return chats.length > 1 ? service.delete(chosen) : [];
  });
}

test.each([
  ["all chats", {}],
  ["the unanswered ones", { view: "unanswered" }],
  ["the open ones", { view: "open" }],
  ["the snoozed ones", { view: "snoozed" }],
  ["those with a label", { label: LABEL }],
  ["the unanswered ones with a label", { view: "unanswered", label: LABEL }],
  ["a member's closed ones", { view: "closed", assignee: ME }],
  ["those of a member", { assignee: ME }],
  ["nobody's", { assignee: NOBODY }],
  ["a member's unanswered ones", { view: "unanswered", assignee: ME }],
] as const)(
  "whatever happens while answers are on their way, the list ends as the service has it: %s",
  async (_name, filter) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(3, 45, 180),
        fc.array(fc.record({ step: STEPS, delayMs: fc.constantFrom(0, 5, 300, 3_000) }), { maxLength: 25 }),
        async (count, steps) => {
          const service = new InboxService(count, (n) => ({
            assigneeId: n % 3 === 0 ? ME : null,
            unansweredSince: n % 2 === 0 ? new Date(n).toISOString() : null,
            labels: n % 4 === 0 ? [{ id: LABEL, name: LABEL }] : [],
            state: n % 5 === 1 ? ("snoozed" as const) : n % 10 === 3 ? ("closed" as const) : ("open" as const),
          }));
          const list = service.list(filter);
          void list.load();
          for (const { step, delayMs } of steps) {
            service.delay = () => new Promise((resolve) => setTimeout(resolve, delayMs));
            if (step.does === "more") void list.more();
            else if (step.does === "load") void list.load();
            else if (step.does === "wait") await vi.advanceTimersByTimeAsync(step.count * 20);
            else list.take(eventsOf(service, step));
          }
          await settle();
          await scrollToTheEnd(list);
          expect(list.rows.value).toEqual(service.rows(filter));
        },
      ),
      { numRuns: 200, examples: [[180, ANSWER_NEWER_THAN_EVENTS.map((step) => ({ step, delayMs: 0 }))]] },
    );
  },
);

test("the first events are taken at once, and what else comes right then together", async () => {
  const taken: number[][] = [];
  const events = new Together<number>({ everyMs: 200, atOnce: 2 }, (items) => taken.push(items));
  for (const n of [1, 2, 3, 4]) events.add(n);
  expect(taken).toEqual([[1], [2]]);
  await vi.advanceTimersByTimeAsync(200);
  expect(taken).toEqual([[1], [2], [3, 4]]);
  for (const n of [5, 6, 7]) events.add(n);
  events.stop();
  await vi.advanceTimersByTimeAsync(400);
  expect(taken).toEqual([[1], [2], [3, 4], [5], [6]]);
});

test("the list of mentions follows new and deleted ones, and asks for no chat", async () => {
  const service = new InboxService(120);
  for (const n of numbers(80)) service.mention(n, true);
  const list = service.list({ view: "mentions" });
  await list.load();
  const shows = () =>
    expect(ids(list)).toEqual(
      service
        .rows({ view: "mentions" })
        .slice(0, ids(list).length)
        .map(({ id }) => id),
    );
  expect(ids(list)).toHaveLength(50);
  shows();
  service.asked.length = 0;
  // A message leaves a chat in its place, and an answer about it does not say that it is mentioned.
  list.take([service.writes(79), service.writes(110)]);
  const { mention: _mention, ...shown } = service.chats.get("cht_79") ?? expect.unreachable();
  list.put(shown);
  await settle();
  expect(service.asked.filter((path) => /cht_/.test(path))).toEqual([]);
  shows();
  list.openId = "cht_79";
  list.take([service.mention(110, true), service.mention(79, false), service.mention(3, true)]);
  await settle();
  expect(ids(list).slice(0, 2)).toEqual(["cht_3", "cht_110"]);
  expect(ids(list)).not.toContain("cht_79");
  shows();
  await scrollToTheEnd(list);
  expect(ids(list)).toEqual(service.rows({ view: "mentions" }).map(({ id }) => id));
});

test("a chat that was closed while it was open leaves the inbox once another one is open, or none", async () => {
  const service = new InboxService(3);
  const list = service.list({ view: "open" });
  await list.load();
  const [first = "", second = ""] = ids(list);
  for (const [id, next] of [
    [first, second],
    [second, null],
  ] as const) {
    list.openId = id;
    list.left();
    const chat = list.rows.value.find((row) => row.id === id) as Chat;
    list.put({ ...chat, state: "closed" });
    expect(ids(list)).toContain(id);
    list.openId = next;
    list.left();
    expect(ids(list)).not.toContain(id);
  }
  expect(ids(list)).toHaveLength(1);
});
