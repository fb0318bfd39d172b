import { StandingAlarm } from "../../../../src/platform/object/alarm.ts";
import { type DuePart, DueWork } from "../../../../src/platform/object/due-work.ts";
import { FakeClock } from "../fake-clock.ts";

/** A part that is due at `at`, whose runs the test ends: `runs[n].resolve()`. */
export class Part implements DuePart {
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
export class QuickPart extends Part {
  error: Error | null = null;
  count = 0;

  override async run(): Promise<void> {
    this.count++;
    if (this.error) throw this.error;
  }
}

/** An object whose due work is that of these parts, with its clock and what is stored of its alarm. */
export function objectWith<Parts extends Record<string, DuePart>>(parts: Parts) {
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
