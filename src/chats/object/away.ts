import { AWAY_PAUSE_HOURS } from "../../model/away.ts";
import type { InboundDraft } from "../../model/chat-answers.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { Consent } from "./consent.ts";
import type { Handover } from "./handover.ts";

const KEY = "awayAt";
const PAUSE_MS = AWAY_PAUSE_HOURS * 3_600_000;

interface Parts {
  storage: { kv: SyncKvStorage };
  clock: Clock;
  consent: Pick<Consent, "marketing">;
  handover: Pick<Handover, "bot">;
  report: Pick<ChatReporter, "unansweredSince">;
}

/** Decides whether a contact who writes outside of the channel's hours gets an away message. */
export class AwayAnswers {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What answers a message of the contact that is about to be stored; null for nothing. */
  textFor({ away, isStop, extra }: Pick<InboundDraft, "away" | "isStop" | "extra">): string | null {
    if (!away) return null;
    const { clock, consent, handover } = this.#parts;
    if (away.until !== null && clock.now() >= away.until) return null;
    // Somebody else answers: the network's own agent, or the channel's bot. In a group, it would disturb all others.
    if (extra?.author || extra?.standby || typeof handover.bot === "number") return null;
    if (isStop || consent.marketing()?.optedOut) return null;
    return this.#hasOne() ? null : away.text;
  }

  /** The contact gets one at `at`, Unix milliseconds. The caller stores it in the same commit. */
  sent(at: number): void {
    this.#parts.storage.kv.put(KEY, at);
  }

  /** Whether the contact got one lately, or in the run of messages that still waits for an answer. */
  #hasOne(): boolean {
    const { clock, report, storage } = this.#parts;
    const sentAt = storage.kv.get<number>(KEY);
    if (sentAt === undefined) return false;
    if (clock.now() < sentAt + PAUSE_MS) return true;
    const since = report.unansweredSince();
    return since !== null && since <= sentAt;
  }
}
