import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { settle } from "../fake-clock.ts";
import { objectWith, Part, QuickPart } from "./due-parts.ts";

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
});

test("the next alarm is set by what is due when the parts have run", async () => {
  const { clock, stored, due, one, other } = objectWith({ one: new QuickPart(), other: new QuickPart() });
  one.at = clock.now() + 60_000;
  other.at = clock.now() + 40_000;
  await due.ring();
  expect(stored.sets).toEqual([clock.now() + 40_000]);
  expect([one.count, other.count]).toEqual([1, 1]);
});

test("an alarm that the platform repeats stands while the parts run: the platform gives up after a few times", async () => {
  const { clock, stored, due, one } = objectWith({ one: new QuickPart() });
  one.at = clock.now() + 60_000;
  await due.ring({ isRetry: true });
  expect(stored.sets).toEqual([clock.now() + 30_000, clock.now() + 60_000]);
});

test("nothing due leaves no alarm", async () => {
  const { stored, due } = objectWith({ one: new QuickPart() });
  await due.ring();
  expect(stored.at).toBeNull();
});

test("after a deletion, what was under way sets no alarm", async () => {
  const { clock, stored, due, background, slow } = objectWith({ slow: new Part() });
  slow.at = clock.now();
  const rung = due.ring();
  await settle();
  stored.at = null;
  slow.at = null;
  due.forget();
  clock.advance(5_000);
  await rung;
  slow.runs[0]?.resolve();
  await Promise.all(background);
  expect(slow.forgotten).toBe(1);
  expect(stored.at).toBeNull();
});

test("a later alarm that is asked for while one works is set at its end: before, it would replace the platform's repeat", async () => {
  const { clock, stored, alarm, due, slow } = objectWith({ slow: new Part() });
  const tomorrow = clock.now() + 86_400_000;
  slow.at = clock.now();
  const rung = due.ring();
  await settle();
  await alarm.by(tomorrow);
  expect(alarm.isBy(tomorrow)).toBe(true);
  expect(stored.sets).toEqual([]);
  slow.at = tomorrow;
  slow.runs[0]?.resolve();
  await rung;
  expect(stored.sets).toEqual([tomorrow]);
  await alarm.by(tomorrow - 1);
  expect(stored.sets).toEqual([tomorrow, tomorrow - 1]);
});

test("an alarm that is asked for after a deletion, or in a repeated alarm, is set at once", async () => {
  const { clock, stored, alarm, due, slow } = objectWith({ slow: new Part() });
  const rung = due.ring();
  await settle();
  due.forget();
  await alarm.by(clock.now() + 60_000);
  expect(stored.sets).toEqual([clock.now() + 60_000]);
  clock.advance(5_000);
  await rung;
  const repeated = due.ring({ isRetry: true });
  await settle();
  await alarm.by(clock.now() + 1_000);
  expect(stored.sets.slice(1)).toEqual([clock.now() + 30_000, clock.now() + 1_000]);
  clock.advance(5_000);
  await repeated;
  for (const run of slow.runs) run.resolve();
});

test.each([
  ["an alarm is set for what a deletion leaves", 0],
  ["an alarm throws if none can be set for what a deletion leaves: the platform repeats it", 1],
])("%s", async (_name, fails) => {
  const { clock, stored, due, slow } = objectWith({ slow: new Part() });
  slow.at = clock.now();
  const rung = due.ring();
  await settle();
  stored.at = null;
  due.forget();
  slow.at = clock.now() + 60_000;
  stored.fails = fails;
  slow.runs[0]?.resolve();
  if (fails > 0) await expect(rung).rejects.toThrow("No storage");
  else {
    await rung;
    expect(stored.at).toBe(clock.now() + 60_000);
  }
});

test("an alarm that can't be set is no fault while one stands, and throws if none does", async () => {
  const { clock, stored, due, one } = objectWith({ one: new QuickPart() });
  one.at = clock.now();
  stored.fails = 1;
  await due.ring({ isRetry: true });
  expect(stored.at).toBe(clock.now());
  stored.fails = 1;
  await expect(due.ring()).rejects.toThrow("The alarm can't be set");
  stored.fails = 2;
  await expect(due.ring({ isRetry: true })).rejects.toThrow("The alarm can't be set");
});

test.each([
  ["there is none", null, true],
  ["it should have rung two minutes ago", -120_000, true],
  ["it is much later than what is due", 60_000, true],
  ["it is due since a moment", -119_000, false],
  ["it is set soon", 30_000, false],
])("an alarm for what is overdue is set again if %s", async (_name, inMs, isLost) => {
  const { clock, stored, alarm, due, one } = objectWith({ one: new QuickPart() });
  one.at = clock.now() - 300_000;
  // What this instance remembers does not count: the platform gives up an alarm without notice.
  await alarm.by(clock.now());
  stored.at = inMs === null ? null : clock.now() + inMs;
  const before = stored.at;
  expect(await due.renew(true)).toBe(isLost);
  expect(stored.at).toBe(isLost ? clock.now() + 15_000 : before);
});

test("an alarm that is renewed for one object alone begins at once, and one for later work at its time", async () => {
  const { clock, stored, due, one } = objectWith({ one: new QuickPart() });
  expect(await due.renew(false)).toBe(false);
  expect(stored.at).toBeNull();
  one.at = clock.now() - 1;
  expect(await due.renew(false)).toBe(true);
  expect(stored.at).toBe(clock.now());
  stored.at = null;
  one.at = clock.now() + 86_400_000;
  expect(await due.renew(true)).toBe(true);
  expect(stored.at).toBe(one.at);
});

test("an alarm that rings, or is being set, is not renewed", async () => {
  const { clock, stored, alarm, due, one } = objectWith({ one: new QuickPart() });
  one.at = clock.now() - 1;
  alarm.rang();
  expect(await due.renew(false)).toBe(false);
  alarm.gone();
  const renewing = due.renew(false);
  await alarm.set(clock.now() + 5_000);
  expect(await renewing).toBe(false);
  expect(stored.sets).toEqual([clock.now() + 5_000]);
});

test("if the platform refuses the new alarm, the next call sets it", async () => {
  const { clock, stored, due, one } = objectWith({ one: new QuickPart() });
  one.at = clock.now() - 1;
  stored.fails = 1;
  await expect(due.renew(false)).rejects.toThrow("No storage");
  expect(await due.renew(false)).toBe(true);
  expect(stored.at).toBe(clock.now());
});
