import { DurableObject } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { directory, isOutage } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import { causeOf } from "../log.ts";
import { StandingAlarm } from "../platform/alarm.ts";
import { ActivityBuffer } from "./activity.ts";
import type { Credentials } from "./adapter.ts";
import { type LineNews, StatsBuffer } from "./attempt-counts.ts";
import {
  type Attempt,
  attemptEnded,
  breakChannel,
  type ChannelPace,
  endTrial,
  grantPermit,
  isNews,
  isStillGood,
  mustStore,
  NEAR_MS,
  STEADY,
  slowDown,
  withCredentials,
} from "./pace.ts";
import { type ChannelRecord, channelRecord } from "./record.ts";
import { ADAPTERS } from "./registry.ts";
import { WaitingChats } from "./waiting-chats.ts";
import { type Opening, Openings } from "./web/new-chat-limit.ts";
import { type SocketPolicy, socketPolicyOf } from "./web/socket-policy.ts";

/** A chat that wants to call the network. */
export interface PermitRequest {
  channelId: string;
  chatId: string;
  /** A start that an earlier permit named. */
  reservedAt: number | null;
  /** The epoch in which the message last met a broken channel; null if it never did. */
  brokeIn: number | null;
}

/**
 * `granted`: call the network now; the credentials are handed out with each permit and stored by no chat. With `brokenSince`
 * it is a probe of a broken channel. `provenIn`: the value of `mended` when the channel last showed that it works. `later`: ask again at `at`; `broken` says why the channel as a whole can't be
 * used, and since when.
 */
export type PermitAnswer =
  | ({ outcome: "granted"; credentials: Credentials; brokenSince: number | null; provenIn: number } & Attempt)
  | { outcome: "later"; at: number; broken: { reason: string; since: number } | null };

/** An attempt that the network answered by refusing the channel itself. */
export interface BreakReport extends Attempt {
  channelId: string;
  chatId: string;
  reason: string;
}

/** How a probe or a trial ended. */
export interface ProbeReport extends Attempt {
  channelId: string;
  /** The network answered as one does that accepts the channel. */
  works: boolean;
}

const GONE_MS = 60_000;
const AGAIN_AFTER_MS = 15_000;
/** So many may wait for a trial's end here; more than that come again. */
const MAX_PATIENT = 1_000;
/** How long a channel is served as it was known last while the directory is down. */
const KNOWN_FOR_MS = 3_600_000;

/**
 * One channel: what its chats share. Its pace and its health decide when a chat may call the network; when each chat
 * was last active is collected here on its way to the directory.
 */
export class ChannelObject extends DurableObject<Env> {
  readonly #activity = new ActivityBuffer(this.ctx.storage);
  readonly #stats = new StatsBuffer(this.ctx.storage);
  readonly #openings = new Openings(this.ctx.storage);
  readonly #waiting = new WaitingChats(this.ctx.storage, this.env);
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  #known: ChannelRecord | null = null;
  #pace: ChannelPace | undefined;
  #keptClock = 0;
  /** Whose attempt the trial under way is. */
  #tried = "";
  #patient = 0;
  /** Resolves when the pace or the breaker changes: for those that wait for their start, or for a trial's end. */
  #news = Promise.withResolvers<void>();

  /**
   * A chat of this channel had its newest message at `at`, Unix milliseconds, or 0 where it has told of that before;
   * `line` is how its delivery stands.
   */
  async active(chatId: string, at: number, line?: LineNews): Promise<void> {
    const activityAt = at > 0 ? this.#activity.add(chatId, at) : null;
    const statsAt = line ? this.#stats.add(chatId, line, Date.now()) : null;
    await this.#alarm.by(activityAt);
    await this.#alarm.by(statsAt);
  }

  /** A chat was erased: what waited in it counts no more. */
  async gone(chatId: string): Promise<void> {
    if (this.#stats.remove(chatId)) await this.#alarm.by(Date.now() + AGAIN_AFTER_MS);
  }

  /**
   * Gives a chat its start, or says when to ask again. A start that is near is waited for here: so none is given that
   * the channel's state has overtaken meanwhile. A chat that meets a broken channel is woken when it works.
   */
  async permit({ channelId, chatId, reservedAt, brokeIn }: PermitRequest): Promise<PermitAnswer> {
    let patience: Promise<unknown> | undefined;
    let isPatient = this.#patient < MAX_PATIENT;
    // A chat makes one attempt at a time: this one's is over, though nobody told of it.
    if (chatId === this.#tried) this.#trialEnded(this.#state().trialUntil);
    for (;;) {
      const record = await this.#record(channelId);
      const now = Date.now();
      // Being erased, and its chats before it.
      if (!record || record.kind === "web") return { outcome: "later", at: now + GONE_MS, broken: null };
      await this.#useCredentials(record);
      const perSecond = record.settings.perSecond ?? ADAPTERS[record.kind].defaults.perSecond;
      const { permit, pace } = grantPermit(
        this.#state(),
        { reservedAt, isPatient, brokeIn },
        perSecond,
        now,
        Math.random(),
      );
      this.#keep(pace);
      const { epoch, provenIn, breaker } = pace;
      if (permit.outcome === "wait") {
        patience ??= scheduler.wait(NEAR_MS).then(() => {
          isPatient = false;
        });
        await this.#wait(patience);
      } else if (permit.outcome === "later") {
        if (!permit.broken || !breaker) return { ...permit, broken: null };
        this.#waiting.add(chatId);
        return { ...permit, broken: { reason: breaker.reason, since: breaker.since } };
      } else {
        const { at, probe, trial } = permit;
        // Before its start: the chat of the trial before may come meanwhile, and would end this one.
        if (trial !== null) this.#tried = chatId;
        if (await this.#startOf(at, epoch, now)) {
          const { credentials } = record;
          return {
            outcome: "granted",
            probe,
            trial,
            epoch,
            provenIn,
            brokenSince: breaker?.since ?? null,
            credentials,
          };
        }
        this.#trialEnded(trial);
      }
    }
  }

  /** A trial is over, of which nobody knows how it ended. */
  #trialEnded(trial: number | null): void {
    const state = this.#state();
    this.#keep(endTrial(state, { trial, epoch: state.epoch }, false, Date.now()));
  }

  /** Waits for a start. @returns whether it came: by then the channel may be broken, mended, or told to rest */
  async #startOf(at: number, epoch: number, now: number): Promise<boolean> {
    if (at <= now) return true;
    let isOver = false;
    const start = scheduler.wait(at - now).then(() => {
      isOver = true;
    });
    const isGood = () => isStillGood(this.#state(), at, epoch);
    while (!isOver && isGood()) await Promise.race([start, this.#news.promise]);
    return isGood();
  }

  /** Waits for a trial's end, while there is patience. */
  async #wait(patience: Promise<unknown>): Promise<void> {
    this.#patient++;
    try {
      await Promise.race([patience, this.#news.promise]);
    } finally {
      this.#patient--;
    }
  }

  /** The network wants fewer calls from this channel: none for `afterMs`. */
  slowDown(afterMs: number): void {
    this.#keep(slowDown(this.#state(), afterMs, Date.now()));
  }

  /** The network refused the channel itself. The chat that met it is woken when the channel works. */
  async broke({ channelId, chatId, reason, ...attempt }: BreakReport): Promise<void> {
    const before = this.#state();
    const pace = breakChannel(before, reason, attempt, Date.now());
    this.#keep(pace);
    if (pace.breaker) this.#waiting.add(chatId);
    if (pace.breaker && !before.breaker) await this.#tellHealth(channelId, Date.now() + AGAIN_AFTER_MS);
  }

  /** How a probe or a trial ended that did not find the channel broken: the network answered, or nobody knows. */
  async probed({ channelId, works, ...attempt }: ProbeReport): Promise<void> {
    await this.#change(channelId, attemptEnded(this.#state(), attempt, works, Date.now()));
  }

  /** Where this mends the channel, its health is told. */
  async #change(channelId: string, pace: ChannelPace): Promise<void> {
    const isBroken = this.#state().breaker !== null;
    this.#keep(pace);
    // The alarm wakes the chats that wait, so it stands before anything that may break off.
    if (isBroken && !pace.breaker) await this.#tellHealth(channelId, Date.now());
  }

  /** The operator changed the channel: its record is read anew. With other credentials it is tried at once. */
  async changed(channelId: string): Promise<void> {
    const record = await channelRecord(this.env, channelId, { fresh: "now" });
    this.#known = record;
    if (record) await this.#useCredentials(record);
  }

  /** Other credentials than before close the breaker, also if nobody told this object that they changed. */
  async #useCredentials({ id, kind, credentialsVersion }: ChannelRecord): Promise<void> {
    if (kind === "web") return;
    const pace = withCredentials(this.#state(), credentialsVersion);
    if (pace !== this.#state()) await this.#change(id, pace);
  }

  /** Whether a visitor from `network` may open one more chat, which is counted then. */
  async mayOpenChat(network: string, chatId: string): Promise<Opening> {
    const now = Date.now();
    const opening = this.#openings.take(network, chatId, now);
    await this.#alarm.by(this.#openings.forget(now));
    return opening;
  }

  /** Whom the web channel lets in at present; null where it is gone. */
  async terms(channelId: string, wanted: { withMarks: boolean }): Promise<SocketPolicy | null> {
    const record = await this.#record(channelId);
    return record?.kind === "web" ? socketPolicyOf(record, wanted, Date.now()) : null;
  }

  /** Erases what the object holds; the directory's row is gone. */
  async erase(): Promise<void> {
    this.#activity.forget();
    this.#stats.forget();
    this.#openings.erased();
    this.#pace = undefined;
    this.#known = null;
    await this.ctx.storage.deleteAll();
    this.#alarm.gone();
  }

  /** Writes activity and health that wait, and wakes chats that waited for the channel. Never throws. */
  override async alarm(): Promise<void> {
    const safety = Date.now() + AGAIN_AFTER_MS;
    await this.#alarm.set(safety);
    const flushed = [
      await this.#activity.flush(this.env.DB),
      await this.#flushHealth(),
      await this.#waiting.wake(() => this.#state()),
    ];
    const [activityAt = null, healthAt = null, wakeAt = null] = flushed;
    const statsAt = await this.#stats.flush(this.env.DB, this.#probeAt(), Date.now());
    // What came in meanwhile may have found this alarm early enough, and set none for itself.
    const due = [activityAt ?? this.#activity.dueAt(), healthAt ?? this.#healthDueAt(), wakeAt];
    due.push(statsAt ?? this.#stats.dueAt(this.#probeAt(), Date.now()));
    due.push(this.#openings.forget(Date.now()));
    // What came in meanwhile has set the alarm for itself; or everything was erased, and with it the alarm.
    const standing = await this.#alarm.standing();
    if (standing === null) return;
    if (standing !== safety) due.push(standing);
    const next = due.filter((at) => at !== null);
    await this.#alarm.set(next.length > 0 ? Math.min(...next) : null);
  }

  /** The channel; while the directory is down, as it was known last. */
  async #record(channelId: string): Promise<ChannelRecord | null> {
    try {
      const record = await channelRecord(this.env, channelId);
      // A read that began before the one that is known may end after it.
      const isOld = record !== null && this.#known !== null && record.readAt < this.#known.readAt;
      if (!isOld) this.#known = record;
    } catch (error) {
      if (!isOutage(error) || !this.#known || Date.now() - this.#known.readAt > KNOWN_FOR_MS) throw error;
    }
    return this.#known;
  }

  #probeAt(): number | null {
    return this.#state().breaker?.probeAt ?? null;
  }

  #state(): ChannelPace {
    this.#pace ??= this.ctx.storage.kv.get<ChannelPace>("pace") ?? STEADY;
    return this.#pace;
  }

  #keep(pace: ChannelPace): void {
    const before = this.#state();
    this.#pace = pace;
    if (isNews(before, pace)) this.#tellNews();
    if (!mustStore(before, pace, this.#keptClock, Date.now())) return;
    this.#keptClock = pace.clock;
    this.ctx.storage.kv.put("pace", pace);
  }

  #tellNews(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** Writes the channel's health to the directory: now and, where that fails, with the alarm, which rings by `alarmAt`. */
  async #tellHealth(channelId: string, alarmAt: number): Promise<void> {
    this.ctx.storage.kv.put("health", channelId);
    await this.#alarm.by(alarmAt);
    await this.#alarm.by(await this.#flushHealth());
  }

  #healthDueAt(): number | null {
    return this.ctx.storage.kv.get("health") === undefined ? null : Date.now() + AGAIN_AFTER_MS;
  }

  async #flushHealth(): Promise<number | null> {
    const channelId = this.ctx.storage.kv.get<string>("health");
    if (channelId === undefined) return null;
    const { breaker } = this.#state();
    const health = breaker
      ? { healthState: "broken" as const, healthReason: breaker.reason, healthSince: breaker.since }
      : { healthState: "ok" as const, healthReason: null, healthSince: Date.now() };
    try {
      await directory(this.env).update(channels).set(health).where(eq(channels.id, channelId));
      // Changed again in the meantime: then it is written again.
      if (this.#state().breaker?.since !== breaker?.since) return Date.now();
      this.ctx.storage.kv.delete("health");
      return null;
    } catch (error) {
      console.warn({ event: "health_not_written", channelId, error: causeOf(error) });
      return Date.now() + AGAIN_AFTER_MS;
    }
  }
}
