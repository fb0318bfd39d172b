import { answerWithin } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import type { ChatIdentity } from "../../model/chat-answers.ts";
import type { PartRefusal } from "../../model/network.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { inTime } from "../../platform/deadline.ts";
import type { DuePart, DueWork } from "../../platform/object/due-work.ts";
import type { Adoption } from "./identity.ts";
import type { MessageLog } from "./log/message-log.ts";

/** More addresses than any real contact has. Addresses are never removed. */
export const MAX_ADDRESSES = 50;
const CALL_TIMEOUT_MS = 10_000;
/** How long a network that named a new address waits until it is saved. */
const SAVED_WITHIN_MS = 2_000;

/** The contact's public name, and whether the organization's object still lacks it. */
interface StoredUsername {
  text: string | null;
  isPending: boolean;
}

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  log: MessageLog;
  adoption: Adoption;
  due: DueWork;
}

/**
 * The addresses of a chat's contact, for example a phone number, the network's id of that number, a user id or a migrated
 * group. Networks repeat them with every message, so the addresses that the organization's object has are stored here
 * too. New addresses stay pending in storage until it has them.
 */
export class ContactAddresses implements DuePart {
  readonly #parts: Parts;
  /** The last save, which may be under way. */
  #saving: Promise<void> = Promise.resolve();
  /** Until when networks wait for the addresses that are pending, Unix milliseconds; null if none has waited. */
  #waitUntil: number | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The address to send to. */
  current(identity: ChatIdentity): string {
    return this.#kv.get<string>("address") ?? identity.contactAddress;
  }

  /** The topic of the contact's newest message, by the network's id; undefined for none. */
  get topic(): string | undefined {
    return this.#kv.get<string>("topic");
  }

  /** The contact's newest message is in this topic, or in none. */
  enterTopic(topic: string | null | undefined): void {
    if (topic === null || topic === this.topic) return;
    if (topic === undefined) this.#kv.delete("topic");
    else this.#kv.put("topic", topic);
  }

  /** The network says where the contact is now. */
  follow({ address, lostTopic }: PartRefusal & { outcome: "moved" }): void {
    // The contact may have written in another topic since.
    if (lostTopic !== undefined && lostTopic === this.topic) this.#kv.delete("topic");
    this.move({ from: null, to: [address] });
  }

  /**
   * Stores further addresses of the contact, which lead to this chat.
   * @param username the contact's public name; undefined if it is not known
   */
  learn(addresses: string[], username?: string | null): void {
    const identity = this.#parts.adoption.identity();
    if (!identity) return;
    const isNamed = username !== undefined && username !== this.#username(identity);
    if (isNamed) this.#kv.put("username", { text: username, isPending: true });
    if (this.#add(identity, addresses) || isNamed) this.#announce();
  }

  /**
   * The contact is reached at other addresses from now on.
   * @param from those that no longer reach it; null for the one that messages go to. If they go to another one, they
   *   still do
   * @param to those that do, the best one first
   * @param at Unix milliseconds, by the network's time; absent where a send has found it out. Networks repeat what they
   *   tell: what is older than the latest move moves nothing
   */
  move({ from, to, at }: { from: string[] | null; to: string[]; at?: number }): void {
    const identity = this.#parts.adoption.identity();
    const [address] = to;
    if (!identity || address === undefined) return;
    const current = this.current(identity);
    const isLate = at !== undefined && at < (this.#kv.get<number>("moved_at") ?? 0);
    const isMoved = current !== address && !isLate && (from === null || from.includes(current));
    if (isMoved) this.#kv.put("address", address);
    if (isMoved && at !== undefined) this.#kv.put("moved_at", at);
    if (this.#add(identity, [...(from ?? []), ...to]) || isMoved) this.#announce();
  }

  #announce(): void {
    this.#parts.log.events.append({ type: "chat.updated", seq: null, note: null, at: Date.now() });
    this.#parts.due.start(this);
  }

  #username(identity: ChatIdentity): string | null {
    const stored = this.#kv.get<StoredUsername>("username");
    return stored ? stored.text : (identity.username ?? null);
  }

  /** Stores new addresses as pending. @returns whether there are any */
  #add(identity: ChatIdentity, addresses: string[]): boolean {
    const known = [
      identity.contactAddress,
      ...identity.addresses,
      ...this.#list("addresses"),
      ...this.#list("pending"),
    ];
    const added = [...new Set(addresses)].filter((address) => !known.includes(address));
    const kept = added.slice(0, Math.max(0, MAX_ADDRESSES - known.length));
    if (kept.length === 0) return false;
    this.#kv.put("pending", [...this.#list("pending"), ...kept]);
    this.#waitUntil = null;
    return true;
  }

  /** Whether the organization's object still lacks something. */
  get hasPending(): boolean {
    return this.#list("pending").length > 0 || this.#kv.get<StoredUsername>("username")?.isPending === true;
  }

  /** When the alarm must save pending addresses; null if there are none. */
  dueAt(now: number): number | null {
    return this.hasPending ? now : null;
  }

  run(): Promise<void> {
    this.#saving = this.#save();
    return this.#saving;
  }

  /**
   * Resolves when the organization's object has all addresses: the contact may write, or choose something, by a new one
   * alone. Never throws. All who wait for the same addresses wait two seconds together, or until the save fails; the
   * alarm saves them then.
   */
  async saved(): Promise<void> {
    if (this.#list("pending").length === 0) return;
    const now = Date.now();
    this.#waitUntil ??= now + SAVED_WITHIN_MS;
    // At most that, if the clock was set back.
    const leftMs = Math.min(SAVED_WITHIN_MS, this.#waitUntil - now);
    if (leftMs <= 0) return;
    // If it is not under way: an instance before this one learned them, or an earlier save failed.
    this.#parts.due.start(this, true);
    const saving = this.#saving.catch(() => {
      this.#waitUntil = now;
    });
    await inTime(SYSTEM_CLOCK, leftMs, saving);
  }

  /** Also what is learned meanwhile. */
  async #save(): Promise<void> {
    while (this.hasPending && (await this.#saveNext()));
  }

  /** @returns whether the chat is still there */
  async #saveNext(): Promise<boolean> {
    const identity = this.#parts.adoption.identity();
    const saved = this.#list("pending");
    const username = this.#kv.get<StoredUsername>("username");
    const news = username?.isPending ? username.text : undefined;
    if (!identity) return false;
    const { organizationId, chatId, life } = identity;
    await answerWithin(CALL_TIMEOUT_MS, () =>
      callOrganization(this.#parts.env, organizationId, (organization) =>
        organization.addAddresses(chatId, life, saved, news),
      ),
    );
    if (!this.#parts.adoption.exists(life)) return false;
    if (username && this.#kv.get<StoredUsername>("username")?.text === username.text) {
      if (username.isPending) this.#kv.put("username", { text: username.text, isPending: false });
    }
    if (saved.length === 0) return true;
    const isLeft = (address: string) => !saved.includes(address);
    const left = this.#list("pending").filter(isLeft);
    this.#kv.put("addresses", [...this.#list("addresses").filter(isLeft), ...saved]);
    if (left.length > 0) this.#kv.put("pending", left);
    else this.#kv.delete("pending");
    return true;
  }

  get #kv(): SyncKvStorage {
    return this.#parts.storage.kv;
  }

  #list(key: "addresses" | "pending"): string[] {
    return this.#kv.get<string[]>(key) ?? [];
  }
}
