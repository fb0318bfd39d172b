import type { AsOwner, ChatIdentity, Unknown } from "../../model/chat-answers.ts";
import { type ChatTables, TABLES_VERSION } from "./log/chat-tables.ts";

/** The answer of a chat's object before it has an identity, and always to other organizations. */
export const UNKNOWN: Unknown = { outcome: "unknown" };

/** What stays of a deleted chat until `until` (Unix milliseconds), so that a late call can't create it again. */
export interface Tombstone extends Pick<ChatIdentity, "organizationId" | "life"> {
  until: number;
  /** The chat's id, if the chat deleted itself and its organization's object may not know. */
  untoldId?: string;
  /** The chat's id, if it had files: late bytes of an upload go when the tombstone does. */
  filesOf?: string;
}

/** The object's own tables, without those of the platform. */
const TABLES = "select name from sqlite_master where type = 'table' and substr(name, 1, 4) not in ('_cf_', 'sqli')";

/**
 * Stores the identity of a chat object, from its adoption until the chat is deleted, and then its tombstone. A lean chat
 * has it under a name of its own: versions before 0.3.0 don't find it, and adopt the chat with all its tables, or fail
 * and change nothing if it has one already.
 */
export class Adoption {
  readonly #storage: DurableObjectStorage;
  readonly #tables: ChatTables;
  readonly #begin: (identity: ChatIdentity, tombstone: Tombstone | undefined) => void;
  readonly #onCall: () => void;
  #identity: ChatIdentity | undefined;

  /**
   * @param begin writes what a chat begins with, in the commit of its adoption; `tombstone` is of the chat before it
   * @param onCall the chat's organization calls
   */
  constructor(
    storage: DurableObjectStorage,
    tables: ChatTables,
    begin: (identity: ChatIdentity, tombstone: Tombstone | undefined) => void,
    onCall: () => void,
  ) {
    this.#storage = storage;
    this.#tables = tables;
    this.#begin = begin;
    this.#onCall = onCall;
  }

  /** The chat's identity; undefined before its adoption and after its deletion. */
  identity(): ChatIdentity | undefined {
    if (!this.#identity) {
      const identity = this.#kv.get<ChatIdentity>("identity");
      const lean = identity ? undefined : this.#kv.get<ChatIdentity>("lean");
      // Before `#identity` is set: if this throws, the next caller tries again.
      if (identity) this.#upgradeAll();
      if (lean) this.#tables.upgrade(1);
      this.#identity = identity ?? lean;
    }
    return this.#identity;
  }

  /** Whether a chat still exists. A chat that was deleted and created again has the same id and a greater life. */
  exists(life: number): boolean {
    return this.identity()?.life === life;
  }

  /**
   * Returns the chat's identity to its organization, and adopts the chat if needed.
   * @param knownIdentity the identity that the organization's object gave to the caller; null if the caller did not ask
   * @returns undefined for another organization, before the adoption, and for another life of the chat
   */
  identify(organizationId: string, knownIdentity: ChatIdentity | null): ChatIdentity | undefined {
    if (knownIdentity?.organizationId === organizationId && !this.identity()) {
      if (knownIdentity.life > (this.tombstone()?.life ?? 0)) this.#adopt(knownIdentity);
    }
    const identity = this.identity();
    if (identity?.organizationId !== organizationId) return undefined;
    return knownIdentity && knownIdentity.life !== identity.life ? undefined : identity;
  }

  /** Does work for the chat's organization, and adopts the chat if needed. */
  forOwner<Answer>(
    { organizationId, knownIdentity }: AsOwner,
    work: (identity: ChatIdentity) => Answer,
  ): Answer | Unknown {
    const identity = this.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    this.#onCall();
    return work(identity);
  }

  #adopt(identity: ChatIdentity): void {
    this.#tables.transaction(() => {
      const tombstone = this.tombstone();
      if (tombstone) this.#kv.delete("tombstone");
      if (identity.isLean) this.#kv.put("lean", identity);
      else this.#writeAll(identity);
      this.#begin(identity, tombstone);
    });
  }

  #writeAll(identity: ChatIdentity): void {
    this.#kv.put("identity", identity);
    this.#tables.createAll();
    this.#kv.put("schema", TABLES_VERSION);
  }

  #upgradeAll(): void {
    const version = this.#kv.get<number>("schema") ?? 1;
    // Older code leaves newer tables as they are.
    if (version < TABLES_VERSION) this.#tables.upgrade(version, () => this.#kv.put("schema", TABLES_VERSION));
  }

  tombstone(): Tombstone | undefined {
    return this.#kv.get<Tombstone>("tombstone");
  }

  /** Replaces everything in storage by a tombstone, in one transaction. */
  bury(tombstone: Tombstone): void {
    this.#identity = undefined;
    const { kv, sql } = this.#storage;
    this.#storage.transactionSync(() => {
      for (const { name } of sql.exec<{ name: string }>(TABLES).toArray()) sql.exec(`drop table "${name}"`);
      for (const [key] of [...kv.list()]) kv.delete(key);
      kv.put("tombstone", tombstone);
    });
  }

  get #kv(): SyncKvStorage {
    return this.#storage.kv;
  }
}
