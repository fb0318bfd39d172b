const MARK = "erased";

/**
 * The key-value storage of an object that is erased once, permanently. A mark stays, so that a call that comes late, or was
 * under way, stores nothing: a cache may still have what the object is of.
 */
export class ErasableKv implements Pick<SyncKvStorage, "get" | "put" | "delete" | "list"> {
  readonly #storage: DurableObjectStorage;
  #isErased: boolean | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get isErased(): boolean {
    this.#isErased ??= this.#storage.kv.get(MARK) === true;
    return this.#isErased;
  }

  get<T>(key: string): T | undefined {
    return this.#storage.kv.get<T>(key);
  }

  /** Stores nothing after `erase`. */
  put<T>(key: string, value: T): void {
    if (!this.isErased) this.#storage.kv.put(key, value);
  }

  delete(key: string): boolean {
    return this.#storage.kv.delete(key);
  }

  list<T>(options?: SyncKvListOptions): Iterable<[string, T]> {
    return this.#storage.kv.list<T>(options);
  }

  /** Deletes all storage of the object, also its tables and its alarm. */
  async erase(): Promise<void> {
    this.#isErased = true;
    const deleted = this.#storage.deleteAll();
    this.#storage.kv.put(MARK, true);
    await deleted;
  }
}
