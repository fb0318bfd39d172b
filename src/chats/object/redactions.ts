import type { RedactAnswer, Unknown } from "../../model/chat-answers.ts";
import type { Message } from "../../model/message.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import type { ObjectSubscriptions } from "../../webhooks/subscription/object-subscriptions.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { DeliveryQueue } from "./delivery/queue.ts";
import { printRedacted } from "./delivery/redaction.ts";
import type { ChatFiles } from "./files/chat-files.ts";
import { unreportedKey } from "./log/floor.ts";
import type { MessageLog } from "./log/message-log.ts";
import { isBlank } from "./log/redaction.ts";
import type { ScheduledMessages } from "./scheduled/scheduled-messages.ts";
import type { VisitorSockets } from "./visitors/visitor-sockets.ts";

interface Parts {
  storage: DurableObjectStorage;
  log: MessageLog;
  queue: DeliveryQueue;
  report: ChatReporter;
  subscriptions: ObjectSubscriptions;
  scheduled: ScheduledMessages;
  alarm: StandingAlarm;
  visitors: VisitorSockets;
  files: ChatFiles;
}

/** The JSON of the blank message. */
type Reported = { outcome: "ok"; doc: string } | { outcome: "not_reported" };

/**
 * Redactions of a chat's messages, and deletions by those who wrote them. Each is answered once the list of chats does
 * not show the text, and the file's bytes are deleted. The seqs of those that the list may not know yet are stored, so that they
 * can be repeated.
 */
export class Redactions {
  readonly #parts: Parts;
  /** The seqs of the reports that requests wait for. */
  readonly #underWay = new Set<number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Blanks a message. A queued message becomes FAILED, because nothing is left to deliver, and a scheduled one
   * CANCELED.
   * @param call the name of the request: a repeat after a lost answer has the same name and gets the same answer
   * @returns `not_reported` if the message is blank here and the list of chats may still show its text: call again
   */
  async redact(id: string, call: string): Promise<Exclude<RedactAnswer, Unknown>> {
    const { log } = this.#parts;
    const row = log.byId(id);
    if (!row) return this.#redactWithoutSeq(id, call);
    const { seq } = row;
    const redactedBy = log.redactedBy(seq);
    // A message that its writer deleted is blank, but not redacted.
    if (redactedBy === undefined) return this.#blank(JSON.parse(row.doc) as Message, call);
    const isRepeat = redactedBy === call || (this.#isUnreported(seq) && !this.#underWay.has(seq));
    return isRepeat ? this.#reported(seq, row.doc) : { outcome: "no_message" };
  }

  /**
   * Blanks a message that its writer deleted at the network. Repeating it changes nothing.
   * @returns `not_reported` as `redact` does
   */
  async deletedByWriter(message: Message): Promise<{ outcome: "ok" | "not_reported" }> {
    const { seq } = message;
    if (isBlank(message) && !this.#isUnreported(seq)) return { outcome: "ok" };
    const { outcome } = isBlank(message)
      ? await this.#reported(seq, JSON.stringify(message))
      : await this.#blank(message, null);
    return { outcome };
  }

  /** @param call the name of the request; null if its writer deleted the message */
  #blank(before: Message, call: string | null): Promise<Reported> {
    const { log, queue, subscriptions, visitors } = this.#parts;
    const { seq } = before;
    // First: if a later step fails, the redaction can be repeated until it is reported.
    this.#kv.put(unreportedKey(seq), true);
    queue.beforeRedaction(seq);
    const queued = log.delivered(seq);
    const message = log.redact(before, queued && printRedacted(queued), Date.now(), call);
    subscriptions.all.forgetResponses();
    visitors.update(message);
    queue.afterRedaction();
    return this.#reported(seq, JSON.stringify(message));
  }

  #isUnreported(seq: number): boolean {
    return this.#kv.get(unreportedKey(seq)) === true;
  }

  get #kv(): SyncKvStorage {
    return this.#parts.storage.kv;
  }

  /** The list of chats never shows a message without a place. */
  async #redactWithoutSeq(id: string, call: string): Promise<Exclude<RedactAnswer, Unknown>> {
    const { scheduled, subscriptions, files, alarm } = this.#parts;
    const answer = scheduled.redact(id, call);
    if (answer.outcome !== "ok") return answer;
    subscriptions.all.forgetResponses();
    // If the bytes can't be deleted now, the alarm does it later.
    await alarm.by(Date.now());
    if (!(await files.deleteNow(id))) return { outcome: "not_reported" };
    scheduled.ended.redactionAnswered(id, call);
    return answer;
  }

  /** Reports the chat's state, in which the text is blank. */
  async #reported(seq: number, doc: string): Promise<Reported> {
    const { report, alarm, files } = this.#parts;
    await alarm.by(report.changed());
    this.#underWay.add(seq);
    const { id } = JSON.parse(doc) as Message;
    const [isReported, isDeleted] = await Promise.all([report.settle(true), files.deleteNow(id)]).finally(() =>
      this.#underWay.delete(seq),
    );
    if (!isReported || !isDeleted) return { outcome: "not_reported" };
    this.#kv.delete(unreportedKey(seq));
    return { outcome: "ok", doc };
  }
}
