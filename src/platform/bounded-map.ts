/** A map of at most `max` entries. Setting one more removes the entry that was set first. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    // A map iterates its keys in the order of insertion.
    super.delete(key);
    super.set(key, value);
    if (this.size > this.#max) super.delete(this.keys().next().value as Key);
    return this;
  }
}
