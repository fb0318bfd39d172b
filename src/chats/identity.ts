import type { ChannelKind } from "../channels/kinds.ts";

/** Which chat an object is. Its first caller who has read the directory sets it, and it never changes. */
export interface ChatIdentity {
  chatId: string;
  organizationId: string;
  channelId: string;
  channelKind: ChannelKind;
  /** The contact's address on the channel when the chat was created. */
  contactAddress: string;
  /** When the chat was created, Unix milliseconds. It distinguishes a chat from a deleted chat with the same id. */
  createdAt: number;
  /** Addresses of the contact that the directory has; known to the caller who opened the chat. */
  addresses?: string[];
}

/** Stores the identity of a chat object, from its adoption until the chat is deleted. */
export class Adoption {
  readonly #kv: SyncKvStorage;
  readonly #prepare: () => void;
  #identity: ChatIdentity | undefined;

  /** @param prepare prepares the storage of an adopted chat */
  constructor({ kv }: DurableObjectStorage, prepare: () => void) {
    this.#kv = kv;
    this.#prepare = prepare;
  }

  /** The chat's identity; undefined before its adoption. */
  identity(): ChatIdentity | undefined {
    if (!this.#identity) {
      const identity = this.#kv.get<ChatIdentity>("identity");
      // Before `#identity` is set: if this throws, the next caller tries again.
      if (identity) this.#prepare();
      this.#identity = identity;
    }
    return this.#identity;
  }

  /**
   * Returns the chat's identity to its organization, and adopts the chat if needed.
   * @param knownIdentity what the caller read in the directory; null if it didn't
   * @returns undefined for another organization, and before the adoption
   */
  identify(organizationId: string, knownIdentity: ChatIdentity | null): ChatIdentity | undefined {
    if (knownIdentity?.organizationId === organizationId && !this.identity()) {
      const erasedAt = this.#kv.get<number>("erased");
      // The caller may have read the directory before the deletion. A chat created after the deletion is adopted.
      if (erasedAt === undefined || knownIdentity.createdAt > erasedAt) {
        this.#kv.delete("erased");
        this.#kv.put("identity", knownIdentity);
      }
    }
    const identity = this.identity();
    return identity?.organizationId === organizationId ? identity : undefined;
  }

  /** All storage was deleted. */
  forget(): void {
    this.#identity = undefined;
  }

  /** Stores when the chat was deleted, so that a late caller can't adopt it again. */
  markErased(at: number): void {
    this.#kv.put("erased", at);
  }
}
