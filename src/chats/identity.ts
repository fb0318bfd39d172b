import type { ChannelKind } from "../channels/kinds.ts";

/** Which chat an object is. Its first caller who has read the directory sets it, and it never changes. */
export interface ChatIdentity {
  chatId: string;
  organizationId: string;
  channelId: string;
  channelKind: ChannelKind;
  /** The contact's address on the channel when the chat was created. */
  contactAddress: string;
  /** When the chat was created, Unix milliseconds. It tells a chat from an erased chat with the same id. */
  createdAt: number;
  /** Addresses of the contact that the directory has; known to the caller who opened the chat. */
  addresses?: string[];
}

/** The identity of a chat object: stored by its first caller who knows the directory, and kept until the chat is erased. */
export class Adoption {
  readonly #kv: SyncKvStorage;
  readonly #prepare: () => void;
  #identity: ChatIdentity | undefined;

  /** @param prepare makes the storage of an adopted chat ready */
  constructor({ kv }: DurableObjectStorage, prepare: () => void) {
    this.#kv = kv;
    this.#prepare = prepare;
  }

  /** The chat's identity; undefined before its adoption. */
  identity(): ChatIdentity | undefined {
    if (!this.#identity) {
      const identity = this.#kv.get<ChatIdentity>("identity");
      // Before the identity is kept: if this fails, the next caller tries again.
      if (identity) this.#prepare();
      this.#identity = identity;
    }
    return this.#identity;
  }

  /** Adopts the chat if `told` names this organization. @returns undefined if the organization has no such chat */
  open(organizationId: string, told: ChatIdentity | null): ChatIdentity | undefined {
    if (told?.organizationId === organizationId && !this.identity()) {
      const erasedAt = this.#kv.get<number>("erased");
      // A late caller may have read the directory before the erasure: only a chat made after it is adopted.
      if (erasedAt === undefined || told.createdAt > erasedAt) {
        this.#kv.delete("erased");
        this.#kv.put("identity", told);
      }
    }
    const identity = this.identity();
    return identity?.organizationId === organizationId ? identity : undefined;
  }

  /** All storage was erased. */
  forget(): void {
    this.#identity = undefined;
  }

  /** Remembers the erasure, so that a late caller does not adopt the erased chat. */
  markErased(at: number): void {
    this.#kv.put("erased", at);
  }
}
