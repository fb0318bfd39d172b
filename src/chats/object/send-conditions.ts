import type { ChatIdentity } from "../../model/chat-answers.ts";
import { replyUntil } from "../../model/reply-window.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ChatReporter } from "./chat-report.ts";

interface Parts {
  clock: Clock;
  report: Pick<ChatReporter, "contactWroteAt">;
}

/** What a message needs to be written now. */
export interface Conditional {
  /** Only while the contact's network takes free text. */
  ifOpen?: boolean | undefined;
}

/** Why a message may not be written to the contact now. */
export type SendRefusal = "window_closed";

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
  refusalOf(identity: ChatIdentity, { ifOpen }: Conditional): SendRefusal | null {
    return ifOpen && !this.#isOpen(identity) ? "window_closed" : null;
  }

  #isOpen({ channelKind, createdAt }: ChatIdentity): boolean {
    const { clock, report } = this.#parts;
    const until = replyUntil(channelKind, createdAt, report.contactWroteAt());
    return until === null || clock.now() < until;
  }
}
