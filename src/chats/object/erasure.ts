import { answerWithin } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import type { ChatIdentity } from "../../model/chat-answers.ts";
import { causeOf } from "../../platform/log.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import type { DuePart, DueWork } from "../../platform/object/due-work.ts";
import type { ObjectSubscriptions } from "../../webhooks/subscription/object-subscriptions.ts";
import { type ChatFiles, deleteLives } from "./files/chat-files.ts";
import type { Adoption, Tombstone } from "./identity.ts";
import type { VisitorSockets } from "./visitors/visitor-sockets.ts";

const TOMBSTONE_MS = 600_000;
/** A step that fails is repeated after waits that double, within these bounds. */
const AGAIN_AFTER_MS = { least: 60_000, most: 3_600_000 };
const CALL_TIMEOUT_MS = 10_000;

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  adoption: Adoption;
  alarm: StandingAlarm;
  visitors: VisitorSockets;
  subscriptions: ObjectSubscriptions;
  files: ChatFiles;
  due: DueWork;
}

/**
 * The deletion of a chat in its object. A tombstone stays for ten minutes, so that no late call creates the chat again.
 */
export class Erasure implements DuePart {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * The organization's object deletes the chat of `life`, and its files. Does nothing if the object holds a later life.
   * @throws if the files can't be deleted: the call is repeated
   */
  async erase(organizationId: string, life: number): Promise<void> {
    const { adoption } = this.#parts;
    const newest = Math.max(adoption.identity()?.life ?? 0, adoption.tombstone()?.life ?? 0);
    if (newest > life) return;
    const until = Date.now() + TOMBSTONE_MS;
    const filesOf = this.#filesOf();
    this.#bury({ organizationId, life, until, ...(filesOf !== undefined && { filesOf }) });
    await this.#parts.alarm.set(until);
    if (filesOf !== undefined) await deleteLives(this.#parts.env, filesOf, life);
  }

  /**
   * The chat deletes itself, because it is empty and idle. From then on it answers `unknown`, so that no message is
   * stored in it and lost. The alarm reports it to the organization's object until that object has confirmed it.
   */
  async deleteChat({ organizationId, chatId, life }: ChatIdentity): Promise<void> {
    const until = Date.now() + TOMBSTONE_MS;
    this.#bury({ organizationId, life, until, untoldId: chatId, ...(this.#parts.files.hasAny && { filesOf: chatId }) });
    await this.#parts.alarm.set(Date.now() + AGAIN_AFTER_MS.least);
    await this.#report();
  }

  /** When the alarm must ring for the tombstone; null if there is none. What fails now is repeated then. */
  dueAt(now: number): number | null {
    const { adoption } = this.#parts;
    // Most objects hold a chat, and know that without a look into storage.
    const tombstone = adoption.identity() ? undefined : adoption.tombstone();
    if (!tombstone) return null;
    const { until, untoldId } = tombstone;
    if (untoldId !== undefined) return againAt(until - TOMBSTONE_MS, now);
    return now < until ? until : againAt(until, now);
  }

  /** Reports the deletion, or deletes a tombstone that is too old. */
  async run(now: number): Promise<void> {
    const { adoption } = this.#parts;
    const tombstone = adoption.identity() ? undefined : adoption.tombstone();
    if (tombstone?.untoldId !== undefined) return this.#report();
    if (!tombstone || tombstone.until > now) return;
    const { life, filesOf } = tombstone;
    // An upload that was under way may have written since.
    if (filesOf !== undefined) await deleteLives(this.#parts.env, filesOf, life);
    // The chat may have been created again: then the new one deletes what came late.
    if (!adoption.identity()) await this.#deleteAll();
  }

  #filesOf(): string | undefined {
    const { adoption } = this.#parts;
    const identity = adoption.identity();
    if (!identity) return adoption.tombstone()?.filesOf;
    return this.#parts.files.hasAny ? identity.chatId : undefined;
  }

  async #deleteAll(): Promise<void> {
    const { adoption, alarm, storage } = this.#parts;
    const { organizationId } = adoption.tombstone() ?? {};
    try {
      const deleted = storage.deleteAll();
      // Before the wait: a chat that is created meanwhile needs an alarm of its own.
      alarm.gone();
      await deleted;
    } catch (error) {
      console.error({ event: "tombstone_not_deleted", organizationId, error: causeOf(error) });
    }
  }

  #bury(tombstone: Tombstone): void {
    const { adoption, due, subscriptions, visitors } = this.#parts;
    visitors.closeAll();
    subscriptions.ownerDeleted();
    // Before the first await: an attempt under way must find no chat when it returns.
    adoption.bury(tombstone);
    due.forget();
  }

  /** Reports to the organization's object that the chat deleted itself. */
  async #report(): Promise<void> {
    const { adoption, alarm, env } = this.#parts;
    const tombstone = adoption.tombstone();
    if (tombstone?.untoldId === undefined) return;
    const { organizationId, life, untoldId, filesOf } = tombstone;
    try {
      await answerWithin(CALL_TIMEOUT_MS, () =>
        callOrganization(env, organizationId, (organization) => organization.chatGone(untoldId, life)),
      );
    } catch (error) {
      console.warn({ event: "chat_deletion_not_told", chatId: untoldId, error: causeOf(error) });
      return;
    }
    // The chat may have been created again.
    if (adoption.tombstone()?.untoldId === undefined) return;
    const until = Date.now() + TOMBSTONE_MS;
    adoption.bury({ organizationId, life, until, ...(filesOf !== undefined && { filesOf }) });
    await alarm.set(until);
  }
}

/** When a step that has failed since a time is repeated, with waits that double. Unix milliseconds. */
function againAt(since: number, now: number): number {
  return now + Math.min(AGAIN_AFTER_MS.most, Math.max(AGAIN_AFTER_MS.least, now - since));
}
