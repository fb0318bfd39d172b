import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { settle } from "../fake-clock.ts";
import { objectWith, Part, QuickPart } from "./due-parts.ts";

let errors: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  errors = vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
});

test("a part that throws is logged, rests longer each time, and holds up no other", async () => {
  const { clock, stored, due, bad, good } = objectWith({ bad: new QuickPart(), good: new QuickPart() });
  bad.error = new Error("Broken");
  bad.at = clock.now();
  await due.ring();
  expect(stored.at).toBe(clock.now() + 5_000);
  expect(errors).toHaveBeenCalledWith({
    event: "alarm_part_failed",
    object: "test",
    part: "bad",
    error: expect.stringContaining("Broken"),
  });
  await due.ring();
  expect([bad.count, good.count]).toEqual([1, 2]);
  clock.advance(5_000);
  await due.ring();
  expect(bad.count).toBe(2);
  expect(stored.at).toBe(clock.now() + 10_000);
  bad.error = null;
  clock.advance(10_000);
  await due.ring();
  bad.error = new Error("Broken again");
  await due.ring();
  expect(stored.at).toBe(clock.now() + 5_000);
});

test("a rest that began after now does not matter: the clock was set back", async () => {
  const { clock, due, bad } = objectWith({ bad: new QuickPart() });
  bad.error = new Error("Broken");
  await due.ring();
  clock.advance(-1_000);
  await due.ring();
  expect(bad.count).toBe(2);
});

test("a part that works again no longer rests: an alarm that passed it over would ring again at once", async () => {
  const { clock, stored, due, bad } = objectWith({ bad: new QuickPart() });
  bad.error = new Error("Broken");
  await due.ring();
  bad.error = null;
  bad.at = clock.now();
  due.start(bad, true);
  await settle();
  await due.ring();
  expect(bad.count).toBe(3);
  expect(stored.at).toBe(clock.now());
});

test("an alarm waits five seconds for a part that hangs, which is not run again and sets the alarm when it ends", async () => {
  const { clock, stored, due, background, slow, good } = objectWith({ slow: new Part(), good: new QuickPart() });
  slow.at = clock.now();
  const rung = due.ring();
  await settle();
  clock.advance(5_000);
  await rung;
  expect(stored.at).toBe(clock.now() + 30_000);
  await due.ring();
  expect([slow.runs.length, good.count]).toEqual([1, 2]);
  slow.at = clock.now() + 1_000;
  slow.runs[0]?.resolve();
  await Promise.all(background);
  expect(stored.at).toBe(clock.now() + 1_000);
});

test("a part that never ends has failed after its deadline, and is run again", async () => {
  const { clock, due, slow } = objectWith({ slow: new Part() });
  slow.at = clock.now();
  const rung = due.ring();
  await settle();
  clock.advance(5_000);
  await rung;
  clock.advance(355_000);
  await settle();
  expect(errors).toHaveBeenCalledTimes(1);
  clock.advance(5_000);
  void due.ring();
  await settle();
  expect(slow.runs).toHaveLength(2);
});

test("an alarm does not wait beyond what another part has to do, nor once something may be due soon", async () => {
  class SoonPart extends Part {
    override run(): Promise<void> {
      return undefined as never;
    }
  }
  const { clock, stored, due, soon, slow } = objectWith({ soon: new SoonPart(), slow: new Part() });
  soon.at = clock.now() + 1_000;
  const rung = due.ring();
  await settle();
  clock.advance(1_000);
  await rung;
  expect(stored.at).toBe(clock.now());
  slow.runs[0]?.resolve();
  await settle();
  soon.at = clock.now() + 60_000;
  const again = due.ring();
  await settle();
  soon.at = clock.now() + 2_000;
  due.release();
  await again;
  expect(stored.at).toBe(clock.now() + 2_000);
});

test("a part that is started runs once at a time, and sets the alarm when it ends", async () => {
  const { clock, stored, due, background, slow, other } = objectWith({ slow: new Part(), other: new QuickPart() });
  due.start(slow);
  due.start(slow);
  expect(slow.runs).toHaveLength(1);
  slow.at = clock.now() + 1_000;
  slow.runs[0]?.resolve();
  await Promise.all(background);
  expect([stored.at, other.count]).toEqual([clock.now() + 1_000, 0]);
});

test("a part that failed is not started while it rests", async () => {
  const { clock, stored, due, background, bad } = objectWith({ bad: new QuickPart() });
  bad.error = new Error("Broken");
  due.start(bad);
  await Promise.all(background);
  expect(stored.at).toBe(clock.now() + 5_000);
  due.start(bad);
  expect(bad.count).toBe(1);
  due.start(bad, true);
  expect(bad.count).toBe(2);
  await Promise.all(background);
  clock.advance(10_000);
  due.start(bad);
  expect(bad.count).toBe(3);
  await Promise.all(background);
});

test("an alarm waits for a part that was started before it", async () => {
  const { stored, due, slow } = objectWith({ slow: new Part() });
  due.start(slow);
  const rung = due.ring();
  await settle();
  slow.runs[0]?.resolve();
  await rung;
  expect([slow.runs.length, stored.at]).toEqual([1, null]);
});

test("a part that can't say when it is due rests, and the others' times hold", async () => {
  const { clock, stored, due, bad, good } = objectWith({ bad: new QuickPart(), good: new QuickPart() });
  bad.dueAt = () => {
    throw new Error("Unreadable");
  };
  good.at = clock.now() + 1_000;
  await due.ring();
  expect(stored.at).toBe(clock.now() + 1_000);
  good.at = null;
  await due.ring();
  expect(stored.at).toBe(clock.now() + 5_000);
});
