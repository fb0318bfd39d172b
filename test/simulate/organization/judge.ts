import type { LastMessage } from "../../../src/model/chat.ts";
import type { ChatRow } from "../../../src/organizations/object/chat-row.ts";
import { fromText } from "../../../src/platform/answer-text.ts";
import { storedIdentity } from "../objects/identity.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { OrganizationWorld } from "./rules.ts";

/** A chat's row in the organization's object, as far as it is judged. */
export type Row = Pick<ChatRow, "id" | "channel_id" | "state" | "life" | "address" | "others" | "last_message">;

interface Incarnation {
  chatId: string;
  life: number;
}

/** A message that a chat's object stored. */
export interface StoredMessage extends Incarnation {
  messageId: string;
  text: string;
}

const nameOf = ({ chatId, life }: Incarnation) => `${chatId} ${life}`;

/** Checks what must hold after each commit, and keeps what clients were told. */
export class Judge {
  readonly #world: OrganizationWorld;
  readonly #organization: SimulatedObject;
  readonly #chats: ReadonlyMap<string, SimulatedObject>;
  /** The chats in the organization's object, by chat and life. */
  #rows = new Map<string, Row>();
  /** The greatest life that each chat's id has had. */
  readonly #lives = new Map<string, number>();
  /** The life that each chat's object holds. */
  readonly #held = new Map<string, number>();
  /** The chats whose deletion has begun. */
  readonly #deleting = new Set<string>();
  /** The chats whose deletion was answered. */
  readonly #buried = new Set<string>();
  /** The ids of chats and channels whose deletion somebody asked for. */
  readonly asked = new Set<string>();
  /** The ids of channels whose deletion was answered. */
  readonly erased = new Set<string>();
  /** The organization's deletion was answered. */
  isOrganizationErased = false;
  /** All messages that a chat's object answered as stored. */
  readonly messages: StoredMessage[] = [];
  /** The same, by the message's id and by the id that the contact's side gave it. */
  readonly #stored = new Map<string, StoredMessage>();
  /** Such ids of messages that were acknowledged. */
  readonly acknowledged = new Set<string>();
  /** The texts of messages whose redaction was answered, by the message's id and its chat's life. */
  readonly #redacted = new Map<string, string>();

  constructor(world: OrganizationWorld, organization: SimulatedObject, chats: ReadonlyMap<string, SimulatedObject>) {
    this.#world = world;
    this.#organization = organization;
    this.#chats = chats;
  }

  /** The ids of all chats that there ever were. */
  chatIds(): string[] {
    return [...this.#lives.keys()];
  }

  rows(): Row[] {
    return this.#organization.storage.read<Row>(
      "chats",
      "select id, channel_id, state, life, address, others, last_message from chats order by id",
    );
  }

  /** The organization's object has committed. */
  organizationCommitted(): void {
    const world = this.#world;
    const rows = this.rows();
    const before = this.#rows;
    this.#rows = new Map(rows.map((row) => [nameOf({ chatId: row.id, life: row.life }), row]));
    for (const [name, row] of this.#rows) {
      if (!before.has(name)) this.#created(row);
      if (row.state === "deleting") {
        const isAsked = this.asked.has(row.id) || this.asked.has(row.channel_id);
        world.check("asked", isAsked, () => `${row.id} is being deleted`);
        this.#deleting.add(name);
      }
      world.check("buried", !this.#buried.has(name), () => `${row.id} has a row after its deletion`);
      this.#isBlank(row);
    }
    for (const [name, { id, life }] of before) {
      if (this.#rows.has(name)) continue;
      world.check("asked", this.#deleting.has(name), () => `the row of ${id} is gone without a deletion`);
      world.check("emptied", this.#held.get(id) !== life, () => `the row of ${id} is gone, its object is not empty`);
      world.count("chat deleted");
    }
    this.#checkAddresses(rows);
    this.#checkTotals(rows);
  }

  /** A chat's object has committed. */
  chatCommitted(chat: SimulatedObject): void {
    const world = this.#world;
    const { name: id } = chat;
    const life = storedIdentity(chat)?.life;
    const before = this.#held.get(id);
    if (life === before) return;
    if (before !== undefined) {
      const isGone = this.#deleting.has(nameOf({ chatId: id, life: before }));
      world.check("kept", isGone, () => `the object of ${id} has lost life ${before}`);
    }
    if (life === undefined) return void this.#held.delete(id);
    this.#held.set(id, life);
    const name = nameOf({ chatId: id, life });
    world.check("buried", !this.#buried.has(name), () => `the object of ${id} has adopted a deleted chat`);
    world.check("paired", this.#rows.has(name), () => `the object of ${id} has adopted a chat without a row`);
  }

  /** A call of the organization's object has arrived. @returns what to do with its answer */
  organizationCalled(method: string, given: unknown[]): ((value: unknown) => void) | undefined {
    switch (method) {
      case "open":
        return (value) => this.#opened(value as { outcome: string; identity?: Incarnation });
      case "list":
        return (value) => this.#listed(value as { outcome: string; body: Uint8Array });
      case "deleteChat": {
        const row = this.rows().find(({ id }) => id === given[0]);
        return (value) => value !== null && row && this.#deleted({ chatId: row.id, life: row.life });
      }
    }
    return undefined;
  }

  /** A call of a chat's object has arrived. @returns what to do with its answer */
  chatCalled(chatId: string, method: string, given: unknown[]): ((value: unknown) => void) | undefined {
    // The chat may be deleted before the answer, and the first call brings its identity along.
    const { knownIdentity } = (given[0] ?? {}) as { knownIdentity?: Incarnation | null };
    const life = this.#held.get(chatId) ?? knownIdentity?.life;
    switch (method) {
      case "send":
        return (answered) => {
          const value = fromText(answered);
          if (Array.isArray(value)) for (const { doc } of value) if (doc) this.#storedIn({ chatId, life }, doc, null);
        };
      case "receive":
      case "visit": {
        const storedAs = method === "visit" ? given[1] : (given[1] as { dedupe: string }).dedupe;
        return (value) => {
          const { doc } = value as { doc?: string };
          if (doc) this.#storedIn({ chatId, life }, doc, storedAs as string);
        };
      }
    }
    return undefined;
  }

  /** A client was told that a redaction is done. */
  redactionAnswered({ messageId, life, text }: StoredMessage): void {
    this.#world.count("redaction answered");
    this.#redacted.set(`${messageId} ${life}`, text);
    for (const row of this.#rows.values()) this.#isBlank(row);
  }

  /** A client was told that a channel is deleted. */
  channelErased(channelId: string): void {
    this.#world.count("channel deleted");
    this.erased.add(channelId);
    for (const { id, life, channel_id } of this.rows()) {
      this.#world.check("erased", channel_id !== channelId, () => `${id} of life ${life} is in a deleted channel`);
    }
  }

  /** @throws Violation if an acknowledged message is gone although its chat was not deleted */
  checkMessages(): void {
    const world = this.#world;
    for (const id of this.acknowledged) {
      const stored = this.#stored.get(id);
      world.check("stored", stored !== undefined, () => `${id} was never stored`);
      if (!stored || this.#deleting.has(nameOf(stored)) || this.isOrganizationErased) continue;
      const found = this.#chats
        .get(stored.chatId)
        ?.storage.read("messages", "select 1 from messages where doc ->> '$.id' = ?", stored.messageId);
      world.check("stored", found?.length === 1, () => `${id} is not in ${stored.chatId}`);
    }
  }

  /** @param life as of the call's arrival; undefined if nobody knew it then */
  #storedIn(
    { chatId, life }: { chatId: string; life: number | undefined },
    doc: string,
    storedAs: string | null,
  ): void {
    const { id: messageId, text } = JSON.parse(doc) as { id: string; text: string };
    const stored = { chatId, life: life ?? this.#held.get(chatId) ?? 0, messageId, text };
    if (!this.#stored.has(messageId)) this.messages.push(stored);
    this.#stored.set(messageId, stored);
    if (storedAs !== null) this.#stored.set(storedAs, stored);
  }

  #opened({ outcome, identity }: { outcome: string; identity?: Incarnation }): void {
    this.#world.count(`open: ${outcome}`);
    if (!identity) return;
    const state = this.#rows.get(nameOf(identity))?.state;
    this.#world.check("opened", state !== "deleting", () => `${identity.chatId} was opened while it is being deleted`);
  }

  #listed({ outcome, body }: { outcome: string; body: Uint8Array }): void {
    if (outcome !== "ok") return;
    const page = JSON.parse(new TextDecoder().decode(body)) as { chats: unknown[]; pagination: { total: number } };
    const { total } = page.pagination;
    const listed = page.chats.length;
    this.#world.check("total", listed === total, () => `a list shows ${listed} chats, and its total is ${total}`);
  }

  #created({ id, life, channel_id }: Row): void {
    const last = this.#lives.get(id) ?? 0;
    this.#world.check("life", life > last, () => `${id} has life ${life} after ${last}`);
    this.#lives.set(id, life);
    this.#world.count(last > 0 ? "chat created again" : "chat created");
    const isErased = this.erased.has(channel_id) || this.isOrganizationErased;
    this.#world.check("erased", !isErased, () => `${id} was created in ${channel_id}, which is deleted`);
  }

  #deleted(deleted: Incarnation): void {
    const name = nameOf(deleted);
    const { chatId, life } = deleted;
    this.#buried.add(name);
    this.#world.check("buried", !this.#rows.has(name), () => `${chatId} has a row after its deletion`);
    this.#world.check("buried", this.#held.get(chatId) !== life, () => `the object of ${chatId} holds a deleted chat`);
    if (this.#held.has(chatId)) return;
    const messages = this.#chats.get(chatId)?.storage.read("messages", "select 1 from messages") ?? [];
    this.#world.check("buried", messages.length === 0, () => `the object of ${chatId} has messages after its deletion`);
  }

  #isBlank({ id: chatId, life, last_message }: Row): void {
    if (last_message === null) return;
    const { id, text } = JSON.parse(last_message) as LastMessage;
    const isShown = this.#redacted.get(`${id} ${life}`) === text;
    this.#world.check("blank", !isShown, () => `the last message of ${chatId} shows "${text}"`);
  }

  #checkAddresses(rows: Row[]): void {
    const leads = new Map(
      this.#organization.storage
        .read<{ channel_id: string; address: string; chat_id: string }>("addresses", "select * from addresses")
        .map(({ channel_id, address, chat_id }) => [`${channel_id} ${address}`, chat_id]),
    );
    let addresses = 0;
    for (const { id, channel_id, address, others } of rows) {
      for (const each of [address, ...(JSON.parse(others ?? "[]") as string[])]) {
        addresses++;
        const chatId = leads.get(`${channel_id} ${each}`);
        this.#world.check("address", chatId === id, () => `${each} of ${id} leads to ${chatId}`);
      }
    }
    this.#world.check("address", addresses === leads.size, () => "an address leads to a chat that does not have it");
  }

  #checkTotals(rows: Row[]): void {
    const channels = this.#organization.storage.read<{ id: string; chats: number }>(
      "channels",
      "select * from channels",
    );
    for (const { id, chats } of channels) {
      const living = rows.filter(({ channel_id, state }) => channel_id === id && state !== "deleting").length;
      this.#world.check("total", chats === living, () => `${id} counts ${chats} chats and has ${living}`);
    }
  }
}
