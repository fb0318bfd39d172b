import type { Clock } from "../platform/clock.ts";
import type { Credentials } from "./adapter.ts";
import {
  type Attempt,
  affectsWaiters,
  attemptEnded,
  breakChannel,
  type ChannelPace,
  endTrial,
  grantPermit,
  INITIAL_PACE,
  isStillValid,
  mustStore,
  SHORT_WAIT_MS,
  slowDown,
  withCredentials,
} from "./pace.ts";

/** A chat that wants to call the network. */
export interface PermitRequest {
  channelId: string;
  chatId: string;
  /** A start that an earlier permit reserved. */
  reservedAt: number | null;
  /** The epoch in which the message last met a broken channel; null if it never did. */
  brokenEpoch: number | null;
}

/**
 * `granted`: call the network now. The credentials come with each permit; no chat stores them. `brokenSince`: the attempt
 * is a probe of a channel that has been broken since then. `provenEpoch`: the epoch in which the channel last showed that it
 * works. `later`: ask again at `at`; `broken`: why the channel can't be used, and since when.
 */
export type PermitAnswer =
  | ({ outcome: "granted"; credentials: Credentials; brokenSince: number | null; provenEpoch: number } & Attempt)
  | { outcome: "later"; at: number; broken: { reason: string; since: number } | null };

/** The network answered an attempt by refusing the channel itself. */
export interface BreakReport extends Attempt {
  channelId: string;
  chatId: string;
  reason: string;
}

/** How a probe or a trial ended, if it did not find the channel broken. */
export interface ProbeReport extends Attempt {
  channelId: string;
  /** The network's answer shows that it accepts the channel. */
  works: boolean;
}

/** A channel as its permits need it. */
export interface SendingConfig {
  credentials: Credentials;
  /** Differs for each version of the credentials. */
  credentialsVersion: string;
  perSecond: number;
}

export interface PermitPorts {
  kv: Pick<SyncKvStorage, "get" | "put">;
  clock: Clock;
  /** The channel's current terms; null if the channel is being deleted or is no network's. */
  sendingConfig(channelId: string): Promise<SendingConfig | null>;
  /** Stores that a chat met the broken channel, to wake it once the channel works. */
  addWaiting(chatId: string): void;
  /** The channel broke or works again. */
  healthChanged(channelId: string, works: boolean): Promise<void>;
}

/** The decisions on permits. The simulation replaces some by wrong ones, to see that it notices. */
export const PERMIT_DECISIONS = {
  attemptEnded,
  breakChannel,
  endTrial,
  grantPermit,
  affectsWaiters,
  isStillValid,
  mustStore,
  slowDown,
  withCredentials,
};

export type PermitDecisions = typeof PERMIT_DECISIONS;

/** A channel that is being deleted is asked again after this long; its chats are deleted before it. */
const GONE_MS = 60_000;
/** At most this many requests wait here for a trial's end; further ones must ask again. */
const MAX_PATIENT = 1_000;

/** Gives the chats of one channel their permits, by the channel's pace and its breaker. */
export class Permits {
  readonly #ports: PermitPorts;
  readonly #decisions: PermitDecisions;
  #pace: ChannelPace | undefined;
  #storedClock = 0;
  /** The chat that makes the trial under way. */
  #trialChat = "";
  #patient = 0;
  /** Resolves when the pace or the breaker changes, for requests that wait. */
  #changed = Promise.withResolvers<void>();

  constructor(ports: PermitPorts, decisions = PERMIT_DECISIONS) {
    this.#ports = ports;
    this.#decisions = decisions;
  }

  get pace(): ChannelPace {
    this.#pace ??= this.#ports.kv.get<ChannelPace>("pace") ?? INITIAL_PACE;
    return this.#pace;
  }

  /**
   * Gives a chat its start, or says when to ask again. A start that is near is waited for here, so that a change of the
   * channel in the meantime can revoke it.
   */
  async permit({ channelId, chatId, reservedAt, brokenEpoch }: PermitRequest): Promise<PermitAnswer> {
    const { clock } = this.#ports;
    let patience: Promise<unknown> | undefined;
    let canWait = this.#patient < MAX_PATIENT;
    // A chat makes one attempt at a time, so its trial is over, though no report of it came.
    if (chatId === this.#trialChat) this.#trialEnded(this.pace.trialUntil);
    for (;;) {
      const config = await this.#ports.sendingConfig(channelId);
      const now = clock.now();
      if (!config) return { outcome: "later", at: now + GONE_MS, broken: null };
      await this.useCredentials(channelId, config.credentialsVersion);
      const query = { reservedAt, canWait, brokenEpoch };
      const { permit, pace } = this.#decisions.grantPermit(this.pace, query, config.perSecond, now, clock.random());
      this.#keep(pace);
      const { epoch, provenEpoch, breaker } = pace;
      if (permit.outcome === "wait") {
        patience ??= clock.wait(SHORT_WAIT_MS).then(() => {
          canWait = false;
        });
        await this.#patiently(patience);
      } else if (permit.outcome === "later") {
        if (!permit.broken || !breaker) return { ...permit, broken: null };
        this.#ports.addWaiting(chatId);
        return { ...permit, broken: { reason: breaker.reason, since: breaker.since } };
      } else {
        const { at, probe, trial } = permit;
        // Before the wait: the chat of an earlier trial may ask in the meantime, and must not end this trial.
        if (trial !== null) this.#trialChat = chatId;
        if (await this.#startOf(at, epoch, now)) {
          const { credentials } = config;
          const brokenSince = breaker?.since ?? null;
          return { outcome: "granted", probe, trial, epoch, provenEpoch, brokenSince, credentials };
        }
        this.#trialEnded(trial);
      }
    }
  }

  /** The network wants no calls from this channel for `afterMs`. */
  slowDown(afterMs: number): void {
    this.#keep(this.#decisions.slowDown(this.pace, afterMs, this.#ports.clock.now()));
  }

  /** The network refused the channel itself. The chat that met it is woken when the channel works again. */
  async reportBroken({ channelId, chatId, reason, ...attempt }: BreakReport): Promise<void> {
    const before = this.pace;
    const pace = this.#decisions.breakChannel(before, reason, attempt, this.#ports.clock.now());
    this.#keep(pace);
    if (pace.breaker) this.#ports.addWaiting(chatId);
    if (pace.breaker && !before.breaker) await this.#ports.healthChanged(channelId, false);
  }

  /** A probe or a trial ended. */
  async reportProbe({ channelId, works, ...attempt }: ProbeReport): Promise<void> {
    await this.#change(channelId, this.#decisions.attemptEnded(this.pace, attempt, works, this.#ports.clock.now()));
  }

  /** New credentials close the breaker, even if nobody told this object about the change. */
  async useCredentials(channelId: string, version: string): Promise<void> {
    const pace = this.#decisions.withCredentials(this.pace, version);
    if (pace !== this.pace) await this.#change(channelId, pace);
  }

  /** All storage was erased. */
  forget(): void {
    this.#pace = undefined;
  }

  /** A trial ended without a report. */
  #trialEnded(trial: number | null): void {
    const { epoch } = this.pace;
    this.#keep(this.#decisions.endTrial(this.pace, { trial, epoch }, false, this.#ports.clock.now()));
  }

  /** Waits for a start. @returns false if the channel broke, recovered or was slowed down in the meantime */
  async #startOf(at: number, epoch: number, now: number): Promise<boolean> {
    if (at <= now) return true;
    let isOver = false;
    const start = this.#ports.clock.wait(at - now).then(() => {
      isOver = true;
    });
    const isGood = () => this.#decisions.isStillValid(this.pace, at, epoch);
    while (!isOver && isGood()) await Promise.race([start, this.#changed.promise]);
    return isGood();
  }

  /** Waits for a trial's end or the end of the request's patience. */
  async #patiently(patience: Promise<unknown>): Promise<void> {
    this.#patient++;
    try {
      await Promise.race([patience, this.#changed.promise]);
    } finally {
      this.#patient--;
    }
  }

  async #change(channelId: string, pace: ChannelPace): Promise<void> {
    const wasBroken = this.pace.breaker !== null;
    this.#keep(pace);
    if (wasBroken && !pace.breaker) await this.#ports.healthChanged(channelId, true);
  }

  #keep(pace: ChannelPace): void {
    const before = this.pace;
    this.#pace = pace;
    if (this.#decisions.affectsWaiters(before, pace)) {
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    }
    if (!this.#decisions.mustStore(before, pace, this.#storedClock, this.#ports.clock.now())) return;
    this.#storedClock = pace.clock;
    this.#ports.kv.put("pace", pace);
  }
}
