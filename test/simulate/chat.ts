import type { Attempt } from "../../src/channels/pace.ts";
import { REPORT_AFTER_MS } from "../../src/chats/activity-report.ts";
import { outboundMessage } from "../../src/chats/log/new-message.ts";
import { redacted } from "../../src/chats/log/redaction.ts";
import type { StatusNews } from "../../src/chats/rpc.ts";
import type { Call } from "./network.ts";
import type { Task } from "./object.ts";
import { SimulatedOutbox } from "./outbox.ts";

/** As in the chat's object: when its alarm rings once more, should its work be cut off. */
const AGAIN_AFTER_MS = 30_000;

/**
 * A chat's object: what comes to it, and its alarm, as the service's has them. At each `yield` it waits, with its writes
 * on disk.
 */
export class SimulatedChat extends SimulatedOutbox {
  /** A client sends a message that takes `of` calls. */
  send(of: number): void {
    const { now } = this.world;
    const seq = this.rows.length + 1;
    const startsNow = !this.head() && !this.memory.run;
    const draft = {
      id: this.messageId(seq),
      content: "",
      type: "TEXT" as const,
      mediaUrl: null,
      templateId: null,
      variables: null,
      metadata: {},
      idempotencyHash: null,
      fingerprint: null,
      prepared: { outcome: "prepared" as const, senderId: "", text: "", template: null },
    };
    const at = new Date(now).toISOString();
    const message = outboundMessage(draft, draft.prepared, { chatId: this.id, seq, at }, true);
    const delivery = this.decisions.first(startsNow, now);
    this.rows = [...this.rows, { seq, message, delivery, parts: { ids: [], of }, lastError: null, template: null }];
    if (startsNow) this.memory.marked = seq;
    this.alarmBy(now + REPORT_AFTER_MS);
    this.start(this.#deliver(), () => this.judge.acknowledged(seq));
  }

  /** The network tells of a message; told again until it is on disk. `call`: which call it is of, if of any. */
  override tell(news: StatusNews, call: Call | null): void {
    const again = () => this.world.after(5_000, () => this.tell(news, call));
    const row = this.decisions.rowOfStatus(this, news, this.memory.sending?.seq ?? null);
    if (!row) return;
    const before = this.known(row);
    const { messageId, networkId, status, error } = news;
    const after = this.decisions.applyNews(before, { networkId, status, error, isOurs: messageId !== null });
    this.world.count(after ? (after === before ? "news that is none" : "news") : "news of no message");
    if (!after) return;
    this.save(row, before, after, status);
    let report: { reason: string; attempt: Attempt } | null = null;
    if (after.broken !== undefined) {
      const attempt = this.decisions.brokenChannelReport(row, this.world.now);
      if (this.memory.sending?.seq === row.seq) this.memory.sending.broken = after.broken;
      else if (attempt) report = { reason: after.broken, attempt };
    }
    const isNamed = row.parts.ids.includes(networkId) || messageId !== null;
    this.start(
      this.#goOn(report),
      () => {
        if (!isNamed) return;
        this.judge.told(row.seq, status);
        if (call && status !== "FAILED" && (row.parts.of ?? 1) === 1) call.isKnown = true;
      },
      again,
    );
  }

  /** What waits may have come due. */
  *#goOn(report: { reason: string; attempt: Attempt } | null): Task<void> {
    const { now } = this.world;
    const head = this.head();
    if (head && this.decisions.wakeAt(head.delivery, now) <= now) this.alarmBy(now + AGAIN_AFTER_MS);
    if (report) {
      const { attempt, reason } = report;
      yield* this.report({ outcome: "channel_broken", reason, parts: [] }, attempt);
    }
    yield* this.#deliver();
  }

  /** The channel works again. */
  override wake(): void {
    this.memory.wakes++;
    const head = this.head();
    const delivery = head && this.decisions.afterWake(head.delivery, this.world.now);
    if (head && delivery) this.write({ ...head, delivery });
    this.start(this.#goOn(null));
  }

  /** The operator blanks a message. */
  redact(): void {
    const row = this.world.pick([this.head(), this.world.pick(this.rows)]);
    if (!row) return;
    this.world.count("redacted");
    this.write({ ...row, message: redacted(row.message), lastError: null }, "redacted");
    this.start(this.#goOn(null));
  }

  *#deliver(): Task<void> {
    const lineAt = yield* this.work();
    if (lineAt !== null) this.alarmBy(lineAt);
  }

  protected override *ring(): Task<void> {
    this.memory.isRinging = true;
    this.setAlarm(this.world.now + AGAIN_AFTER_MS);
    yield (goOn) => goOn();
    if (this.world.fault("alarm cut off", 0.1)) return this.lose();
    this.setAlarm(yield* this.work());
    this.memory.isRinging = false;
  }
}
