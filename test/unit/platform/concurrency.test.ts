import { expect, test } from "vitest";
import { doEach, MAX_CONCURRENT, settleEach } from "../../../src/platform/concurrency.ts";

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
  await scheduler.wait(0);
  expect([done.length, most]).toEqual([items.length - 1, MAX_CONCURRENT]);
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
