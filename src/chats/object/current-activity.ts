import type { ChatActivity, ChatDetails, LastMessage, Marketing } from "../../model/chat.ts";
import {
  type Asked,
  type ConversationNews,
  type CountedMessage,
  countMessage,
} from "../../model/conversation-counts.ts";
import type { WaitForPeople } from "../../model/handover.ts";
import type { Message } from "../../model/message.ts";
import type { ChatState } from "../../model/organization.ts";
import type { WorkStatus } from "../../model/work-state.ts";
import type { GivenBack } from "./log/exchange.ts";
import type { MessageLog } from "./log/message-log.ts";

const LAST_MESSAGE_LENGTH = 160;
const NOTHING_UNANSWERED = { unansweredSince: null, isUncounted: false, askedAt: null };

/** The parts of a chat that its activity consists of. They report to the organization, so their classes aren't imported. */
export interface ActivitySources {
  log: MessageLog;
  /** See `ScheduledMessages`. */
  scheduled: { nextDueAt(): number | null };
  /** See `Acts`. */
  acts: { readUpTo(): number | null };
  /** See `Consent`. */
  consent: { marketing(): Marketing | null };
  /** See `ChatWork`. */
  work: { now(): WorkStatus; closedAfter(): number | null };
  /** See `Handover`. */
  handover: {
    readonly bot: number | null | undefined;
    readonly count: number;
    waitAfter(count: number): (WaitForPeople & { after: number }) | null;
  };
  /** See `ChatLabels`. */
  labels: { ids(): string[] };
  /** See `StoredDetails`. */
  details: {
    assigneeId(): string | null;
    assignees(): (seq: number) => string | null;
    details(): ChatDetails | null;
    givenBack(): GivenBack;
  };
}

/** The chat's last report to its organization. `seq` is that of the newest message then. */
interface Reported {
  seq: number;
  state: Pick<ChatState, "unansweredSince" | "isUncounted" | "askedAt" | "contactWroteAt" | "handovers">;
}

/** What happened up to the message `seq`. */
interface Walked extends ConversationNews {
  seq: number;
}

/**
 * A chat's activity as it is now, as its organization lists it. What was counted since the last report is read from the
 * messages themselves, so that a crash loses none and counts none twice.
 */
export class CurrentActivity {
  readonly #sources: ActivitySources;
  #walked: Walked | undefined;

  constructor(sources: ActivitySources) {
    this.#sources = sources;
  }

  /** @param last the last report; null before the first one */
  read(last: Reported | null): ChatActivity {
    const { acts, consent, details, handover, labels, log, scheduled, work } = this.#sources;
    const { bot } = handover;
    const { seq, at } = log.newest();
    const hasLast = !log.isEmpty;
    return {
      lastMessageAt: hasLast ? at : null,
      lastMessage: hasLast ? shortened(JSON.parse(log.documents.joined({ low: seq, high: seq })) as Message) : null,
      unansweredSince: this.news(last).unansweredSince,
      nextScheduledAt: scheduled.nextDueAt(),
      readUpTo: acts.readUpTo(),
      assigneeId: details.assigneeId(),
      contactWroteAt: this.news(last).contactWroteAt,
      marketing: consent.marketing(),
      work: work.now(),
      ...(bot !== undefined && { bot }),
      labels: labels.ids(),
      details: details.details(),
    };
  }

  /**
   * The contact waits for no answer: only messages from now on count. It holds once it is reported.
   * @param last the last report; null before the first one
   */
  answered(last: Reported | null): void {
    Object.assign(this.news(last), NOTHING_UNANSWERED);
  }

  /**
   * People got the chat from its bot: the contact waits for them. It holds once it is reported.
   * @param last the last report; null before the first one
   */
  handedOver(last: Reported | null, wait: WaitForPeople): void {
    Object.assign(this.news(last), waitingFrom(wait));
  }

  /**
   * The contact waits since its first message that nothing to it answers: `answered` is taken back, or the network's own
   * agent gave the conversation back. It holds once it is reported, and this wait then counts in no class of response
   * times. A wait that is longer already stays as it is.
   * @param last the last report; null before the first one
   * @returns false if the contact waits for nothing
   */
  unanswered(last: Reported | null): boolean {
    const { details, log } = this.#sources;
    const since = log.exchange.firstUnanswered({ givenBack: details.givenBack() })?.at;
    if (since === undefined) return false;
    const news = this.news(last);
    if (since < (news.unansweredSince ?? Number.POSITIVE_INFINITY)) {
      Object.assign(news, { unansweredSince: since, isUncounted: true });
    }
    return true;
  }

  /** The counts so far are in a stored report. */
  reported(): void {
    if (this.#walked) this.#walked = { ...this.#walked, counts: {}, members: {} };
  }

  forget(): void {
    this.#walked = undefined;
  }

  /** What happened in the conversation since the report `last`; null before the first one. */
  news(last: Reported | null): ConversationNews {
    const { details, log } = this.#sources;
    const isFirst = this.#walked === undefined;
    const walked = (this.#walked ??= {
      seq: last?.seq ?? 0,
      unansweredSince: last?.state.unansweredSince ?? null,
      isUncounted: last?.state.isUncounted ?? false,
      askedAt: last?.state.askedAt ?? null,
      contactWroteAt: this.#contactWroteAt(last),
      counts: {},
      members: {},
    });
    const { seq } = log.newest();
    // An instance before this one may have closed the chat after that report.
    const closedAfter = isFirst ? (this.#sources.work.closedAfter() ?? -1) : -1;
    let isClosing = closedAfter >= walked.seq;
    // As above, handed it to people. If it is closed too, it was closed after that.
    let wait = isFirst ? this.#unreportedWait(last) : null;
    if (walked.seq < seq) {
      const assigneeAt = details.assignees();
      for (const message of log.exchange.after(walked.seq, details.givenBack())) {
        if (wait && message.seq > wait.after) {
          Object.assign(walked, waitingFrom(wait));
          wait = null;
        }
        if (isClosing && message.seq > closedAfter) {
          Object.assign(walked, NOTHING_UNANSWERED);
          isClosing = false;
        }
        countMessage(walked, message, assigneeAt(message.seq), this.#leftBy(message, walked.unansweredSince));
      }
      walked.seq = seq;
    }
    if (wait) Object.assign(walked, waitingFrom(wait));
    if (isClosing || (log.isEmpty && !this.#isWaitOfNoMessage(walked))) Object.assign(walked, NOTHING_UNANSWERED);
    return walked;
  }

  /** The wait that a handover began and that the last report does not have; null if there is none. */
  #unreportedWait(last: Reported | null): (WaitForPeople & { after: number }) | null {
    return this.#sources.handover.waitAfter(last?.state.handovers ?? 0);
  }

  /** Whether the contact waits since a handover, although it had not written. */
  #isWaitOfNoMessage({ unansweredSince }: ConversationNews): boolean {
    const wait = this.#sources.handover.waitAfter(0);
    return wait !== null && wait.waitsSince === wait.from && wait.from === unansweredSince;
  }

  /**
   * The first message that an echo leaves unanswered; null if it leaves none, or if the message is not an echo.
   * @param since when the first unanswered message before it came, Unix milliseconds; null if there was none
   */
  #leftBy({ isEcho, seq }: CountedMessage & { seq: number }, since: number | null): Asked | null {
    if (!isEcho || since === null) return null;
    const { details, log } = this.#sources;
    return log.exchange.firstUnanswered({ upTo: seq, since, givenBack: details.givenBack() });
  }

  #contactWroteAt(last: Reported | null): number | null {
    if (last === null) return null;
    const { contactWroteAt } = last.state;
    // An earlier version did not report it.
    return contactWroteAt === undefined ? this.#sources.log.exchange.contactWroteAt() : contactWroteAt;
  }
}

/** The contact waits for people. Their response time counts from when they got the chat. */
function waitingFrom({ waitsSince, from }: WaitForPeople) {
  return { unansweredSince: waitsSince, askedAt: from, isUncounted: false };
}

function shortened({ id, seq, direction, type, text, status, createdAt }: Message): LastMessage {
  return { id, seq, direction, type, text: text.slice(0, LAST_MESSAGE_LENGTH).toWellFormed(), status, createdAt };
}
