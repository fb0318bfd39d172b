import type { Attempt } from "../../src/channels/pace.ts";
import { type ChannelPace, INITIAL_PACE, SHORT_WAIT_MS } from "../../src/channels/pace.ts";
import type { PermitAnswer } from "../../src/channels/permits.ts";
import type { ChannelReport, NotGranted } from "../../src/chats/delivery/head.ts";
import { ChannelJudge, type Grant } from "./channel-judge.ts";
import type { Decisions } from "./decisions.ts";
import type { SimulatedObject } from "./object.ts";
import type { World } from "./world.ts";

export type Given = (Omit<PermitAnswer & { outcome: "granted" }, "credentials"> & Grant) | NotGranted;

interface Waiter {
  onNews: () => void;
  onLost: () => void;
}

/** A channel's object: memory over what it has stored, either of which its pace decides. */
export class SimulatedChannel {
  readonly judge: ChannelJudge;
  /** The network refuses it. */
  isBroken = false;
  wasBroken = false;
  readonly perSecond: number;
  readonly #world: World;
  readonly #decisions: Decisions;
  readonly #skew: number;
  #stored: ChannelPace = INITIAL_PACE;
  #pace: ChannelPace = INITIAL_PACE;
  #storedClock = 0;
  #tried: SimulatedObject | null = null;
  #waiters = new Set<Waiter>();
  /** Stored: the chats to be woken. */
  readonly #afterHold = new Set<SimulatedObject>();

  constructor(world: World, decisions: Decisions) {
    this.#world = world;
    this.#decisions = decisions;
    this.judge = new ChannelJudge(world);
    this.perSecond = world.pick([1, 5, 25, 80]);
    this.#skew = world.fault("clocks apart", 1) ? world.between(-500, 500) : 0;
  }

  get #now(): number {
    return this.#world.now + this.#skew;
  }

  permit(
    chat: SimulatedObject,
    ask: { reservedAt: number | null; brokenEpoch: number | null },
    answer: (given: Given) => void,
  ): void {
    const world = this.#world;
    if (chat === this.#tried) this.#trialEnded(this.#pace.trialUntil);
    let canWait = !world.fault("impatient channel", 0.3);
    let patience: number | null = null;
    const away = () => answer({ outcome: "away" });
    const look = () => {
      const now = this.#now;
      const { grantPermit } = this.#decisions;
      const { permit, pace } = grantPermit(this.#pace, { ...ask, canWait }, this.perSecond, now, world.random());
      this.#keep(pace);
      const { epoch, provenEpoch, breaker } = pace;
      world.count(`permit: ${permit.outcome}${permit.outcome === "later" && permit.broken ? ", broken" : ""}`);
      if (permit.outcome === "wait") {
        patience ??= world.now + SHORT_WAIT_MS;
        this.#wait(patience, { onNews: look, onLost: away }, () => {
          canWait = false;
          look();
        });
      } else if (permit.outcome === "later") {
        const isHeld = permit.broken && breaker !== null;
        if (isHeld) {
          this.judge.sentAway();
          this.#afterHold.add(chat);
        }
        answer({ ...permit, broken: isHeld ? { reason: breaker.reason, since: breaker.since } : null });
      } else {
        const { at, probe, trial } = permit;
        if (trial !== null) this.#tried = chat;
        const go = () => {
          const grant: Given = {
            outcome: "granted",
            at,
            probe,
            trial,
            epoch,
            provenEpoch,
            brokenSince: breaker?.since ?? null,
            isBroken: probe !== null,
            judgedProvenIn: this.judge.provenEpoch,
          };
          // Its chat may have been lost and have asked again while this start was waited for: then nobody is on trial by it.
          const isTrial = trial === this.#pace.trialUntil;
          this.judge.granted({ ...grant, trial: isTrial ? trial : null }, this.perSecond, chat);
          answer(grant);
        };
        const isGood = () => this.#decisions.isStillValid(this.#pace, at, epoch);
        const giveUp = () => {
          world.count("a start that did not come");
          this.#trialEnded(trial);
          look();
        };
        const wait = () =>
          this.#wait(at - this.#skew, { onNews: () => (isGood() ? wait() : giveUp()), onLost: away }, () =>
            isGood() ? go() : giveUp(),
          );
        if (at <= now) go();
        else wait();
      }
    };
    look();
  }

  /** Until `at`, or there is news. */
  #wait(at: number, { onNews, onLost }: Waiter, onTime: () => void): void {
    const waiter = { onNews, onLost };
    this.#waiters.add(waiter);
    this.#world.at(at, () => {
      if (this.#waiters.delete(waiter)) onTime();
    });
  }

  #trialEnded(trial: number | null): void {
    const { epoch } = this.#pace;
    if (trial === this.#pace.trialUntil) this.judge.trialOver();
    this.#keep(this.#decisions.endTrial(this.#pace, { trial, epoch }, false, this.#now));
  }

  /** What a chat was told by the network has reached the channel, by whatever way it is told. */
  mustKnow(attempt: Attempt): void {
    this.judge.broke(attempt, this.#now);
  }

  /** What a chat tells of its attempt. */
  take(chat: SimulatedObject, report: ChannelReport, attempt: Attempt): void {
    const { breakChannel, attemptEnded, slowDown } = this.#decisions;
    const now = this.#now;
    this.#world.note(() => `${chat.id} tells ${JSON.stringify(report)}`);
    this.#world.count(`told: ${report.report}`);
    if (report.report === "slow_down") {
      this.judge.rested(now + report.afterMs);
      this.#keep(slowDown(this.#pace, report.afterMs, now));
    } else if (report.report === "broke") {
      this.judge.broke(attempt, now);
      this.#keep(breakChannel(this.#pace, report.reason, attempt, now));
      if (this.#pace.breaker) this.#afterHold.add(chat);
      this.wasBroken = true;
    } else {
      this.judge.probed(attempt, report.works, now);
      this.#change(attemptEnded(this.#pace, attempt, report.works, now));
    }
  }

  /** The same report comes again, because its answer was lost. */
  takeAgain(report: ChannelReport, attempt: Attempt): void {
    if (report.report === "slow_down") return;
    const { breakChannel, attemptEnded } = this.#decisions;
    const before = this.#pace;
    const after =
      report.report === "broke"
        ? breakChannel(before, report.reason, attempt, this.#now)
        : attemptEnded(before, attempt, report.works, this.#now);
    const health = ({ breaker, epoch, provenEpoch }: ChannelPace) => JSON.stringify([breaker, epoch, provenEpoch]);
    this.#world.check("twice", health(after) === health(before), () => `${health(before)} became ${health(after)}`);
  }

  /** The operator changed its credentials. */
  renew(): void {
    this.judge.epoch(null);
    this.#change(this.#decisions.closeBreaker(this.#pace, null));
  }

  #change(pace: ChannelPace): void {
    const wasBroken = this.#pace.breaker !== null;
    this.#keep(pace);
    if (!wasBroken || pace.breaker) return;
    this.#world.count("a channel mended");
    this.#world.after(this.#world.between(0, 2_000), () => {
      if (this.#pace.breaker) return;
      for (const chat of this.#afterHold) {
        this.#afterHold.delete(chat);
        if (!this.#world.fault("wake-up lost", 0.3)) this.#world.after(this.#world.between(5, 100), () => chat.wake());
      }
    });
  }

  #keep(pace: ChannelPace): void {
    const before = this.#pace;
    this.#pace = pace;
    if (this.#decisions.affectsWaiters(before, pace)) {
      const waiters = this.#waiters;
      this.#waiters = new Set();
      // What is awaited goes on after what told the news.
      this.#world.after(0, () => {
        for (const { onNews } of waiters) onNews();
      });
    }
    if (!this.#decisions.mustStore(before, pace, this.#storedClock, this.#now)) return;
    this.#storedClock = pace.clock;
    this.#stored = pace;
  }

  /** Its memory is lost, with who waits in it. */
  lose(): void {
    this.judge.lost();
    this.#pace = this.#stored;
    this.#storedClock = 0;
    this.#tried = null;
    const waiters = this.#waiters;
    this.#waiters = new Set();
    for (const { onLost } of waiters) onLost();
  }
}
