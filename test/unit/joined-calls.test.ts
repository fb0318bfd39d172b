import { expect, test } from "vitest";
import { JoinedCalls } from "../../src/joined-calls.ts";

const ctx = { waitUntil: () => {} };

/** Calls that end when they are told to: `end(n)` answers the nth call with its items doubled, `fail(n)` breaks it. */
function calls() {
  const joined = new JoinedCalls<number, number>(true);
  const made: { items: number[]; end(): void; fail(): void }[] = [];
  const call = (items: number[]) =>
    new Promise<number[]>((resolve, reject) => {
      const end = () => resolve(items.map((item) => item * 2));
      made.push({ items, end, fail: () => reject(new Error(`call of ${items.join()}`)) });
    });
  const ask = (item: number, name = "a") => joined.ask(ctx, name, item, call);
  const items = () => made.map((each) => each.items);
  return { ask, made, items };
}

/** Lets everything run that waits for nothing but its turn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

test("up to four go at once and alone; who comes then shares the next call, and each has its own answer", async () => {
  const { ask, made, items } = calls();
  const answers = Promise.all([1, 2, 3, 4, 5, 6, 7].map((item) => ask(item)));
  expect(items()).toEqual([[1], [2], [3], [4]]);
  made[1]?.end();
  await settled();
  expect(items()).toEqual([[1], [2], [3], [4], [5, 6, 7]]);
  for (const each of made) each.end();
  expect(await answers).toEqual([2, 4, 6, 8, 10, 12, 14]);
});

test("no one joins a call that has been made", async () => {
  const { ask, made, items } = calls();
  const first = [1, 2, 3, 4, 5].map((item) => ask(item));
  made[0]?.end();
  await settled();
  const late = ask(6);
  await settled();
  expect(items()).toEqual([[1], [2], [3], [4], [5]]);
  for (const each of made) each.end();
  await settled();
  expect(items()[5]).toEqual([6]);
  made[5]?.end();
  expect(await Promise.all([...first, late])).toEqual([2, 4, 6, 8, 10, 12]);
});

test("lines of different names do not wait for each other", () => {
  const { ask, items } = calls();
  for (const name of ["a", "b"]) for (const item of [1, 2, 3, 4]) void ask(item, name);
  expect(items()).toHaveLength(8);
});

test("where a joint call fails each of the others makes its own, and the line goes on", async () => {
  const { ask, made, items } = calls();
  const first = [1, 2, 3, 4].map((item) => ask(item));
  const [leader, ...others] = [5, 6, 7].map((item) => ask(item));
  made[0]?.end();
  await settled();
  expect(items()[4]).toEqual([5, 6, 7]);
  made[4]?.fail();
  await expect(leader).rejects.toThrow("call of 5,6,7");
  await settled();
  expect(items().slice(5)).toEqual([[6], [7]]);
  const last = ask(8);
  for (const each of made) each.end();
  await settled();
  for (const each of made) each.end();
  expect(await Promise.all([...first, ...others, last])).toEqual([2, 4, 6, 8, 12, 14, 16]);
});

test("at most a hundred share a call, in the order in which they came", async () => {
  const { ask, made, items } = calls();
  const all = Array.from({ length: 254 }, (_, item) => item);
  const answers = Promise.all(all.map((item) => ask(item)));
  for (let ended = 0; ended < made.length; ended++) {
    made[ended]?.end();
    await settled();
  }
  expect(items().map((each) => each.length)).toEqual([1, 1, 1, 1, 100, 100, 50]);
  expect(items().flat()).toEqual(all);
  expect(await answers).toEqual(all.map((item) => item * 2));
});

test("each call outlives the request that makes it", async () => {
  const kept: Promise<unknown>[] = [];
  const joined = new JoinedCalls<number, number>(true);
  await joined.ask({ waitUntil: (promise) => void kept.push(promise) }, "a", 1, async (items) => items);
  expect(kept).toHaveLength(1);
});

test("a runtime in which no request may wait for another's promise joins nothing", async () => {
  const joined = new JoinedCalls<number, number>(false);
  const sizes: number[] = [];
  const call = async (items: number[]) => {
    sizes.push(items.length);
    return items;
  };
  await Promise.all(Array.from({ length: 10 }, (_, item) => joined.ask(ctx, "a", item, call)));
  expect(sizes).toEqual(Array.from({ length: 10 }, () => 1));
});
