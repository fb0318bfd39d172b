import type { Attempt } from "../../src/channels/object/pace.ts";
import type { World } from "./world.ts";

/** A permit that was granted, as it is judged. */
export interface Grant extends Attempt {
  at: number;
  isBroken: boolean;
  /** How often the channel was mended when it last showed that it works, as the judge knows it. */
  judgedProvenEpoch: number;
}

/** What must hold of one channel, kept apart from what the channel itself knows. Times are the channel's. */
export class ChannelJudge {
  readonly #world: World;
  #mends = 0;
  #isBroken = false;
  #provenEpoch = 0;
  #restUntil = 0;
  #lastStart = 0;
  #provenAt = Number.NEGATIVE_INFINITY;
  #trial: { at: number; trial: number; chat: object } | null = null;
  #probeNotBefore = 0;
  #onWire = 0;
  /** Which version of the credentials the channel read last. */
  #credentials: string | null = null;

  constructor(world: World) {
    this.#world = world;
  }

  get provenEpoch(): number {
    return this.#provenEpoch;
  }

  granted(grant: Grant, perSecond: number, chat: object): void {
    const world = this.#world;
    if (this.#isBroken) {
      const text = () => `a start at ${grant.at} while broken, the next probe may start at ${this.#probeNotBefore}`;
      world.check("probe", grant.probe !== null && grant.at >= this.#probeNotBefore, text);
      world.count("a probe");
      this.#probeNotBefore = grant.at + 60_000;
      return;
    }
    world.check("rest", grant.at >= this.#restUntil, () => `a start ${this.#restUntil - grant.at} ms too early`);
    const apart = grant.at - this.#lastStart;
    world.check("pace", apart >= 1_000 / perSecond - 1, () => `two starts ${apart} ms apart`);
    this.#lastStart = grant.at;
    // As it was when the start was given, a second before it at most.
    const isProven = grant.at - this.#provenAt < 61_000;
    // One that asks twice has lost the instance that asked first.
    const isHeld = this.#trial !== null && this.#trial.chat !== chat && grant.at < this.#trial.at + 5_000 && !isProven;
    world.check("trial", !isHeld, () => `a start at ${grant.at} while a trial is under way`);
    if (grant.trial) {
      world.count("a trial");
      this.#trial = { at: grant.at, trial: grant.trial, chat };
    }
  }

  /** A chat is sent away because the channel is broken. */
  sentAway(): void {
    this.#world.check("spurious", this.#isBroken, () => "a chat was sent away from a channel that works");
  }

  /** A call of an attempt begins, or is over. */
  wire(grant: Grant, isBegin: boolean): void {
    if (!grant.isBroken || grant.epoch !== this.#mends) return;
    this.#onWire += isBegin ? 1 : -1;
    if (isBegin) this.#world.check("probe", this.#onWire <= 1, () => `${this.#onWire} calls while broken`);
  }

  /** What a chat was told by the network has reached the channel, or must have. */
  broke({ probe, epoch }: Attempt, now: number): void {
    if (epoch !== this.#mends || (this.#isBroken && !probe)) return;
    this.#isBroken = true;
    this.#probeNotBefore = now + 300_000;
    this.#trial = null;
    this.#provenAt = Number.NEGATIVE_INFINITY;
  }

  probed(attempt: Attempt, works: boolean, now: number): void {
    if (attempt.epoch !== this.#mends) return;
    if (attempt.probe) {
      if (works) this.epoch(now);
      else if (this.#isBroken) this.#probeNotBefore = now + 300_000;
      return;
    }
    if (this.#isBroken) return;
    if (works || attempt.trial === this.#trial?.trial) this.#trial = null;
    if (!works) return;
    this.#provenAt = now;
    this.#provenEpoch = this.#mends;
  }

  /** A permit was returned without a call. */
  unused({ probe, epoch, trial }: Attempt, now: number): void {
    if (epoch !== this.#mends) return;
    if (probe !== null) this.#probeNotBefore = Math.min(this.#probeNotBefore, now);
    else if (trial === this.#trial?.trial) this.#trial = null;
  }

  /** The channel has read its credentials. */
  credentials(version: string): void {
    if (this.#credentials !== null && this.#credentials !== version) this.epoch(null);
    this.#credentials = version;
  }

  /** @param provenAt null where the credentials were changed */
  epoch(provenAt: number | null): void {
    this.#mends++;
    if (provenAt !== null) this.#provenEpoch = this.#mends;
    this.#isBroken = false;
    this.#onWire = 0;
    this.#trial = null;
    this.#provenAt = provenAt ?? Number.NEGATIVE_INFINITY;
  }

  rested(until: number): void {
    this.#restUntil = Math.max(this.#restUntil, until);
  }

  /** A trial whose chat asks again, or whose start came to nothing. */
  trialOver(): void {
    this.#trial = null;
  }

  /** Its memory is lost: a few starts may be early, by what is not stored of the clock. */
  lost(): void {
    this.#lastStart = 0;
    this.#restUntil -= 5_000;
    this.#trial = null;
  }
}
