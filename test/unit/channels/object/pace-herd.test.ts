import { expect, test } from "vitest";
import {
  breakChannel,
  type ChannelPace,
  closeBreaker,
  endTrial,
  grantPermit,
  INITIAL_PACE,
  isStillValid,
  type Permit,
  SHORT_WAIT_MS,
  wakeMoreAt,
} from "../../../../src/channels/object/pace.ts";
import { Agenda } from "../../../support/agenda.ts";

const MINUTE = 60_000;
const CHATS = 10_000;
const PER_SECOND = 25;
const WOKEN_A_RUN = 200;

type Go = Permit & { outcome: "granted" };

/** Numbers from 0 to 1 that are the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What is to happen, and its time. */
class Schedule {
  now = 0;
  readonly #agenda = new Agenda();

  at(at: number, run: () => void): void {
    this.#agenda.add(Math.max(at, this.now), run);
  }

  /** Lets what is due up to `end` happen. */
  runUntil(end: number): void {
    const agenda = this.#agenda;
    for (let { first } = agenda; first && first.at <= end; { first } = agenda) {
      agenda.removeFirst();
      this.now = first.at;
      first.run();
    }
    this.now = end;
  }
}

/**
 * A channel and chats with one message each, on a clock of their own: the chats' alarms ring up to 3 s late, calls to
 * the channel take up to 20 ms and those to the network 50 to 1,500 ms.
 */
function herd(seed: number, pace: ChannelPace = INITIAL_PACE) {
  const random = numbers(seed);
  const agenda = new Schedule();
  const waiting = new Set<number>();
  let patient: (() => void)[] = [];
  const seen = {
    pace,
    isDead: false,
    leaves: 0,
    underWay: 0,
    mostUnderWay: 0,
    starts: [] as number[],
    delivered: new Set<number>(),
    brokenAt: null as number | null,
  };

  function become(next: ChannelPace): void {
    const affectsWaiters = next.trialUntil !== seen.pace.trialUntil || next.epoch !== seen.pace.epoch;
    seen.pace = next;
    if (!affectsWaiters) return;
    const woken = patient;
    patient = [];
    for (const again of woken) again();
  }

  function ask(chat: number, reservedAt: number | null = null, impatientAt = agenda.now + SHORT_WAIT_MS): void {
    seen.leaves++;
    const canWait = agenda.now < impatientAt;
    const { permit, pace } = grantPermit(
      seen.pace,
      { reservedAt, canWait, brokenEpoch: null },
      PER_SECOND,
      agenda.now,
      random(),
    );
    const { epoch } = pace;
    seen.pace = pace;
    if (permit.outcome === "wait") {
      let isAsked = false;
      const again = () => {
        if (!isAsked) ask(chat, reservedAt, impatientAt);
        isAsked = true;
      };
      patient.push(again);
      agenda.at(impatientAt, again);
    } else if (permit.outcome === "granted") {
      agenda.at(permit.at, () => (isVoid(permit, epoch) ? ask(chat) : call(chat, permit, epoch)));
    } else {
      if (permit.broken) waiting.add(chat);
      const reserved = permit.broken ? null : permit.at;
      agenda.at(permit.at + random() * 3_000, () => {
        if (reserved !== null || waiting.delete(chat)) ask(chat, reserved);
      });
    }
  }

  const isVoid = ({ probe, at }: Go, epoch: number) => probe === null && !isStillValid(seen.pace, at, epoch);

  function call(chat: number, { probe, trial }: Go, epoch: number): void {
    seen.starts.push(agenda.now);
    seen.mostUnderWay = Math.max(seen.mostUnderWay, ++seen.underWay);
    const { isDead } = seen;
    agenda.at(agenda.now + 50 + random() * 1_450, () => {
      seen.underWay--;
      if (!isDead) seen.delivered.add(chat);
      agenda.at(agenda.now + random() * 20, () => {
        if (isDead) {
          become(breakChannel(seen.pace, "Bad token", { probe, epoch }, agenda.now));
          if (seen.pace.breaker) seen.brokenAt ??= agenda.now;
          ask(chat);
        } else if (trial !== null) become(endTrial(seen.pace, { trial, epoch }, true, agenda.now));
      });
    });
  }

  function wake(): void {
    if (seen.pace.breaker) return;
    const woken = [...waiting].slice(0, WOKEN_A_RUN);
    for (const chat of woken) {
      waiting.delete(chat);
      agenda.at(agenda.now + random() * 20, () => ask(chat));
    }
    if (woken.length === WOKEN_A_RUN) agenda.at(wakeMoreAt(seen.pace, agenda.now), wake);
  }

  return {
    seen,
    agenda,
    waiting,
    /** A chat has a message to send now. */
    ask,
    /** Each chat has a message to send at some time within `ms`. */
    begin: (ms: number) => {
      for (let chat = 0; chat < CHATS; chat++) agenda.at(random() * ms, () => ask(chat));
    },
    /** The operator changes the credentials. */
    repair: () => {
      seen.isDead = false;
      become(closeBreaker(seen.pace, null));
      wake();
    },
  };
}

function gaps(starts: number[]): number[] {
  return starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
}

test.each([1, 2])(
  "a dead token and 10,000 waiting chats: one call at a time, and an even drain once it is replaced (seed %i)",
  (seed) => {
    const { seen, agenda, waiting, ask, begin, repair } = herd(seed);
    seen.isDead = true;
    begin(10_000);
    agenda.runUntil(200 * MINUTE);
    expect(seen.mostUnderWay).toBe(1);
    // One at first, then probes after 5, 10, 20, 40, 40, 40 and 40 minutes.
    expect(seen.starts).toHaveLength(8);
    expect(waiting.size).toBe(CHATS);
    const { starts, leaves } = seen;
    seen.starts = [];
    repair();
    agenda.runUntil(202 * MINUTE);
    // Another chat's message comes between, and is not put behind all that wait.
    ask(CHATS);
    agenda.runUntil(202 * MINUTE + 40_000);
    expect(seen.delivered).toContain(CHATS);
    expect(seen.delivered.size).toBeLessThan(CHATS / 2);
    agenda.runUntil(210 * MINUTE);
    expect(seen.delivered.size).toBe(CHATS + 1);
    expect(seen.starts).toHaveLength(CHATS + 1);
    expect(Math.min(...gaps(seen.starts))).toBeGreaterThanOrEqual(1_000 / PER_SECOND);
    // Hardly a start is lost: 10,000 at 25 a second take 400 s, with the trial, and the last alarms up to 3 s late.
    expect((seen.starts.at(-1) ?? 0) - 200 * MINUTE).toBeLessThan(410_000);
    // While it is broken a chat asks once in five minutes or more; once it works, twice, or a few times more.
    expect(leaves / CHATS).toBeLessThan(starts.length + 1);
    expect((seen.leaves - leaves) / CHATS).toBeLessThan(3);
  },
);

test("a token that dies amid 10,000 chats costs the calls that were under way, and then one at a time", () => {
  const { seen, agenda, begin } = herd(4);
  begin(10_000);
  agenda.runUntil(60_000);
  seen.isDead = true;
  agenda.runUntil(120 * MINUTE);
  const { starts, brokenAt } = seen;
  expect(brokenAt).toBeGreaterThan(60_000);
  // The first refusal is told within an answer's time and a call to the channel.
  expect(brokenAt).toBeLessThan(60_000 + 1_560);
  const before = starts.filter((at) => at > 60_000 && at <= (brokenAt ?? 0));
  expect(before.length).toBeLessThanOrEqual(1 + (((brokenAt ?? 0) - 60_000) * PER_SECOND) / 1_000);
  const after = starts.filter((at) => at > (brokenAt ?? 0));
  expect(after.length).toBeGreaterThan(2);
  expect(after.length).toBeLessThan(7);
  expect(Math.min(...gaps(after))).toBeGreaterThanOrEqual(5 * MINUTE);
});

test("10,000 chats that all send at once through a channel that works are let go evenly, and nobody twice", () => {
  const { seen, agenda, begin } = herd(5);
  begin(1);
  agenda.runUntil(420_000);
  expect(seen.delivered.size).toBe(CHATS);
  expect(seen.starts).toHaveLength(CHATS);
  expect(Math.min(...gaps(seen.starts))).toBeGreaterThanOrEqual(1_000 / PER_SECOND);
});
