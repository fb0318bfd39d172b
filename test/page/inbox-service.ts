import { expect } from "vitest";
import type { FollowedEvent } from "../../src/client/event.ts";
import { type Chat, ParleyError } from "../../src/web/console/api.ts";
import { type ApiRequest, createApi } from "../../src/web/console/api-client.ts";
import { ChatListStore } from "../../src/web/console/inbox/chat-list-store.ts";
import { belongs, type Filter, filterOf, inOrder, type View } from "../../src/web/console/inbox/chat-rows.ts";
import { chatRow } from "./chat-row.ts";

const PAGE = 50;
const ALL_CHATS = filterOf("?view=all");

/** The member whose inbox it is. */
export const ME = "mbr_1";

/** A time, this many seconds after the first chat was created. */
const at = (seconds: number) => new Date(Date.parse("2026-11-20T10:00:00.000Z") + seconds * 1_000).toISOString();

/** The nth chat, whose newest message came n seconds after the first chat's. */
const chat = (n: number, changes: Partial<Chat> = {}) =>
  chatRow(`cht_${n}`, { createdAt: at(n), lastMessageAt: at(n), ...changes });

/** The lists of an organization, as the API answers them. What happens returns the event that tells of it. */
export class InboxService {
  readonly chats = new Map<string, Chat>();
  /** The paths of all requests. */
  readonly asked: string[] = [];
  /** How long each answer is on its way. What it says is read before. */
  delay = async () => {};
  #now: number;
  #seq = 0;

  /** @param count the number of chats */
  constructor(count: number, changes: (n: number) => Partial<Chat> = () => ({})) {
    for (let n = 0; n < count; n++) this.chats.set(`cht_${n}`, chat(n, changes(n)));
    this.#now = count;
  }

  /** The list that a person has open. */
  list(filter: Partial<Filter> = {}): ChatListStore {
    return new ChatListStore(
      createApi((request) => this.#answer(request)),
      { ...ALL_CHATS, ...filter },
      ME,
    );
  }

  /** All chats of a list, in its order. */
  rows(filter: Partial<Filter> = {}): Chat[] {
    const shown = { ...ALL_CHATS, ...filter };
    return inOrder(
      [...this.chats.values()].filter((one) => belongs(one, shown)),
      shown.view,
    );
  }

  /** The contact writes, or the company. */
  writes(n: number, type: "message.received" | "message.created" = "message.received"): FollowedEvent {
    const before = this.#chat(n);
    const seq = ++this.#seq;
    const createdAt = at(++this.#now);
    const isInbound = type === "message.received";
    const direction = isInbound ? ("INBOUND" as const) : ("OUTBOUND" as const);
    const status = isInbound ? ("RECEIVED" as const) : ("SENT" as const);
    const lastMessage = { id: `msg_${seq}`, seq, direction, type: "TEXT" as const, text: "Hi", status, createdAt };
    const unansweredSince = isInbound ? (before.unansweredSince ?? createdAt) : null;
    this.chats.set(before.id, { ...before, lastMessage, lastMessageAt: createdAt, unansweredSince });
    return this.#event(before, type, { seq, message: lastMessage });
  }

  /** The chat becomes a member's, or nobody's. */
  assign(n: number, assigneeId: string | null): FollowedEvent {
    const changed = { ...this.#chat(n), assigneeId };
    this.chats.set(changed.id, changed);
    return this.#event(changed, "chat.assigned", { chat: changed, assigneeId });
  }

  /** The chat gets a label, or loses it. */
  label(n: number, id: string, isGiven: boolean): FollowedEvent {
    const before = this.#chat(n);
    const others = before.labels.filter((one) => one.id !== id);
    const changed = { ...before, labels: isGiven ? [...others, { id, name: id }] : others };
    this.chats.set(changed.id, changed);
    return this.#event(changed, "chat.updated", { chat: changed });
  }

  /** A note mentions the person, or the one that did is deleted. */
  mention(n: number, isGiven: boolean): FollowedEvent {
    const { mention, ...before } = this.#chat(n);
    const noteId = mention?.noteId ?? `note_${++this.#now}`;
    const now = { noteId, afterSeq: 0, createdAt: at(++this.#now) };
    const changed = isGiven ? { ...before, mention: now } : before;
    this.chats.set(changed.id, changed);
    const note = { id: noteId, mentions: [ME] };
    return this.#event(changed, isGiven ? "note.created" : "note.deleted", { note });
  }

  /** The chat is opened, snoozed or closed. */
  move(n: number, state: Chat["state"]): FollowedEvent {
    const before = this.#chat(n);
    const unansweredSince = state === "closed" ? null : before.unansweredSince;
    const changed = { ...before, state, unansweredSince, snoozedUntil: state === "snoozed" ? at(1_000_000) : null };
    this.chats.set(changed.id, changed);
    return this.#event(changed, "chat.state", { chat: changed, state, snoozedUntil: changed.snoozedUntil });
  }

  /** People get the chat, or the bot. */
  handOver(n: number, handler: Chat["handler"]): FollowedEvent {
    const changed = { ...this.#chat(n), handler };
    this.chats.set(changed.id, changed);
    return this.#event(changed, "chat.handover", { chat: changed, to: handler });
  }

  /** A new chat, the one with the greatest number. */
  create(): FollowedEvent {
    const created = chat(++this.#now);
    this.chats.set(created.id, created);
    return this.#event(created, "chat.created", { chat: created });
  }

  delete(n: number): FollowedEvent {
    const deleted = this.#chat(n);
    this.chats.delete(deleted.id);
    return this.#event(deleted, "chat.deleted", {});
  }

  #chat(n: number): Chat {
    const found = this.chats.get(`cht_${n}`);
    if (!found) throw new Error(`There is no chat ${n}`);
    return found;
  }

  #event({ id, channel }: Chat, type: string, data: object): FollowedEvent {
    return { type, chatId: id, channelId: channel.id, data } as unknown as FollowedEvent;
  }

  async #answer({ path }: ApiRequest): Promise<unknown> {
    this.asked.push(path);
    const { pathname, searchParams } = new URL(path, "https://service.test");
    const [id] = /cht_\d+$/.exec(pathname) ?? [];
    if (id) {
      const found = this.chats.get(id);
      await this.delay();
      if (!found) throw new ParleyError("There is no such chat", { status: 404, code: "chat_not_found" });
      // The list alone says who is mentioned.
      const { mention: _mention, ...shown } = found;
      return { chat: shown };
    }
    const state = searchParams.get("state") as Chat["state"] | null;
    const isOfMentions = searchParams.has("mentioned");
    if (isOfMentions) expect(searchParams.get("mentioned")).toBe(ME);
    const view = searchParams.has("unanswered") ? "unanswered" : isOfMentions ? "mentions" : (state ?? "all");
    // The contact of a snoozed chat can wait too. The list of the unanswered ones is of the open ones.
    if (view === "unanswered") expect(state).toBe("open");
    const assignee = searchParams.get("assignee");
    const all = this.rows({ view, assignee, label: searchParams.get("label") });
    const begin = beginOf(all, searchParams, view);
    const chats = all.slice(begin, begin + PAGE);
    const hasMore = all.length > begin + PAGE;
    await this.delay();
    const last = chats.at(-1);
    const place = hasMore && last ? JSON.stringify({ time: timeOf(last, view), id: last.id }) : null;
    return { chats, pagination: { limit: PAGE, hasMore, cursor: place } };
  }
}

/** Where a page begins. A cursor is a place. */
function beginOf(all: Chat[], query: URLSearchParams, view: View): number {
  const cursor = query.get("before") ?? query.get("after");
  if (cursor === null) return 0;
  const { time, id } = JSON.parse(cursor) as { time: string; id: string };
  const mention = { noteId: "", afterSeq: 0, createdAt: time };
  const place = { ...chat(0, { id }), unansweredSince: time, lastMessageAt: time, mention };
  const rest = all.findIndex((one) => one.id !== id && inOrder([place, one], view)[0] === place);
  return rest < 0 ? all.length : rest;
}

function timeOf({ unansweredSince, lastMessageAt, mention }: Chat, view: View): string {
  if (view === "mentions") return mention?.createdAt ?? "";
  return (view === "unanswered" ? unansweredSince : lastMessageAt) ?? "";
}
