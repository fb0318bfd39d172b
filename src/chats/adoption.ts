import type { ChatIdentity } from "./message-log.ts";

/** Which chat an object is, as the first caller who knows the directory told it; kept for good, or until it is erased. */
export class Adoption {
  readonly #kv: SyncKvStorage;
  readonly #prepare: () => void;
  #identity: ChatIdentity | undefined;

  /** @param prepare makes the storage of an adopted chat ready */
  constructor({ kv }: DurableObjectStorage, prepare: () => void) {
    this.#kv = kv;
    this.#prepare = prepare;
  }

  /** Who the chat is; undefined before it was adopted. */
  identity(): ChatIdentity | undefined {
    if (!this.#identity) {
      const identity = this.#kv.get<ChatIdentity>("identity");
      // First: where it fails, the next caller tries again.
      if (identity) this.#prepare();
      this.#identity = identity;
    }
    return this.#identity;
  }

  /** Who the chat is to an organization, adopting it where `told` says so; undefined where it is unknown. */
  open(organizationId: string, told: ChatIdentity | null): ChatIdentity | undefined {
    if (told?.organizationId === organizationId && !this.identity()) {
      const erasedAt = this.#kv.get<number>("erased");
      // What was made anew since may be adopted; what a late caller read before the erasure may not.
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

  /** Leaves the mark that keeps a late caller from adopting what was erased. */
  markErased(at: number): void {
    this.#kv.put("erased", at);
  }
}
