import type { Attempt, ChannelPace } from "../../../src/channels/object/pace.ts";
import type { BreakReport, PermitAnswer, ProbeReport } from "../../../src/channels/object/permits.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { DeliveryWorld } from "./rules.ts";

/** A permit that was granted, as it is judged. */
export interface Grant extends Attempt {
  at: number;
  isBroken: boolean;
  /** How often the channel was mended when it last showed that it works, as the judge knows it. */
  judgedProvenEpoch: number;
}

/** What must hold of one channel, kept apart from what the channel itself knows. Times are the channel's. */
export class ChannelJudge {
  readonly #world: DeliveryWorld;
  readonly #channel: SimulatedObject;
  readonly #perSecond: number;
  #losses = 0;
  #mends = 0;
  #isBroken = false;
  #provenEpoch = 0;
  #restUntil = 0;
  #lastStart = 0;
  #provenAt = Number.NEGATIVE_INFINITY;
  #trial: { at: number; trial: number; chat: string } | null = null;
  #probeNotBefore = 0;
  #onWire = 0;
  /** Which version of the credentials the channel read last. */
  #credentials: string | null = null;
  /** How often each chat has asked for a permit. */
  readonly #asks = new Map<string, number>();
  readonly #arrived = new WeakSet<object>();

  constructor(world: DeliveryWorld, channel: SimulatedObject, perSecond: number) {
    this.#world = world;
    this.#channel = channel;
    this.#perSecond = perSecond;
  }

  /** A chat's request for a permit arrives. @returns what to do with the answer when it leaves */
  asked(chat: string): (answer: PermitAnswer) => Grant | null {
    this.#notice();
    const ask = (this.#asks.get(chat) ?? 0) + 1;
    this.#asks.set(chat, ask);
    if (this.#trial?.chat === chat) this.#trial = null;
    return (answer) => {
      this.#notice();
      const world = this.#world;
      if (answer.outcome === "later") {
        const { broken } = answer;
        world.count(broken ? "permit: later, broken" : "permit: later");
        if (broken) world.check("spurious", this.#isBroken, () => "a chat was sent away from a channel that works");
        return null;
      }
      world.count("permit: granted");
      const { probe, trial = null, epoch } = answer;
      const at = this.#channel.now;
      const grant: Grant = { at, probe, trial, epoch, isBroken: probe !== null, judgedProvenEpoch: this.#provenEpoch };
      // The chat may have been lost and have asked again while this start was waited for. Then the trial is over.
      this.#granted({ ...grant, trial: this.#asks.get(chat) === ask ? trial : null }, chat);
      return grant;
    };
  }

  #granted(grant: Grant, chat: string): void {
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
    world.check("pace", apart >= 1_000 / this.#perSecond - 1, () => `two starts ${apart} ms apart`);
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

  /** A call of an attempt begins, or is over. */
  wire(grant: Grant, isBegin: boolean): void {
    if (!grant.isBroken || grant.epoch !== this.#mends) return;
    this.#onWire += isBegin ? 1 : -1;
    if (isBegin) this.#world.check("probe", this.#onWire <= 1, () => `${this.#onWire} calls while broken`);
  }

  /** A report of a chat arrives. @returns what to look at when the channel has taken it */
  told(method: string, report: unknown): () => void {
    this.#notice();
    const world = this.#world;
    const { now } = this.#channel;
    world.count(`told: ${method}`);
    if (method === "slowDown") {
      this.#restUntil = Math.max(this.#restUntil, now + (report as number));
      return () => {};
    }
    const probed = report as ProbeReport;
    if (this.#arrived.has(probed)) {
      // A trial that ended well shows once more that the channel works.
      if (method === "reportProbe" && probed.probe === null && probed.works) this.#probed(probed, true, now);
      const before = this.#health();
      return () => world.check("twice", this.#health() === before, () => `${before} became ${this.#health()}`);
    }
    this.#arrived.add(probed);
    if (method === "reportBroken") this.#broke(report as BreakReport, now);
    else if (probed.isUnused) this.#unused(probed, now);
    else this.#probed(probed, probed.works, now);
    return () => {
      if (method !== "reportProbe" || !probed.isUnused || probed.probe === null) return;
      const breaker = this.#pace()?.breaker;
      const isHeld = breaker?.isProbing && breaker.probes === probed.probe;
      world.check("returned", !isHeld, () => `the channel waits for ${JSON.stringify(report)}`);
    };
  }

  #broke({ probe, epoch }: Attempt, now: number): void {
    if (epoch !== this.#mends || (this.#isBroken && !probe)) return;
    this.#isBroken = true;
    this.#probeNotBefore = now + 300_000;
    this.#trial = null;
    this.#provenAt = Number.NEGATIVE_INFINITY;
  }

  #probed(attempt: Attempt, works: boolean, now: number): void {
    if (attempt.epoch !== this.#mends) return;
    if (attempt.probe) {
      if (works) this.#mended(now);
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
  #unused({ probe, epoch, trial }: Attempt, now: number): void {
    if (epoch !== this.#mends) return;
    if (probe !== null) this.#probeNotBefore = Math.min(this.#probeNotBefore, now);
    else if (trial === this.#trial?.trial) this.#trial = null;
  }

  /** The channel has read its credentials. */
  credentials(version: string): void {
    this.#notice();
    if (this.#credentials !== null && this.#credentials !== version) this.#mended(null);
    this.#credentials = version;
  }

  /** @param provenAt null where the credentials were changed */
  #mended(provenAt: number | null): void {
    if (this.#isBroken) this.#world.count("a channel mended");
    this.#mends++;
    if (provenAt !== null) this.#provenEpoch = this.#mends;
    this.#isBroken = false;
    this.#onWire = 0;
    this.#trial = null;
    this.#provenAt = provenAt ?? Number.NEGATIVE_INFINITY;
  }

  #pace(): ChannelPace | undefined {
    return this.#channel.storage.get<ChannelPace>("pace");
  }

  #health(): string {
    const { breaker, epoch, provenEpoch } = this.#pace() ?? {};
    return JSON.stringify([breaker, epoch, provenEpoch]);
  }

  /** When its memory was lost, a few starts may be early, by what is not stored of the clock. */
  #notice(): void {
    if (this.#channel.losses === this.#losses) return;
    this.#losses = this.#channel.losses;
    this.#lastStart = 0;
    this.#restUntil -= 5_000;
    this.#trial = null;
  }
}
