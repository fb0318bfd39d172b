import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ParleyError } from "../../src/client/error.ts";
import { ids, numbers, scrollToTheEnd, settle } from "./console-chat-list.ts";
import { InboxService, ME } from "./inbox-service.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("messages of many chats beside the list load it again once, and not each chat", async () => {
  const service = new InboxService(1_000);
  const list = service.list();
  await list.load();
  service.asked.length = 0;
  list.take(numbers(100).map((n) => service.writes(n)));
  await vi.advanceTimersByTimeAsync(1_900);
  list.take(numbers(100, 100).map((n) => service.writes(n)));
  await vi.advanceTimersByTimeAsync(1_900);
  expect(service.asked).toEqual([expect.stringMatching(/\/chats\?/)]);
  await scrollToTheEnd(list);
  expect(ids(list)).toEqual(service.rows().map(({ id }) => id));
});

test("a list that could not be loaded again says so, and is complete once its screen loads it", async () => {
  const service = new InboxService(1_000);
  const list = service.list();
  await list.load();
  service.delay = () => Promise.reject(new ParleyError("The service is down", { status: 503, code: "unavailable" }));
  list.take(numbers(6).map((n) => service.writes(n)));
  await settle();
  expect(list.error.value).not.toBeNull();
  // The screen repeats it, with a back-off that all that failed has together.
  service.asked.length = 0;
  await settle();
  expect(service.asked).toEqual([]);
  service.delay = async () => {};
  await list.load();
  expect(list.error.value).toBeNull();
  expect(ids(list)).toEqual(expect.arrayContaining(numbers(6).map((n) => `cht_${n}`)));
});

test("a list that is no longer shown is not loaded again", async () => {
  const service = new InboxService(1_000);
  const list = service.list();
  await list.load();
  list.take(numbers(6).map((n) => service.writes(n)));
  list.stop();
  service.asked.length = 0;
  await settle();
  expect(service.asked).toEqual([]);
});

test("a list that is refused is not tried again automatically", async () => {
  const service = new InboxService(1_000);
  const list = service.list();
  await list.load();
  service.delay = () => Promise.reject(new ParleyError("Signed out", { status: 401, code: "invalid_session" }));
  service.asked.length = 0;
  list.take(numbers(6).map((n) => service.writes(n)));
  await settle();
  expect(service.asked).toHaveLength(1);
  expect(list.error.value?.status).toBe(401);
});

test.each([
  ["shows what comes", false],
  ["says what is wrong", true],
])("a list that is asked for more often than answers come %s", async (_name, isDown) => {
  const service = new InboxService(10);
  const list = service.list();
  service.delay = async () => {
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    if (isDown) throw new ParleyError("The service is down", { status: 503, code: "unavailable" });
  };
  for (let poll = 0; poll < 3; poll++) {
    void list.load();
    await vi.advanceTimersByTimeAsync(3_000);
  }
  expect(list.state.value).toBe("ready");
  expect([ids(list).length, list.error.value?.status ?? null]).toEqual(isDown ? [0, 503] : [10, null]);
});

test("a page that the reader waits for comes also if the list was loaded again meanwhile", async () => {
  const service = new InboxService(200);
  const list = service.list();
  await list.load();
  service.delay = () => new Promise((resolve) => setTimeout(resolve, 3_000));
  void list.more();
  service.delay = async () => {};
  await list.load();
  await settle();
  expect(ids(list)).toHaveLength(100);
});

test("a list that is loaded again keeps as many rows as were loaded, and changes once", async () => {
  const service = new InboxService(180);
  const list = service.list();
  await list.load();
  await list.more();
  list.openId = "cht_100";
  // Nothing tells of it.
  service.writes(3);
  const lengths: number[] = [];
  const stop = list.rows.subscribe((rows) => void lengths.push(rows.length));
  await list.load();
  stop();
  expect(lengths).toEqual([100, 100]);
  expect(ids(list)).toEqual(
    service
      .rows()
      .slice(0, 100)
      .map(({ id }) => id),
  );
});

test("a list that is loaded again has at most 200 rows and the open chat, however far the reader went", async () => {
  const service = new InboxService(1_000);
  const list = service.list();
  await list.load();
  await scrollToTheEnd(list);
  expect(ids(list)).toHaveLength(1_000);
  list.openId = "cht_5";
  service.asked.length = 0;
  await list.load();
  expect(service.asked).toHaveLength(4);
  expect(ids(list)).toEqual([
    ...service
      .rows()
      .slice(0, 200)
      .map(({ id }) => id),
    "cht_5",
  ]);
  await list.load();
  expect(service.asked).toHaveLength(8);
});

test("a chat that moves to the first page while the second one is read again is in neither, and stays in the list", async () => {
  const service = new InboxService(60, () => ({ assigneeId: ME }));
  const list = service.list({ assignee: ME });
  await list.load();
  await scrollToTheEnd(list);
  service.delay = () => new Promise((resolve) => setTimeout(resolve, 300));
  void list.load();
  await vi.advanceTimersByTimeAsync(150);
  list.take([service.writes(4)]);
  await settle();
  expect(ids(list)).toHaveLength(60);
  expect(list.rows.value).toEqual(service.rows({ assignee: ME }));
});
