import type { Marketing } from "../../model/chat.ts";
import type { Said } from "../../model/chat-answers.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { NewEvent } from "./log/event-log.ts";
import type { MessageLog } from "./log/message-log.ts";

interface Parts {
  storage: { kv: SyncKvStorage };
  log: Pick<MessageLog, "commit">;
  report: Pick<ChatReporter, "stateChanged">;
}

/** Whether the contact takes marketing. What was said last holds, in whatever order it arrives. */
export class Consent {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null if nobody has said anything. */
  marketing(): Marketing | null {
    return this.#parts.storage.kv.get<Marketing>("marketing") ?? null;
  }

  /** What holds after somebody said something; null if something else was said later, or this was known. */
  after({ optedOut, at, by }: Said): Marketing | null {
    const before = this.marketing();
    const known = before ? Date.parse(before.at) : Number.NEGATIVE_INFINITY;
    // Networks say seconds. Of two words of one second, the opt-out holds.
    const isNews = at > known || (at === known && optedOut && !before?.optedOut);
    return isNews ? { optedOut, at: new Date(at).toISOString(), by } : null;
  }

  /** Stores it, in a commit that has its event. */
  write(marketing: Marketing): void {
    this.#parts.storage.kv.put("marketing", marketing);
  }

  /** What the contact or its network says. */
  hear(said: Said): void {
    const marketing = this.after(said);
    if (!marketing) return;
    this.#parts.log.commit([consentEvent(marketing)], () => this.write(marketing));
    this.#parts.report.stateChanged();
  }

  /** The network refused a message, because the contact takes no marketing. It says nothing new of one who opted out. */
  refused(at: number): void {
    if (!this.marketing()?.optedOut) this.hear({ optedOut: true, at, by: "network" });
  }

  /** What holds after a client said something now; null if it holds already. */
  changedBy(by: "key" | "member", optedOut: boolean, now: number): Marketing | null {
    const before = this.marketing();
    if (before?.optedOut === optedOut) return null;
    // The clock may have been set back.
    const at = Math.max(now, before ? Date.parse(before.at) : 0);
    return { optedOut, at: new Date(at).toISOString(), by };
  }
}

export function consentEvent(marketing: Marketing): NewEvent {
  return { type: "chat.consent", seq: null, note: { marketing }, at: Date.now() };
}
