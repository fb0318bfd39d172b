import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BatchedCalls } from "../../../src/calls/batched-calls.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const ctx = { waitUntil: () => {} };

/** Calls that the test ends: `end(n)` resolves the nth call with its items doubled, and `fail(n)` rejects it. */
function calls() {
  const joined = new BatchedCalls<number, number>(true);
  const made: { items: number[]; isRepeat: boolean; end(): void; fail(): void }[] = [];
  const call = (items: number[], isRepeat: boolean) =>
    new Promise<number[]>((resolve, reject) => {
      const end = () => resolve(items.map((item) => item * 2));
      made.push({ items, isRepeat, end, fail: () => reject(new Error(`call of ${items.join()}`)) });
    });
  const ask = (item: number, name = "a") => joined.ask(ctx, name, item, call);
  const items = () => made.map((each) => each.items);
  const repeats = () => made.filter(({ isRepeat }) => isRepeat).map((each) => each.items);
  return { ask, made, items, repeats };
}

/** Lets all work run that does not wait for anything else. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

test("a single request starts a call; requests during the call share the next one, and each gets its own result", async () => {
  const { ask, made, items } = calls();
  const answers = Promise.all([1, 2, 3, 4].map((item) => ask(item)));
  expect(items()).toEqual([[1]]);
  made[0]?.end();
  await settled();
  expect(items()).toEqual([[1], [2, 3, 4]]);
  made[1]?.end();
  expect(await answers).toEqual([2, 4, 6, 8]);
});

test("no request joins a call that has started", async () => {
  const { ask, made, items } = calls();
  const first = [1, 2, 3].map((item) => ask(item));
  made[0]?.end();
  await settled();
  const late = ask(4);
  await settled();
  expect(items()).toEqual([[1], [2, 3]]);
  made[1]?.end();
  await settled();
  expect(items()).toEqual([[1], [2, 3], [4]]);
  made[2]?.end();
  expect(await Promise.all([...first, late])).toEqual([2, 4, 6, 8]);
});

test("on a slow connection, a request does not wait long for a call that it can't join", async () => {
  const { ask, made, items } = calls();
  const first = ask(1);
  const others = [2, 3].map((item) => ask(item));
  vi.advanceTimersByTime(2);
  await settled();
  expect(items()).toEqual([[1]]);
  vi.advanceTimersByTime(1);
  await settled();
  expect(items()).toEqual([[1], [2, 3]]);
  made[1]?.end();
  made[0]?.end();
  expect(await Promise.all([first, ...others])).toEqual([2, 4, 6]);
});

test("the end of one call starts the next while others are running, and the queue ends with the last one", async () => {
  const { ask, made, items } = calls();
  const all = [ask(1), ask(2)];
  vi.advanceTimersByTime(3);
  await settled();
  all.push(ask(3), ask(4));
  made[1]?.end();
  await settled();
  expect(items()).toEqual([[1], [2], [3, 4]]);
  for (const each of made) each.end();
  expect(await Promise.all(all)).toEqual([2, 4, 6, 8]);
  void ask(5);
  expect(items()[3]).toEqual([5]);
});

test("queues with different names don't wait for each other", () => {
  const { ask, items } = calls();
  for (const name of ["a", "b"]) void ask(1, name);
  expect(items()).toHaveLength(2);
});

test("if a shared call fails, each of the other requests makes its own call, and the queue continues", async () => {
  const { ask, made, items, repeats } = calls();
  const first = ask(1);
  const [leader, ...others] = [2, 3, 4].map((item) => ask(item));
  made[0]?.end();
  await settled();
  expect(items()[1]).toEqual([2, 3, 4]);
  made[1]?.fail();
  await expect(leader).rejects.toThrow("call of 2,3,4");
  await settled();
  expect(items().slice(2)).toEqual([[3], [4]]);
  const last = ask(5);
  made[2]?.end();
  await settled();
  expect(items().slice(4)).toEqual([[5]]);
  for (const each of made) each.end();
  expect(await Promise.all([first, ...others, last])).toEqual([2, 6, 8, 10]);
  // The failed call may have reached the object.
  expect(repeats()).toEqual([[3], [4]]);
});

test("at most a hundred requests share a call, in the order of arrival", async () => {
  const { ask, made, items } = calls();
  const all = Array.from({ length: 251 }, (_, item) => item);
  const answers = Promise.all(all.map((item) => ask(item)));
  for (let ended = 0; ended < made.length; ended++) {
    made[ended]?.end();
    await settled();
  }
  expect(items().map((each) => each.length)).toEqual([1, 100, 100, 50]);
  expect(items().flat()).toEqual(all);
  expect(await answers).toEqual(all.map((item) => item * 2));
});

test("a request in a call that never ends makes its own call after ten seconds, and the queue starts again", async () => {
  const { ask, made, items } = calls();
  const lost = ask(1);
  const waiting = [2, 3].map((item) => ask(item));
  vi.advanceTimersByTime(3);
  await settled();
  vi.advanceTimersByTime(10_003);
  await settled();
  expect(items()).toEqual([[1], [2, 3], [3]]);
  made[2]?.end();
  expect(await waiting[1]).toBe(6);
  vi.setSystemTime(Date.now() + 10_001);
  void ask(4);
  expect(items()[3]).toEqual([4]);
  for (const each of made) each.end();
  expect(await Promise.all([lost, waiting[0]])).toEqual([2, 4]);
});

test("requests that went on alone are not waited for when their shared call fails late", async () => {
  const { ask, made, items, repeats } = calls();
  const first = ask(1);
  const [leader, other] = [2, 3].map((item) => ask(item));
  made[0]?.end();
  await settled();
  vi.advanceTimersByTime(3);
  vi.advanceTimersByTime(10_000);
  await settled();
  expect([items(), repeats()]).toEqual([[[1], [2, 3], [3]], [[3]]]);
  made[1]?.fail();
  made[2]?.end();
  await expect(leader).rejects.toThrow("call of 2,3");
  expect(await Promise.all([first, other])).toEqual([2, 6]);
  void ask(4);
  expect(items()[3]).toEqual([4]);
});

test("each call outlives the request that makes it", async () => {
  const kept: Promise<unknown>[] = [];
  const joined = new BatchedCalls<number, number>(true);
  await joined.ask({ waitUntil: (promise) => void kept.push(promise) }, "a", 1, async (items) => items);
  expect(kept).toHaveLength(1);
});

test("if the runtime forbids waiting for another request's promise, nothing is batched", async () => {
  const joined = new BatchedCalls<number, number>(false);
  const sizes: number[] = [];
  const call = async (items: number[]) => {
    sizes.push(items.length);
    return items;
  };
  await Promise.all(Array.from({ length: 10 }, (_, item) => joined.ask(ctx, "a", item, call)));
  expect(sizes).toEqual(Array.from({ length: 10 }, () => 1));
});
