/** A map of at most `max` entries: where it would hold more, the one that was put there first goes. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    // A map lists its keys in the order in which they were put there.
    super.delete(key);
    super.set(key, value);
    if (this.size > this.#max) super.delete(this.keys().next().value as Key);
    return this;
  }
}
