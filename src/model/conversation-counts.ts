import { addCounts, type Counts } from "./counts.ts";
import { fineClass, type ResponseCounts, responseClass } from "./response-time.ts";

/**
 * What is counted of a conversation: the messages from the contact, those to it, and each answer by its response time. An
 * answer is the first message to the contact after a run of messages from it.
 */
export type ConversationCounts = Counts<"received" | "messages"> & ResponseCounts;

/** The counts of members, by their ids. */
export type MemberCounts = Record<string, ConversationCounts>;

/** The maximum number of members whose counts a chat keeps. */
const KEPT_MEMBERS = 20;

/** A message in its chat, as the counts need it. */
export interface CountedMessage {
  isInbound: boolean;
  /** Unix milliseconds. */
  at: number;
  /** When it was sent, as its network says, Unix milliseconds; null if it does not say. */
  networkAt?: number | null;
  /** The company wrote it elsewhere. */
  isEcho?: boolean;
  /** The contact wrote it to the network's own agent. */
  isStandby?: boolean;
  /** It leaves the contact waiting, although it was sent to it. */
  answersNothing?: boolean;
  /** The member who sent it, if a member's session did or the request named its sender; else null. */
  namedSenderId: string | null;
}

/** A message from the contact that waits for an answer: when it came and when it was written, Unix milliseconds. */
export interface Asked {
  at: number;
  wroteAt: number;
}

/** What happened in a conversation since its counts were reported. */
export interface ConversationNews {
  /** When the contact wrote the first message that nobody has answered, Unix milliseconds; null if none waits. */
  unansweredSince: number | null;
  /** When the contact sent that message, if its network says an earlier time: the response time counts from then. */
  askedAt: number | null;
  /** Somebody marked this wait as answered, and took that back: its answer counts in no class. */
  isUncounted: boolean;
  /** When the contact last wrote, Unix milliseconds; null if it never did. */
  contactWroteAt: number | null;
  counts: ConversationCounts;
  /** By the id of the member: what it sent, and what came in while the chat was the member's. */
  members: MemberCounts;
}

/**
 * Counts the next message of a chat.
 * @param assigneeId the member whose chat it was then; null for nobody
 * @param left the first message that an echo leaves unanswered; null if it leaves none
 */
export function countMessage(
  news: ConversationNews,
  message: CountedMessage,
  assigneeId: string | null,
  left: Asked | null = null,
): void {
  const { isInbound, at, namedSenderId, isEcho = false, isStandby = false, answersNothing = false } = message;
  const memberId = isInbound ? assigneeId : namedSenderId;
  const since = news.unansweredSince;
  const wroteAt = Math.min(at, message.networkAt ?? at);
  const names: (keyof ConversationCounts)[] = isInbound ? ["received"] : ["messages"];
  const isAnswer = !isInbound && !isEcho && !answersNothing && since !== null && !news.isUncounted;
  if (isAnswer) {
    const ms = at - (news.askedAt ?? since);
    names.push(responseClass(ms), fineClass(ms));
  }
  if (isInbound) {
    if (since === null && !isStandby) wait(news, { at, wroteAt });
    news.contactWroteAt = Math.max(news.contactWroteAt ?? 0, wroteAt);
  } else if (!answersNothing && (left === null || left.at !== since)) {
    news.isUncounted = false;
    wait(news, left);
  }
  for (const name of names) {
    news.counts[name] = (news.counts[name] ?? 0) + 1;
    if (memberId === null) continue;
    const ofMember = (news.members[memberId] ??= {});
    ofMember[name] = (ofMember[name] ?? 0) + 1;
  }
}

/** The contact waits for an answer to this message; null for none. */
function wait(news: ConversationNews, asked: Asked | null): void {
  news.unansweredSince = asked?.at ?? null;
  news.askedAt = asked && asked.wroteAt < asked.at ? asked.wroteAt : null;
}

/**
 * The counts of members with `added`: of all that are in it, and of the others that were counted last, 20 in all. A member
 * whose counts are dropped begins at 0 again.
 */
export function withMembers(before: MemberCounts, added: MemberCounts): MemberCounts {
  const others = Object.entries(before).filter(([id]) => !(id in added));
  const changed = Object.entries(added).map(([id, counts]) => [id, addCounts(before[id] ?? {}, counts)] as const);
  const dropped = Math.max(0, others.length + changed.length - KEPT_MEMBERS);
  return Object.fromEntries([...others.slice(dropped), ...changed]);
}
