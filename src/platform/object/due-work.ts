import { type Backoff, doublingMs } from "../backoff.ts";
import { type Clock, SYSTEM_CLOCK } from "../clock.ts";
import { inTime } from "../deadline.ts";
import { causeOf } from "../log.ts";
import { earliest, JITTER_MS, type StandingAlarm } from "./alarm.ts";
import { ChangeSignal } from "./change-signal.ts";

/** A part of a Durable Object that keeps something in memory. */
interface ObjectPart {
  /** The storage was deleted. */
  forget(): void;
}

/** A part of a Durable Object that has work to do at its own times. It may have nothing in memory. */
export interface DuePart extends Partial<ObjectPart> {
  /** When `run` must be called, Unix milliseconds, also in the past; null if nothing is left to do. */
  dueAt(now: number): number | null;
  /** Does what is due. Every alarm of the object calls it, even if nothing is due. */
  run(now: number): unknown;
}

/** Whether a part has something to do. Never throws: its run handles the fault. */
export function hasDueWork(part: Pick<DuePart, "dueAt">, now: number): boolean {
  try {
    return (part.dueAt(now) ?? Number.POSITIVE_INFINITY) <= now;
  } catch {
    return false;
  }
}

interface Work {
  name: string;
  part: DuePart;
  isUnderWay: boolean;
  /** The last run. */
  run: Promise<void>;
  /** Whether `start` began it, not an alarm. */
  isStarted: boolean;
  /** How often in a row it failed. */
  failures: number;
  /** After a failure nothing is tried before `until`. If the clock was set back to before `since`, it does not matter. */
  rest: { since: number; until: number };
}

type DueClock = Pick<Clock, "now" | "timer" | "random">;

/** What the due work needs of its object. */
interface DueObject {
  /** For the log. */
  name: string;
  /** The object's id, for the log; undefined if it is not stored. */
  id?(): string | undefined;
  alarm: StandingAlarm;
  /** False if the object's tables are gone: then nothing is due, and its parts can't be asked. */
  isReady?(): boolean;
  /** Keeps the object in memory until the work is done. */
  waitUntil(work: Promise<unknown>): void;
  clock?: DueClock;
  /** How long a part rests that failed. */
  backoff?: Backoff;
}

/** How soon the alarm rings again in case a run was lost with its object. */
const AGAIN_AFTER_MS = 30_000;
/** How long an alarm waits for the runs that it or `start` began. */
const RING_MS = 5_000;
/** A run that takes longer has failed. The longest runs, those of deliveries, end after five minutes. */
const DEADLINE_MS = 360_000;
const BACKOFF: Backoff = { firstMs: 5_000, maxMs: 600_000 };
const NO_REST = { since: 0, until: 0 };
const DONE = Promise.resolve();

/**
 * The work in the alarms of a Durable Object: it starts the runs of the parts in order, and they run side by side. Each
 * part has one run at a time. A part that fails is logged and rests, and does not hold up the others. What is due at
 * the end sets the next alarm.
 */
export class DueWork {
  readonly #object: DueObject;
  readonly #clock: DueClock;
  readonly #parts: Record<string, DuePart | ObjectPart>;
  #works: Work[];
  readonly #released = new ChangeSignal();

  constructor(object: DueObject, parts: Record<string, DuePart | ObjectPart>) {
    this.#object = object;
    this.#clock = object.clock ?? SYSTEM_CLOCK;
    this.#parts = parts;
    this.#works = worksOf(parts);
  }

  /**
   * Handles an alarm. The platform rings no other until this returns, so it does not wait for long runs.
   * @param invocation of the platform, which repeats an alarm that threw or whose object was lost, but only a few times.
   * So a repeated one first sets the next alarm, which costs two rows: it rings whatever happens
   * @throws only if no alarm can be set
   * @see https://developers.cloudflare.com/durable-objects/api/alarms/
   */
  async ring(invocation?: Pick<AlarmInvocationInfo, "isRetry">): Promise<void> {
    const { alarm } = this.#object;
    const works = this.#works;
    const now = this.#clock.now();
    alarm.rang();
    const isKept = invocation?.isRetry === true && (await this.#setAlarm(now + AGAIN_AFTER_MS));
    if (works !== this.#works) return this.standBy();
    const begun: Work[] = [];
    for (const work of works) {
      if (!mayRun(work, now)) continue;
      work.run = this.#run(work, now);
      work.isStarted = false;
      begun.push(work);
    }
    const awaited = works.filter((work) => isUnderWay(work) && (work.isStarted || begun.includes(work)));
    const allRuns = Promise.all(awaited.map(({ run }) => run));
    // Waits no longer than until the next part is due.
    const nextAt = this.#nextOf(works.filter((work) => !isUnderWay(work))) ?? Number.POSITIVE_INFINITY;
    await inTime(this.#clock, Math.max(0, Math.min(RING_MS, nextAt - now)), this.#released.wait(allRuns));
    for (const work of begun.filter(isUnderWay)) this.#follow(work, works);
    // Everything was deleted meanwhile. The deletion may have failed to set an alarm for what is left to do.
    if (works !== this.#works) return this.standBy();
    const isSet = await this.#setAlarm(this.#nextOf(works));
    if (!isSet && !isKept) throw new Error("The alarm can't be set");
  }

  /**
   * Runs a part now, unless it is under way, and then ensures an alarm for what is due.
   * @param isUrgent whether it runs even while it rests after a failure
   */
  start(part: DuePart, isUrgent = false): void {
    const works = this.#works;
    const now = this.#clock.now();
    const work = works.find((each) => each.part === part);
    if (!work || (isUrgent ? isUnderWay(work) : !mayRun(work, now))) return;
    work.run = this.#run(work, now);
    work.isStarted = true;
    this.#follow(work, works);
  }

  /** Ensures an alarm for what is due. */
  standBy(): Promise<void> {
    return this.#object.alarm.by(this.#nextOf(this.#works));
  }

  /**
   * Like `standBy`, but also if the platform has given up the alarm; see `StandingAlarm.renew`.
   * @param isOneOfMany what is overdue begins at a random time of the next 30 seconds, not now
   * @returns whether the alarm was lost
   */
  async renew(isOneOfMany: boolean): Promise<boolean> {
    const dueAt = this.#nextOf(this.#works);
    const delayMs = isOneOfMany ? JITTER_MS * this.#clock.random() : 0;
    return dueAt !== null && this.#object.alarm.renew(dueAt, this.#clock.now(), delayMs);
  }

  /** Something may be due soon: an alarm that waits for its runs ends. */
  release(): void {
    this.#released.announce();
  }

  /** All storage was deleted, and the alarm with it. What is under way sets no other one. */
  forget(): void {
    this.#works = worksOf(this.#parts);
    for (const part of Object.values(this.#parts)) part.forget?.();
    this.#object.alarm.gone();
  }

  /** When a run ends, ensures an alarm for what is due, unless everything was deleted since. */
  #follow({ run }: Work, works: Work[]): void {
    this.#object.waitUntil(run.then(() => (works === this.#works ? this.standBy() : undefined)));
  }

  async #run(work: Work, now: number): Promise<void> {
    work.isUnderWay = true;
    try {
      const run = work.part.run(now);
      const isLate =
        run instanceof Promise &&
        !(await inTime(
          this.#clock,
          DEADLINE_MS,
          run.then(() => true),
        ));
      if (isLate) throw new Error("The deadline has passed");
      work.failures = 0;
      work.rest = NO_REST;
    } catch (error) {
      this.#failed(work, error);
    } finally {
      work.isUnderWay = false;
    }
  }

  /** When the alarm must ring for some parts. Only what is asked now counts: any call may have made something due. */
  #nextOf(works: Work[]): number | null {
    if (this.#object.isReady?.() === false) return null;
    const now = this.#clock.now();
    return earliest(works.map((work) => this.#dueAt(work, now)));
  }

  #dueAt(work: Work, now: number): number | null {
    // The run may be lost with the object.
    if (work.isUnderWay) return now + AGAIN_AFTER_MS;
    try {
      const at = work.part.dueAt(now);
      // A part that failed may not know what is due.
      if (work.failures === 0) return at;
      return isResting(work, now) ? work.rest.until : now;
    } catch (error) {
      if (!isResting(work, now)) this.#failed(work, error);
      return work.rest.until;
    }
  }

  #failed(work: Work, error: unknown): void {
    const { name: object, backoff = BACKOFF } = this.#object;
    const since = this.#clock.now();
    work.rest = { since, until: since + doublingMs(backoff, work.failures++) };
    console.error({ event: "alarm_part_failed", object, id: this.#id(), part: work.name, error: causeOf(error) });
  }

  #id(): string | undefined {
    try {
      return this.#object.id?.();
    } catch {
      // What failed in the part may fail here too.
      return undefined;
    }
  }

  /** @returns whether it is set */
  async #setAlarm(at: number | null): Promise<boolean> {
    try {
      await this.#object.alarm.set(at);
      return true;
    } catch (error) {
      console.error({ event: "alarm_not_set", object: this.#object.name, error: causeOf(error) });
      return false;
    }
  }
}

function worksOf(parts: Record<string, DuePart | ObjectPart>): Work[] {
  return Object.entries(parts)
    .filter((entry): entry is [string, DuePart] => "run" in entry[1])
    .map(([name, part]) => ({
      name,
      part,
      isUnderWay: false,
      run: DONE,
      isStarted: false,
      failures: 0,
      rest: NO_REST,
    }));
}

function isUnderWay(work: Work): boolean {
  return work.isUnderWay;
}

function mayRun(work: Work, now: number): boolean {
  return !work.isUnderWay && !isResting(work, now);
}

function isResting({ rest }: Work, now: number): boolean {
  return rest.since <= now && now < rest.until;
}
