import { DurableObject } from "cloudflare:workers";
import { answerWithin, callObject } from "../../calls/call-object.ts";
import { type ChannelRecord, type ChannelRow, channelRecord } from "../../calls/channel-record.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { warnIfFails } from "../../platform/log.ts";
import { StandingAlarm } from "../../platform/object/alarm.ts";
import { DueWork } from "../../platform/object/due-work.ts";
import { ADAPTERS } from "../registry.ts";
import { syncTemplates } from "../templates/sync.ts";
import { type SocketPolicy, socketPolicyOf } from "../web/socket-policy.ts";
import { HealthReporter } from "./health.ts";
import { type NewChatDecision, NewChatLimit } from "./new-chat-limit.ts";
import {
  type BreakReport,
  type PermitAnswer,
  type PermitRequest,
  Permits,
  type ProbeReport,
  type SendingConfig,
} from "./permits.ts";
import { TemplateSyncs } from "./template-syncs.ts";
import { type UploadDecision, UploadLimit, type VisitorUpload } from "./upload-limit.ts";
import { WaitingChats } from "./waiting-chats.ts";

const RETRY_MS = 15_000;
const WAKE_TIMEOUT_MS = 5_000;

/**
 * The Durable Object of one channel. It decides when the channel's chats may call the network, and limits new web chats and what visitors upload.
 */
export class ChannelObject extends DurableObject<Env> {
  readonly #health = new HealthReporter({
    kv: this.ctx.storage.kv,
    env: this.env,
    breaker: () => this.#permits.pace.breaker,
    organizationOf: async (channelId) => (await this.#record(channelId))?.organizationId ?? null,
  });
  readonly #newChats = new NewChatLimit(this.ctx.storage);
  readonly #uploads = new UploadLimit(this.ctx.storage);
  readonly #waiting = new WaitingChats(
    this.ctx.storage.kv,
    () => this.#permits.pace,
    (chatId) => this.#wakeChat(chatId),
  );
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  readonly #permits = new Permits({
    kv: this.ctx.storage.kv,
    clock: SYSTEM_CLOCK,
    sendingConfig: (channelId) => this.#sendingConfig(channelId),
    addWaiting: (chatId) => this.#waiting.add(chatId),
    // After a recovery the alarm rings at once and wakes the waiting chats. It is set before the write, which may fail.
    healthChanged: (channelId, works) => {
      if (works) this.#waiting.recovered();
      return this.#reportHealth(channelId, Date.now() + (works ? 0 : RETRY_MS));
    },
  });
  readonly #templates = new TemplateSyncs({
    kv: this.ctx.storage.kv,
    record: (channelId) => this.#record(channelId),
    sync: (record) => syncTemplates(this.env, record),
  });
  readonly #due = new DueWork(
    { name: "channel", alarm: this.#alarm, waitUntil: (work) => this.ctx.waitUntil(work) },
    {
      health: this.#health,
      waiting: this.#waiting,
      newChats: this.#newChats,
      uploads: this.#uploads,
      permits: this.#permits,
      templates: this.#templates,
    },
  );
  #lastRecord: ChannelRecord | null = null;

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

  /** Reads the channel again after the operator changed it. New credentials are used at once. */
  async refresh(channelId: string): Promise<void> {
    const record = await channelRecord(this.env, channelId, { fresh: "now" });
    await this.#keep(record);
    const config = sendingConfigOf(record);
    if (config) await this.#permits.useCredentials(channelId, config.credentialsVersion);
  }

  /** The network has news of the templates. They are read again soon. */
  async syncTemplatesSoon(channelId: string): Promise<void> {
    this.#templates.soon(channelId);
    await this.#alarm.by(this.#templates.dueAt());
  }

  /** Counts a new chat of a visitor from `network`, unless a limit is reached. */
  async admitNewChat(network: string, chatId: string): Promise<NewChatDecision> {
    const now = Date.now();
    const decision = this.#newChats.count(network, chatId, now);
    await this.#alarm.by(this.#newChats.dueAt());
    return decision;
  }

  /** Counts a visitor's upload that begins, unless a limit is reached. */
  async admitUpload(upload: VisitorUpload): Promise<UploadDecision> {
    const decision = this.#uploads.begin(upload, Date.now());
    await this.#alarm.by(this.#uploads.dueAt());
    return decision;
  }

  /** A visitor's upload has ended. What it did not store is given back. */
  endUpload(upload: VisitorUpload, isStored: boolean): void {
    this.#uploads.end(upload, isStored, Date.now());
  }

  /** Which sockets the web channel accepts now; null if the channel is deleted. */
  async socketPolicy(channelId: string, options: { withFingerprints: boolean }): Promise<SocketPolicy | null> {
    const record = await this.#record(channelId);
    return record?.kind === "web" ? socketPolicyOf(record, options, Date.now()) : null;
  }

  /** The channel's row as the directory had it last, with sealed secrets; null if this object never read it. */
  storedRow(): ChannelRow | null {
    return this.ctx.storage.kv.get<ChannelRow>("row") ?? null;
  }

  /** Deletes all storage. Call after the channel's row in the directory was deleted. */
  async erase(): Promise<void> {
    this.#due.forget();
    this.#lastRecord = null;
    await this.ctx.storage.deleteAll();
    this.#alarm.gone();
  }

  /** Reports the health, wakes waiting chats, and deletes visitors' networks. */
  override alarm(invocation?: AlarmInvocationInfo): Promise<void> {
    return this.#due.ring(invocation);
  }

  async #wakeChat(chatId: string): Promise<void> {
    const wake = () => callObject(this.env.CHATS, chatId, (chat) => chat.wake());
    await warnIfFails({ event: "chat_not_woken", chatId }, () => answerWithin(WAKE_TIMEOUT_MS, wake));
  }

  async #record(channelId: string): Promise<ChannelRecord | null> {
    const record = await channelRecord(this.env, channelId);
    // Reads can end in a different order than they started.
    const isOld = record !== null && this.#lastRecord !== null && record.readAt < this.#lastRecord.readAt;
    if (!isOld) await this.#keep(record);
    return this.#lastRecord;
  }

  /** Keeps the record, and its row for isolates that need it while the directory is down. */
  async #keep(record: ChannelRecord | null): Promise<void> {
    if (record === this.#lastRecord) return;
    const isNew = record && JSON.stringify(record.row) !== JSON.stringify(this.#lastRecord?.row ?? this.storedRow());
    if (isNew) this.ctx.storage.kv.put("row", record.row);
    this.#lastRecord = record;
    if (record && this.#templates.follow(record)) await this.#alarm.by(this.#templates.dueAt());
  }

  async #sendingConfig(channelId: string): Promise<SendingConfig | null> {
    return sendingConfigOf(await this.#record(channelId));
  }

  /** Reports the channel's health to its organization. If that fails, the alarm, which rings by `alarmAt`, tries again. */
  async #reportHealth(channelId: string, alarmAt: number): Promise<void> {
    this.#health.add(channelId);
    await this.#alarm.by(alarmAt);
    await this.#alarm.by(await this.#health.flush());
  }
}

/** The sending configuration of a channel; null if it is being deleted or is a web channel. */
function sendingConfigOf(record: ChannelRecord | null): SendingConfig | null {
  if (!record || record.kind === "web") return null;
  const { kind, credentials, credentialsVersion, settings } = record;
  return { credentials, credentialsVersion, perSecond: settings.perSecond ?? ADAPTERS[kind].defaults.perSecond };
}
