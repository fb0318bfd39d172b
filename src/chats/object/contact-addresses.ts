import { answerWithin } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import type { ChatIdentity } from "../../model/chat-answers.ts";
import type { DuePart, DueWork } from "../../platform/object/due-work.ts";
import type { Adoption } from "./identity.ts";
import type { MessageLog } from "./log/message-log.ts";

/** More addresses than any real contact has. Addresses are never removed. */
export const MAX_ADDRESSES = 50;
const CALL_TIMEOUT_MS = 10_000;

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

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The address to send to. */
  current(identity: ChatIdentity): string {
    return this.#kv.get<string>("address") ?? identity.contactAddress;
  }

  /** Stores further addresses of the contact, which lead to this chat. @param moved messages go to the first from now on */
  learn(addresses: string[], moved: boolean): void {
    const identity = this.#parts.adoption.identity();
    if (!identity) return;
    if (moved && addresses[0] !== undefined) this.#kv.put("address", addresses[0]);
    if (!this.#add(identity, addresses)) return;
    this.#parts.log.events.append({ type: "chat.updated", seq: null, note: null, at: Date.now() });
    this.#parts.due.start(this);
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
    if (kept.length > 0) this.#kv.put("pending", [...this.#list("pending"), ...kept]);
    return kept.length > 0;
  }

  /** Whether the organization's object still lacks an address. */
  get hasPending(): boolean {
    return this.#list("pending").length > 0;
  }

  /** When the alarm must save pending addresses; null if there are none. */
  dueAt(now: number): number | null {
    return this.hasPending ? now : null;
  }

  async run(): Promise<void> {
    const identity = this.#parts.adoption.identity();
    const saved = this.#list("pending");
    if (!identity || saved.length === 0) return;
    const { organizationId, chatId, life } = identity;
    await answerWithin(CALL_TIMEOUT_MS, () =>
      callOrganization(this.#parts.env, organizationId, (organization) =>
        organization.addAddresses(chatId, life, saved),
      ),
    );
    if (!this.#parts.adoption.exists(life)) return;
    const isLeft = (address: string) => !saved.includes(address);
    const left = this.#list("pending").filter(isLeft);
    this.#kv.put("addresses", [...this.#list("addresses").filter(isLeft), ...saved]);
    if (left.length > 0) this.#kv.put("pending", left);
    else this.#kv.delete("pending");
  }

  get #kv(): SyncKvStorage {
    return this.#parts.storage.kv;
  }

  #list(key: "addresses" | "pending"): string[] {
    return this.#kv.get<string[]>(key) ?? [];
  }
}
