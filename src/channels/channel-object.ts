import { DurableObject } from "cloudflare:workers";
import { isOutage } from "../db/client.ts";
import { StandingAlarm } from "../platform/alarm.ts";
import { callObject } from "../platform/call-object.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { ActivityBuffer } from "./activity.ts";
import { type QueueReport, StatsBuffer } from "./attempt-counts.ts";
import { HealthBuffer } from "./health.ts";
import {
  type BreakReport,
  type PermitAnswer,
  type PermitRequest,
  Permits,
  type ProbeReport,
  type SendingConfig,
} from "./permits.ts";
import { type ChannelRecord, channelRecord } from "./record.ts";
import { ADAPTERS } from "./registry.ts";
import { WaitingChats } from "./waiting-chats.ts";
import { type NewChatDecision, NewChatLimit } from "./web/new-chat-limit.ts";
import { type SocketPolicy, socketPolicyOf } from "./web/socket-policy.ts";

const AGAIN_AFTER_MS = 15_000;
/** How long the last known record is used while the directory is down. */
const KNOWN_FOR_MS = 3_600_000;

/**
 * One channel: what its chats share. Its pace and its health decide when a chat may call the network; when each chat
 * was last active is collected here on its way to the directory.
 */
export class ChannelObject extends DurableObject<Env> {
  readonly #activity = new ActivityBuffer(this.ctx.storage, this.env);
  readonly #stats = new StatsBuffer(this.ctx.storage, this.env, () => this.#permits.pace.breaker?.probeAt ?? null);
  readonly #health = new HealthBuffer(this.ctx.storage, this.env, () => this.#permits.pace.breaker);
  readonly #newChats = new NewChatLimit(this.ctx.storage);
  readonly #waiting = new WaitingChats(this.ctx.storage.kv, SYSTEM_CLOCK, (chatId) =>
    callObject(this.env.CHATS, chatId, (chat) => chat.wake()),
  );
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  readonly #permits = new Permits({
    kv: this.ctx.storage.kv,
    clock: SYSTEM_CLOCK,
    sendingConfig: (channelId) => this.#sendingConfig(channelId),
    addWaiting: (chatId) => this.#waiting.add(chatId),
    // The alarm wakes the chats that wait for the channel, so it is set before anything that may fail.
    healthChanged: (channelId, works) => this.#writeHealth(channelId, Date.now() + (works ? 0 : AGAIN_AFTER_MS)),
  });
  #known: ChannelRecord | null = null;

  /**
   * A chat of this channel reports: its newest message was at `at`, Unix milliseconds, or 0 if it has reported that
   * before. `queue` says what waits in it and how its attempts ended.
   */
  async reportActivity(chatId: string, at: number, queue?: QueueReport): Promise<void> {
    const activityAt = at > 0 ? this.#activity.add(chatId, at) : null;
    const statsAt = queue ? this.#stats.add(chatId, queue) : null;
    await this.#alarm.by(activityAt);
    await this.#alarm.by(statsAt);
  }

  /** A chat was erased: what waited in it counts no more. */
  async removeChat(chatId: string): Promise<void> {
    if (this.#stats.remove(chatId)) await this.#alarm.by(Date.now() + AGAIN_AFTER_MS);
  }

  permit(request: PermitRequest): Promise<PermitAnswer> {
    return this.#permits.permit(request);
  }

  slowDown(afterMs: number): void {
    this.#permits.slowDown(afterMs);
  }

  reportBroken(report: BreakReport): Promise<void> {
    return this.#permits.reportBroken(report);
  }

  reportProbe(report: ProbeReport): Promise<void> {
    return this.#permits.reportProbe(report);
  }

  /** The operator changed the channel. New credentials are tried at once. */
  async refresh(channelId: string): Promise<void> {
    const record = await channelRecord(this.env, channelId, { fresh: "now" });
    this.#known = record;
    const terms = sendingConfigOf(record);
    if (terms) await this.#permits.useCredentials(channelId, terms.credentialsVersion);
  }

  /** Whether a visitor from `network` may open one more chat, which is counted then. */
  async admitNewChat(network: string, chatId: string): Promise<NewChatDecision> {
    const now = Date.now();
    const opening = this.#newChats.count(network, chatId, now);
    await this.#alarm.by(this.#newChats.prune(now));
    return opening;
  }

  /** Whom the web channel lets in at present; null where it is gone. */
  async socketPolicy(channelId: string, wanted: { withFingerprints: boolean }): Promise<SocketPolicy | null> {
    const record = await this.#record(channelId);
    return record?.kind === "web" ? socketPolicyOf(record, wanted, Date.now()) : null;
  }

  /** Erases what the object holds; the directory's row is gone. */
  async erase(): Promise<void> {
    this.#activity.forget();
    this.#stats.forget();
    this.#health.forget();
    this.#newChats.reset();
    this.#permits.forget();
    this.#known = null;
    await this.ctx.storage.deleteAll();
    this.#alarm.gone();
  }

  /** Writes activity and health that wait, and wakes chats that waited for the channel. Never throws. */
  override async alarm(): Promise<void> {
    const safety = Date.now() + AGAIN_AFTER_MS;
    await this.#alarm.set(safety);
    const due = [
      await this.#activity.flush(),
      await this.#health.flush(),
      await this.#waiting.wake(() => this.#permits.pace),
      await this.#stats.flush(),
      // A change during this alarm may have found it early enough, and set none for itself.
      this.#activity.dueAt(),
      this.#health.dueAt(),
      this.#stats.dueAt(),
      this.#newChats.prune(Date.now()),
    ];
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

  async #sendingConfig(channelId: string): Promise<SendingConfig | null> {
    return sendingConfigOf(await this.#record(channelId));
  }

  /** Writes the channel's health to the directory: now, and if that fails with the alarm, which rings by `alarmAt`. */
  async #writeHealth(channelId: string, alarmAt: number): Promise<void> {
    this.#health.add(channelId);
    await this.#alarm.by(alarmAt);
    await this.#alarm.by(await this.#health.flush());
  }
}

/** What permits need of a channel; null if it is being deleted or is a web channel. */
function sendingConfigOf(record: ChannelRecord | null): SendingConfig | null {
  if (!record || record.kind === "web") return null;
  const { kind, credentials, credentialsVersion, settings } = record;
  return { credentials, credentialsVersion, perSecond: settings.perSecond ?? ADAPTERS[kind].defaults.perSecond };
}
