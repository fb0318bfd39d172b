import { expect, test } from "vitest";
import { Turns } from "../../../../../src/chats/object/scheduled/turns.ts";
import { FakeClock, settle } from "../../../platform/fake-clock.ts";

/** Chats that ask for a turn at the same time, and when each began, in milliseconds from then. */
function crowd(count: number) {
  const clock = new FakeClock();
  const turns = new Turns(clock);
  const start = clock.now();
  const begun: number[] = [];
  const ask = () => turns.begin().then(() => void begun.push(clock.now() - start));
  for (let n = 0; n < count; n++) void ask();
  return { clock, begun, ask };
}

test("a chat alone begins at once, and so does one that comes later", async () => {
  const { clock, begun, ask } = crowd(1);
  await settle();
  expect(begun).toEqual([0]);
  await clock.pass(1_000);
  void ask();
  await settle();
  expect(begun).toEqual([0, 1_000]);
});

test("chats whose messages are due at the same time begin one after the other", async () => {
  const { clock, begun } = crowd(5);
  await clock.pass(100);
  expect(begun).toEqual([0, 8, 16, 24, 32]);
});

test("if the thread was busy until the turns of many had come, one begins, and the others wait again", async () => {
  const { clock, begun } = crowd(5);
  await settle();
  clock.advance(50);
  await settle();
  expect(begun).toEqual([0, 50]);
  await clock.pass(100);
  expect(begun).toEqual([0, 50, 58, 66, 74]);
});

test("the last of a thousand chats begins after eight seconds", async () => {
  const { clock, begun } = crowd(1_000);
  await clock.pass(8_000);
  expect(begun).toHaveLength(1_000);
  expect(begun.at(-1)).toBe(999 * 8);
});

test("no chat waits for longer than ten seconds, however many are due", async () => {
  const { clock, begun } = crowd(2_000);
  await clock.pass(10_100);
  expect(begun).toHaveLength(2_000);
  expect(begun.filter((at) => at === 0)).toHaveLength(2_000 - 1_250);
});

test("a clock that was set back delays nothing", async () => {
  const { clock, begun, ask } = crowd(1);
  await settle();
  clock.advance(-60_000);
  void ask();
  await settle();
  expect(begun).toEqual([0, -60_000]);
});

test("nor if the thread is so busy that most wait for several turns", async () => {
  const { clock, begun } = crowd(2_000);
  await settle();
  for (let seconds = 0; seconds < 11; seconds++) {
    clock.advance(1_000);
    await settle();
  }
  expect(begun).toHaveLength(2_000);
  expect(Math.max(...begun)).toBeLessThanOrEqual(11_000);
});
