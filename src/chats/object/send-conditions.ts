import type { ChatIdentity, UsedTemplate } from "../../model/chat-answers.ts";
import { replyUntil } from "../../model/reply-window.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { Consent } from "./consent.ts";
import type { Handover } from "./handover.ts";
import type { MessageLog } from "./log/message-log.ts";

interface Parts {
  clock: Clock;
  consent: Pick<Consent, "marketing">;
  handover: Pick<Handover, "isHandedOver">;
  report: Pick<ChatReporter, "contactWroteAt">;
}

/** What decides whether a message may be written now. */
export interface Conditional {
  /** Only while the contact's network takes free text. */
  ifOpen?: boolean | undefined;
  template: UsedTemplate | null;
  /** The key of the channel's bot sends it. */
  isBot?: boolean | undefined;
}

/** Why a message may not be written to the contact now. */
export type SendRefusal = "handed_over" | "window_closed" | "opted_out";

/**
 * Whether a message may be written to the contact. It is asked when the message is accepted, and for a scheduled one
 * again when it takes its place.
 */
export class SendConditions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null if it may. */
  refusalOf(identity: ChatIdentity, { ifOpen, template, isBot = false }: Conditional): SendRefusal | null {
    if (this.#parts.handover.isHandedOver(isBot)) return "handed_over";
    if (ifOpen && !this.#isOpen(identity)) return "window_closed";
    return template?.isMarketing && this.#parts.consent.marketing()?.optedOut ? "opted_out" : null;
  }

  #isOpen({ channelKind, createdAt }: ChatIdentity): boolean {
    const { clock, report } = this.#parts;
    const until = replyUntil(channelKind, createdAt, report.contactWroteAt());
    return until === null || clock.now() < until;
  }
}

/**
 * Says that the chat's newest message has another seq than the caller knows; null if it has this one. Away messages at the
 * end of the chat don't count: nobody has answered.
 */
export function crossingText(
  ifSeq: number,
  log: Pick<MessageLog, "newest" | "isEmpty" | "bounds" | "exchange">,
): string | null {
  const newest = log.newest().seq;
  // A client sees the seq 0 in a chat whose messages were all deleted.
  if (ifSeq === newest || (ifSeq === 0 && log.isEmpty)) return null;
  if (ifSeq < newest && ifSeq >= Math.max(log.bounds().floor, log.exchange.seqBeforeAway())) return null;
  return `ifSeq is ${ifSeq}, but the chat's newest message has the seq ${newest}. Read the newer ones, then repeat the request with ifSeq ${newest}`;
}
