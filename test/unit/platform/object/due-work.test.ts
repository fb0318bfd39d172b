import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StandingAlarm } from "../../../../src/platform/object/alarm.ts";
import { type DuePart, DueWork } from "../../../../src/platform/object/due-work.ts";
import { FakeClock } from "../fake-clock.ts";

let errors: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  errors = vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A part that is due at `at`, whose runs the test ends: `runs[n].resolve()`. */
class Part implements DuePart {
  at: number | null = null;
  readonly runs: PromiseWithResolvers<void>[] = [];
  forgotten = 0;

  dueAt(): number | null {
    return this.at;
  }

  run(): Promise<void> {
    const run = Promise.withResolvers<void>();
    this.runs.push(run);
    return run.promise;
  }

  forget(): void {
    this.forgotten++;
  }
}

/** Like `Part`, but it ends at once, and throws `error` if there is one. */
class QuickPart extends Part {
  error: Error | null = null;
  count = 0;

  override async run(): Promise<void> {
    this.count++;
    if (this.error) throw this.error;
  }
}

function objectWith<Parts extends Record<string, DuePart>>(parts: Parts) {
  const clock = new FakeClock();
  const stored = { at: null as number | null, sets: [] as (number | null)[], fails: 0 };
  const set = async (at: number | null) => {
    if (stored.fails-- > 0) throw new Error("No storage");
    stored.at = at;
    stored.sets.push(at);
  };
  const alarm = new StandingAlarm({
    getAlarm: async () => stored.at,
    setAlarm: (at) => set(Number(at)),
    deleteAlarm: () => set(null),
  });
  const background: Promise<unknown>[] = [];
  const waitUntil = (work: Promise<unknown>) => void background.push(work);
  const due = new DueWork({ name: "test", alarm, waitUntil, clock }, parts);
  return { clock, stored, alarm, due, background, ...parts };
}

/** Lets everything happen that needs no time. */
async function settled(): Promise<void> {
  for (let steps = 0; steps < 20; steps++) await Promise.resolve();
}

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
  await settled();
  await due.ring();
  expect(bad.count).toBe(3);
  expect(stored.at).toBe(clock.now());
});

test("an alarm waits five seconds for a part that hangs, which is not run again and sets the alarm when it ends", async () => {
  const { clock, stored, due, background, slow, good } = objectWith({ slow: new Part(), good: new QuickPart() });
  slow.at = clock.now();
  const rung = due.ring();
  await settled();
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
  await settled();
  clock.advance(5_000);
  await rung;
  clock.advance(355_000);
  await settled();
  expect(errors).toHaveBeenCalledTimes(1);
  clock.advance(5_000);
  void due.ring();
  await settled();
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
  await settled();
  clock.advance(1_000);
  await rung;
  expect(stored.at).toBe(clock.now());
  slow.runs[0]?.resolve();
  await settled();
  soon.at = clock.now() + 60_000;
  const again = due.ring();
  await settled();
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
  await settled();
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

test("after a deletion, what was under way sets no alarm", async () => {
  const { clock, stored, due, background, slow } = objectWith({ slow: new Part() });
  slow.at = clock.now();
  const rung = due.ring();
  await settled();
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
  await settled();
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
  await settled();
  due.forget();
  await alarm.by(clock.now() + 60_000);
  expect(stored.sets).toEqual([clock.now() + 60_000]);
  clock.advance(5_000);
  await rung;
  const repeated = due.ring({ isRetry: true });
  await settled();
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
  await settled();
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
