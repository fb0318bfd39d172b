import type { Credentials } from "../../model/channel.ts";
import type { ChannelNews } from "../../model/channel-warning.ts";
import type { Clock } from "../../platform/clock.ts";
import { ChangeSignal } from "../../platform/object/change-signal.ts";
import type { ErasableKv } from "../../platform/object/erasable-kv.ts";
import {
  type Attempt,
  affectsWaiters,
  attemptEnded,
  attemptUnused,
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
  withNews,
} from "./pace.ts";

/** A chat's request to call the network. */
export interface PermitRequest {
  channelId: string;
  chatId: string;
  /** The start that an earlier permit reserved; null without a reservation. */
  reservedAt: number | null;
  /** The epoch in which the channel last refused the message; null if it never did. */
  brokenEpoch: number | null;
  /** Set for an act beside the messages, such as a reaction, whose client waits at most this many milliseconds. */
  withinMs?: number | undefined;
}

/**
 * `granted`: call the network now. The credentials come with each permit; no chat stores them. `brokenSince`: the attempt
 * is a probe of a channel that has been broken since then. `provenEpoch`: the epoch in which the channel last showed that it
 * works. `later`: ask again at `at`; `broken`: why the channel can't be used, and since when.
 */
export type PermitAnswer =
  | ({ outcome: "granted"; credentials: Credentials; brokenSince: number | null; provenEpoch: number } & Attempt)
  | { outcome: "later"; at: number; broken: { reason: string; since: number } | null };

/** Reports that the network refused the channel itself. */
export interface BreakReport extends Attempt {
  channelId: string;
  chatId: string;
  reason: string;
}

/** Reports how a probe or a trial ended, if it did not find the channel broken. */
export interface ProbeReport extends Attempt {
  channelId: string;
  /** Whether the network's answer shows that it accepts the channel. */
  works: boolean;
  /** Whether the network was not called. */
  isUnused?: boolean;
}

export interface SendingConfig {
  credentials: Credentials;
  /** A value that changes with the credentials. */
  credentialsVersion: string;
  perSecond: number;
}

export interface PermitPorts {
  kv: Pick<ErasableKv, "get" | "put" | "isErased">;
  clock: Clock;
  /** The channel's current configuration; null if it is being deleted or is a web channel. */
  sendingConfig(channelId: string): Promise<SendingConfig | null>;
  /** Stores a chat that must wait for the broken channel. It is woken when the channel works again. */
  addWaiting(chatId: string): void;
  /** The channel broke or works again. */
  healthChanged(channelId: string, works: boolean): Promise<void>;
}

/** When chats of a channel that is being deleted ask again. They are usually deleted before that. */
const DELETED_RETRY_MS = 60_000;

/** Grants permits to the chats of one channel, based on the channel's pace and breaker. */
export class Permits {
  readonly #ports: PermitPorts;
  #pace: ChannelPace | undefined;
  #storedClock = 0;
  /** The chat whose attempt is the current trial. */
  #trialChat = "";
  /** The pace or the breaker changed, or the channel was erased. */
  readonly #changed = new ChangeSignal();

  constructor(ports: PermitPorts) {
    this.#ports = ports;
  }

  get pace(): ChannelPace {
    this.#pace ??= this.#ports.kv.get<ChannelPace>("pace") ?? INITIAL_PACE;
    return this.#pace;
  }

  /**
   * Grants a chat's attempt, or says when to ask again. Waits for a start in the near future before granting it, so that
   * a change of the channel can still revoke it.
   */
  async permit({ channelId, chatId, reservedAt, brokenEpoch, withinMs }: PermitRequest): Promise<PermitAnswer> {
    const { clock } = this.#ports;
    const isAct = withinMs !== undefined;
    // A chat can make an act while it sends a message, so each has a trial of its own.
    const owner = isAct ? `${chatId} act` : chatId;
    let waitLimit: Promise<unknown> | undefined;
    let canWait = this.#changed.hasRoom;
    // A chat makes one attempt at a time, and one act, so its previous trial is over, even without a report.
    if (owner === this.#trialChat) this.#endTrial(this.pace.trialUntil);
    for (;;) {
      const config = await this.#ports.sendingConfig(channelId);
      if (!config) return { outcome: "later", at: clock.now() + DELETED_RETRY_MS, broken: null };
      await this.useCredentials(channelId, config.credentialsVersion);
      if (this.#ports.kv.isErased) continue;
      // Read after both calls, so that the start is waited for as long as it is away.
      const now = clock.now();
      const query = { reservedAt, canWait, brokenEpoch, withinMs };
      const { permit, pace } = grantPermit(this.pace, query, config.perSecond, now, clock.random());
      this.#setPace(pace);
      const { epoch, provenEpoch, breaker } = pace;
      if (permit.outcome === "wait") {
        waitLimit ??= clock.wait(SHORT_WAIT_MS).then(() => {
          canWait = false;
        });
        await this.#changed.wait(waitLimit);
      } else if (permit.outcome === "later") {
        if (!permit.broken || !breaker) return { ...permit, broken: null };
        if (!isAct) this.#ports.addWaiting(chatId);
        return { ...permit, broken: { reason: breaker.reason, since: breaker.since } };
      } else {
        const { at, probe, trial } = permit;
        // Set before the wait, so that the chat of an earlier trial can't end this one by asking in the meantime.
        if (trial !== null) this.#trialChat = owner;
        if (await this.#waitForStart(at, epoch, now)) {
          const { credentials } = config;
          const brokenSince = breaker?.since ?? null;
          return { outcome: "granted", probe, trial, epoch, provenEpoch, brokenSince, credentials };
        }
        this.#endTrial(trial);
      }
    }
  }

  /** The network asked this channel to pause for `afterMs`. */
  slowDown(afterMs: number): void {
    this.#setPace(slowDown(this.pace, afterMs, this.#ports.clock.now()));
  }

  /** The network refused the channel itself. The chat is woken when the channel works again. */
  async reportBroken({ channelId, chatId, reason, ...attempt }: BreakReport): Promise<void> {
    const before = this.pace;
    const pace = breakChannel(before, reason, attempt, this.#ports.clock.now());
    if (pace.breaker) this.#ports.addWaiting(chatId);
    this.#setPace(pace);
    if (pace.breaker && pace.breaker.probeAt !== before.breaker?.probeAt) {
      await this.#ports.healthChanged(channelId, false);
    }
  }

  /** A probe or a trial ended, or did not begin. */
  async reportProbe({ channelId, works, isUnused = false, ...attempt }: ProbeReport): Promise<void> {
    if (isUnused) return this.#setPace(attemptUnused(this.pace, attempt, this.#ports.clock.now()));
    await this.#change(channelId, attemptEnded(this.pace, attempt, works, this.#ports.clock.now()));
  }

  /** Applies the version of the credentials. A new one closes the breaker, even if `refresh` was never called. */
  async useCredentials(channelId: string, version: string): Promise<void> {
    const pace = withCredentials(this.pace, version);
    if (pace !== this.pace) await this.#change(channelId, pace);
  }

  /** The network reported something about the account. */
  async takeNews(channelId: string, state: NonNullable<ChannelNews["state"]>): Promise<void> {
    await this.#change(channelId, withNews(this.pace, state, this.#ports.clock.now()));
  }

  /** The channel was erased: who waits for a start gets none. */
  forget(): void {
    this.#pace = undefined;
    this.#changed.announce();
  }

  /** A trial ended without a report. */
  #endTrial(trial: number | null): void {
    const { epoch } = this.pace;
    this.#setPace(endTrial(this.pace, { trial, epoch }, false, this.#ports.clock.now()));
  }

  /** Waits for a start. @returns false if the channel broke, recovered, was slowed down or was erased in the meantime */
  async #waitForStart(at: number, epoch: number, now: number): Promise<boolean> {
    if (at <= now) return true;
    let isOver = false;
    const start = this.#ports.clock.wait(at - now).then(() => {
      isOver = true;
    });
    const isValid = () => !this.#ports.kv.isErased && isStillValid(this.pace, at, epoch);
    while (!isOver && isValid()) await this.#changed.wait(start);
    return isValid();
  }

  async #change(channelId: string, pace: ChannelPace): Promise<void> {
    const wasBroken = this.pace.breaker !== null;
    this.#setPace(pace);
    const isBroken = pace.breaker !== null;
    if (wasBroken !== isBroken) await this.#ports.healthChanged(channelId, !isBroken);
  }

  #setPace(pace: ChannelPace): void {
    const before = this.pace;
    // Stored first: a report that could not be stored is not known when it is repeated.
    if (mustStore(before, pace, this.#storedClock, this.#ports.clock.now())) {
      this.#ports.kv.put("pace", pace);
      this.#storedClock = pace.clock;
    }
    this.#pace = pace;
    if (affectsWaiters(before, pace)) this.#changed.announce();
  }
}
