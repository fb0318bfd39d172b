import { causeOf } from "../log.ts";
import { callOrganization } from "../organizations/call-organization.ts";
import type { ChatIdentity } from "./identity.ts";

/** More addresses than any real contact has. Addresses are never removed. */
const MAX_ADDRESSES = 50;

/**
 * The addresses of a chat's contact, for example a phone number, the network's id of that number, a user id or a migrated
 * group. Networks repeat them with every message, so the addresses that the organization's object has are stored here
 * too. New addresses stay pending in storage until it has them.
 */
export class ContactAddresses {
  readonly #kv: SyncKvStorage;

  constructor({ kv }: DurableObjectStorage) {
    this.#kv = kv;
  }

  /** The address to send to. */
  current(identity: ChatIdentity): string {
    return this.#kv.get<string>("address") ?? identity.contactAddress;
  }

  /** Replaces the address to send to. */
  move(address: string): void {
    this.#kv.put("address", address);
  }

  /** Stores new addresses as pending. @returns whether there are any */
  add(identity: ChatIdentity, addresses: string[]): boolean {
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

  /** Passes pending addresses to the organization's object. Never throws. @param exists false after the chat was deleted */
  async save(env: Env, { organizationId, chatId, life }: ChatIdentity, exists: () => boolean): Promise<void> {
    const saved = this.#list("pending");
    if (saved.length === 0) return;
    try {
      await callOrganization(env, organizationId, (organization) => organization.addAddresses(chatId, life, saved));
    } catch (error) {
      console.warn({ event: "addresses_not_saved", chatId, error: causeOf(error) });
      return;
    }
    if (!exists()) return;
    const isLeft = (address: string) => !saved.includes(address);
    const left = this.#list("pending").filter(isLeft);
    this.#kv.put("addresses", [...this.#list("addresses").filter(isLeft), ...saved]);
    if (left.length > 0) this.#kv.put("pending", left);
    else this.#kv.delete("pending");
  }

  #list(key: "addresses" | "pending"): string[] {
    return this.#kv.get<string[]>(key) ?? [];
  }
}
