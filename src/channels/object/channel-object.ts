import { DurableObject } from "cloudflare:workers";
import type { ChannelRow } from "../../calls/channel-record.ts";
import type { ChannelNews } from "../../model/channel-warning.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { earliest, StandingAlarm } from "../../platform/object/alarm.ts";
import { DueWork } from "../../platform/object/due-work.ts";
import { ErasableKv } from "../../platform/object/erasable-kv.ts";
import { type SocketPolicy, socketPolicyOf } from "../web/socket-policy.ts";
import { CurrentChannel, sendingConfigOf } from "./current-channel.ts";
import { HealthReporter } from "./health.ts";
import { type NewChatDecision, NewChatLimit } from "./new-chat-limit.ts";
import { type BreakReport, type PermitAnswer, type PermitRequest, Permits, type ProbeReport } from "./permits.ts";
import { Questions } from "./questions.ts";
import { TemplateSyncs } from "./template-syncs.ts";
import { type UploadDecision, UploadLimit, type VisitorUpload } from "./upload-limit.ts";
import { WaitingChats } from "./waiting-chats.ts";
import { Warnings } from "./warnings.ts";

const RETRY_MS = 15_000;

/**
 * The Durable Object of one channel. It decides when the channel's chats may call the network, and limits new web chats
 * and what visitors upload.
 */
export class ChannelObject extends DurableObject<Env> {
  readonly #kv = new ErasableKv(this.ctx.storage);
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  readonly #channel = new CurrentChannel(this.env, this.#kv, async (record) => {
    if (this.#templates.follow(record)) await this.#alarm.by(this.#templates.dueAt());
    if (this.#questions.follow(record)) await this.#alarm.by(this.#questions.dueAt());
  });
  readonly #permits: Permits = new Permits({
    kv: this.#kv,
    clock: SYSTEM_CLOCK,
    sendingConfig: (channelId) => this.#channel.sendingConfig(channelId),
    addWaiting: (chatId) => this.#waiting.add(chatId),
    // After a recovery the alarm rings at once and wakes the waiting chats. It is set before the write, which may fail.
    healthChanged: (channelId, works) => {
      if (works) this.#waiting.recovered();
      return this.#reportHealth(channelId, "state", Date.now() + (works ? 0 : RETRY_MS));
    },
  });
  readonly #warnings: Warnings = new Warnings(this.#kv, (channelId) =>
    this.#reportHealth(channelId, "codes", Date.now() + RETRY_MS),
  );
  readonly #parts = {
    env: this.env,
    kv: this.#kv,
    channel: this.#channel,
    permits: this.#permits,
    warnings: this.#warnings,
  };
  readonly #health = new HealthReporter(this.#parts);
  readonly #waiting = new WaitingChats(this.#parts);
  readonly #templates = new TemplateSyncs(this.#parts);
  readonly #questions = new Questions(this.#parts, (channelId, news) => this.takeNews(channelId, news));
  readonly #newChats = new NewChatLimit(this.ctx.storage);
  readonly #uploads = new UploadLimit(this.ctx.storage);
  readonly #due = new DueWork(
    { name: "channel", alarm: this.#alarm, waitUntil: (work) => this.ctx.waitUntil(work) },
    {
      health: this.#health,
      waiting: this.#waiting,
      newChats: this.#newChats,
      uploads: this.#uploads,
      permits: this.#permits,
      templates: this.#templates,
      questions: this.#questions,
      warnings: this.#warnings,
    },
  );

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
    const config = sendingConfigOf(await this.#channel.refresh(channelId));
    if (config) await this.#permits.useCredentials(channelId, config.credentialsVersion);
  }

  /** The network has news of the templates. They are read again soon. */
  async syncTemplatesSoon(channelId: string): Promise<void> {
    this.#templates.soon(channelId);
    await this.#alarm.by(this.#templates.dueAt());
  }

  /** The network says something about the channel, in a webhook or because it was asked. */
  async takeNews(channelId: string, news: ChannelNews): Promise<void> {
    const change = this.#warnings.take(channelId, news, Date.now());
    if (news.isAskWorthy) this.#questions.soon(channelId);
    if (news.state !== undefined) await this.#permits.takeNews(channelId, news.state);
    if (change) await this.#reportHealth(channelId, change, Date.now() + RETRY_MS);
    await this.#alarm.by(earliest([this.#questions.dueAt(), this.#warnings.dueAt()]));
  }

  /** Counts a new chat of a visitor from `network`, unless a limit is reached. An erased channel counts nothing. */
  async admitNewChat(network: string, chatId: string): Promise<NewChatDecision> {
    if (this.#kv.isErased) return { ok: true };
    const now = Date.now();
    const decision = this.#newChats.count(network, chatId, now);
    await this.#alarm.by(this.#newChats.dueAt());
    return decision;
  }

  /** Counts a visitor's upload that begins, unless a limit is reached. An erased channel counts nothing. */
  async admitUpload(upload: VisitorUpload): Promise<UploadDecision> {
    if (this.#kv.isErased) return { ok: true };
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
    const record = await this.#channel.record(channelId);
    return record?.kind === "web" ? socketPolicyOf(record, options, Date.now()) : null;
  }

  /** The channel's row as the directory had it last, with sealed secrets; null if this object never read it. */
  storedRow(): ChannelRow | null {
    return this.#channel.storedRow();
  }

  /** Deletes all storage permanently. Call after the channel's row in the directory was marked. */
  async erase(): Promise<void> {
    const erased = this.#kv.erase();
    this.#due.forget();
    this.#channel.forget();
    await erased;
    this.#alarm.gone();
  }

  /** Sets the alarm again if the platform gave it up. @returns whether it had */
  checkAlarm(): Promise<boolean> {
    return this.#due.renew(true);
  }

  /** Reports the health, wakes waiting chats, and deletes visitors' networks. */
  override alarm(invocation?: AlarmInvocationInfo): Promise<void> {
    return this.#due.ring(invocation);
  }

  /** Reports the channel's health to its organization. If that fails, the alarm, which rings by `alarmAt`, tries again. */
  async #reportHealth(channelId: string, what: "state" | "codes" | "counts", alarmAt: number): Promise<void> {
    if (this.#kv.isErased) return;
    this.#health.add(channelId, what);
    await this.#alarm.by(alarmAt);
    await this.#alarm.by(await this.#health.flush());
  }
}
