import { database } from "../db/client.ts";
import { causeOf } from "../log.ts";
import type { ChatIdentity } from "./identity.ts";

/** More addresses than any contact has; each is kept for good. */
const MAX_ADDRESSES = 50;

/** Lets a chat be found by further addresses of its contact; an address that has a chat keeps it. */
export async function learnAddresses(
  env: Env,
  { channelId, chatId }: Pick<ChatIdentity, "channelId" | "chatId">,
  addresses: string[],
): Promise<void> {
  await database(env)
    .prepare(
      `insert into chat_addresses (channel_id, address, chat_id)
     select ?1, value, ?2 from json_each(?3)
     where exists (select 1 from chats where id = ?2 and erasing_at is null) on conflict do nothing`,
    )
    .bind(channelId, chatId, JSON.stringify(addresses))
    .run();
}

/**
 * Where a chat's contact is reached, and its further addresses: a network's own id of a number, a user id, a migrated
 * group. They are told again with every message, so those that the directory has are kept here; the others wait in
 * storage until it has them.
 */
export class ContactAddresses {
  readonly #kv: SyncKvStorage;

  constructor({ kv }: DurableObjectStorage) {
    this.#kv = kv;
  }

  /** Where to send. */
  current(identity: ChatIdentity): string {
    return this.#kv.get<string>("address") ?? identity.contactAddress;
  }

  /** The contact has another address from now on. */
  move(address: string): void {
    this.#kv.put("address", address);
  }

  /** Keeps those that are news, until they are told. @returns whether there are any */
  note(identity: ChatIdentity, addresses: string[]): boolean {
    const listed = identity.addresses ?? [];
    const known = [identity.contactAddress, ...listed, ...this.#list("addresses"), ...this.#list("untold")];
    const news = [...new Set(addresses)].filter((address) => !known.includes(address));
    const kept = news.slice(0, Math.max(0, MAX_ADDRESSES - known.length));
    if (kept.length > 0) this.#kv.put("untold", [...this.#list("untold"), ...kept]);
    return kept.length > 0;
  }

  /** Whether the directory does not have them all yet. */
  get untold(): boolean {
    return this.#list("untold").length > 0;
  }

  /** Tells the directory what it does not have; never throws. `exists` is false once the chat was erased. */
  async tell(env: Env, identity: ChatIdentity, exists: () => boolean): Promise<void> {
    const told = this.#list("untold");
    if (told.length === 0) return;
    try {
      await learnAddresses(env, identity, told);
    } catch (error) {
      console.warn({ event: "addresses_not_told", chatId: identity.chatId, error: causeOf(error) });
      return;
    }
    if (!exists()) return;
    const isLeft = (address: string) => !told.includes(address);
    const left = this.#list("untold").filter(isLeft);
    this.#kv.put("addresses", [...this.#list("addresses").filter(isLeft), ...told]);
    if (left.length > 0) this.#kv.put("untold", left);
    else this.#kv.delete("untold");
  }

  #list(key: "addresses" | "untold"): string[] {
    return this.#kv.get<string[]>(key) ?? [];
  }
}
