import type { ChatActivity, ChatDetails, LastMessage } from "../chat.ts";
import type { Message } from "../message.ts";
import type { MessageLog } from "./log/message-log.ts";

const LAST_MESSAGE_LENGTH = 160;

/** What a chat's activity consists of. */
export interface ActivitySources {
  log: MessageLog;
  /** When the next scheduled message is due, Unix milliseconds. */
  nextDueAt(): number | null;
  /** The seq up to which a client has read; null if none has. */
  readUpTo(): number | null;
  /** The member whose chat it is; null for nobody. */
  assigneeId(): string | null;
  /** Those that a client has changed. */
  details(): ChatDetails | null;
}

/** What a chat's organization was told last. `seq` is that of the newest message then. */
interface Told {
  seq: number;
  state: Pick<ChatActivity, "unansweredSince">;
}

/** A chat's activity as it is now, as its organization lists it. */
export class CurrentActivity {
  readonly #sources: ActivitySources;
  /** Since when the contact waits for an answer, up to the message `seq`. */
  #unanswered: { seq: number; since: number | null } | undefined;

  constructor(sources: ActivitySources) {
    this.#sources = sources;
  }

  /** @param told null if nothing was told */
  read(told: Told | null): ChatActivity {
    const { log } = this.#sources;
    const { seq, at } = log.newest();
    const hasLast = !log.isEmpty;
    return {
      lastMessageAt: hasLast ? at : null,
      lastMessage: hasLast ? shortened(JSON.parse(log.documents.joined({ low: seq, high: seq })) as Message) : null,
      unansweredSince: this.#unansweredSince(told),
      nextScheduledAt: this.#sources.nextDueAt(),
      readUpTo: this.#sources.readUpTo(),
      assigneeId: this.#sources.assigneeId(),
      details: this.#sources.details(),
    };
  }

  /** The contact waits for no answer: only messages from now on count. It holds once the organization is told. */
  answered(): void {
    this.#unanswered = { seq: this.#sources.log.newest().seq, since: null };
  }

  /** The storage was deleted. */
  forget(): void {
    this.#unanswered = undefined;
  }

  /** When the contact wrote the first message since the organization's last one; null if the contact wrote none. */
  #unansweredSince(told: Told | null): number | null {
    const { log } = this.#sources;
    this.#unanswered ??= { seq: told?.seq ?? 0, since: told?.state.unansweredSince ?? null };
    const before = this.#unanswered;
    let earliest: number | null = null;
    let isAnswered = false;
    for (const { isInbound, at } of log.directionsDownTo(before.seq)) {
      if (!isInbound) {
        isAnswered = true;
        break;
      }
      earliest = at;
    }
    const since = isAnswered ? earliest : (before.since ?? earliest);
    this.#unanswered = { seq: log.newest().seq, since: log.isEmpty ? null : since };
    return this.#unanswered.since;
  }
}

function shortened({ id, seq, direction, type, text, status, createdAt }: Message): LastMessage {
  return { id, seq, direction, type, text: text.slice(0, LAST_MESSAGE_LENGTH).toWellFormed(), status, createdAt };
}
