import { expect, test } from "vitest";
import { doEach, MAX_CONCURRENT, settleEach } from "../../../src/platform/concurrency.ts";
import { untilLength } from "../../support/until.ts";

const items = Array.from({ length: 3 * MAX_CONCURRENT }, (_, n) => n);

test("an item that fails stops no other one, and is returned with its error", async () => {
  const done: number[] = [];
  const failed = await settleEach(items, async (item) => {
    if (item % 25 === 0) throw new Error(`no ${item}`);
    done.push(item);
  });
  expect(done).toEqual(items.filter((item) => item % 25 !== 0));
  expect(failed).toEqual([0, 25, 50].map((item) => ({ item, error: new Error(`no ${item}`) })));
});

test("work that throws at once counts as failed too", async () => {
  const failed = await settleEach([1, 2], (item) => {
    throw new Error(String(item));
  });
  expect(failed.map(({ item }) => item)).toEqual([1, 2]);
});

test("an item that never ends holds up no other one, and 20 run at once", async () => {
  let underWay = 0;
  let most = 0;
  const done: number[] = [];
  void settleEach(items, async (item) => {
    most = Math.max(most, ++underWay);
    await (item === 3 ? new Promise(() => {}) : Promise.resolve());
    underWay--;
    done.push(item);
  });
  await untilLength(done, items.length - 1);
  expect(most).toBe(MAX_CONCURRENT);
});

test.each([
  [MAX_CONCURRENT - 1, 0],
  [MAX_CONCURRENT, MAX_CONCURRENT],
  [3 * MAX_CONCURRENT, 3 * MAX_CONCURRENT],
])("of %i items, a worker pauses after %i, so that other requests are read", async (count, wanted) => {
  const done: number[] = [];
  const doneAtPause: number[] = [];
  const wait = async () => void doneAtPause.push(done.length);
  expect(await settleEach(items.slice(0, count), async (item) => void done.push(item), { wait })).toEqual([]);
  expect(done).toHaveLength(count);
  expect(doneAtPause).toHaveLength(wanted);
});

test("the first error is thrown after all have ended", async () => {
  const done: number[] = [];
  const all = doEach(items, async (item) => {
    if (item === 0) throw new Error("no");
    await Promise.resolve();
    done.push(item);
  });
  await expect(all).rejects.toThrow("no");
  expect(done).toHaveLength(items.length - 1);
});
