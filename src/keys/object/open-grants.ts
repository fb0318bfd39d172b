import { GRANTS_OVER_AFTER_MS } from "../../model/key.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";

/** A grant that may be in use. Its units are counted in this window and this month. */
export interface OpenGrant {
  units: number;
  windowStart: number;
  month: string;
  /** Unix milliseconds. */
  grantedAt: number;
}

/** An object that just woke does not know what was granted before, and grants nothing for this long. */
const AWAKE_FOR_MS = 1_000;
/** An isolate returns a grant within two seconds. After this time it is lost, and its units count as used. */
const FORGOTTEN_AFTER_MS = 3_000;
const MAX_CHANGES = 1_000;

/**
 * The grants of a key that isolates have not returned, by id, and whether isolates may hold others. The grants are only in
 * memory: what a lost object forgot stays counted. That there may be some is stored with the first one.
 */
export class OpenGrants {
  readonly #grants = new Map<string, OpenGrant>();
  /** By change: how many grants were given before it. */
  readonly #givenBefore = new BoundedMap<string, number>(MAX_CHANGES);
  #given = 0;
  #mayBeHeld = false;
  /** Whether an isolate may hold one that is not in `#grants`. */
  #mayBeUnknown = false;
  #awakeSince = Date.now();

  /** Whether an isolate may hold one: the owner stores this, and gives it to `resume`. */
  get mayBeHeld(): boolean {
    return this.#mayBeHeld;
  }

  /** Whether one is not accounted for: an isolate may hold it, or may yet return what it did not use of it. */
  get areAny(): boolean {
    return this.#mayBeHeld || this.#grants.size > 0;
  }

  /** What an instance before this one stored. */
  resume(mayBeHeld: boolean): void {
    this.#mayBeHeld = mayBeHeld;
    this.#mayBeUnknown = mayBeHeld;
  }

  /** Whether the object has been awake long enough to grant. */
  isAwake(now: number): boolean {
    // The clock was set back.
    if (now < this.#awakeSince) this.#awakeSince = now;
    return now - this.#awakeSince >= AWAKE_FOR_MS;
  }

  /** @returns whether `mayBeHeld` must be stored before the grant leaves */
  add(id: string, grant: OpenGrant): boolean {
    const isFirst = !this.#mayBeHeld;
    this.#grants.set(id, grant);
    this.#given++;
    this.#mayBeHeld = true;
    return isFirst;
  }

  /** @returns the grant, only once; undefined if it is not known */
  take(id: string): OpenGrant | undefined {
    const grant = this.#grants.get(id);
    this.#grants.delete(id);
    return grant;
  }

  /** Takes those that no isolate will return. */
  takeLost(now: number): OpenGrant[] {
    const lost: OpenGrant[] = [];
    for (const [id, grant] of this.#grants) {
      // After the clock was set back, the time starts over.
      if (grant.grantedAt > now) grant.grantedAt = now;
      // The oldest come first.
      if (now - grant.grantedAt < FORGOTTEN_AFTER_MS) break;
      this.#grants.delete(id);
      // After a change none is held.
      this.#mayBeUnknown ||= this.#mayBeHeld;
      lost.push(grant);
    }
    return lost;
  }

  /** A change of the key begins, during which nothing is granted. @returns after how many milliseconds no isolate holds one */
  beginChange(change: string): number {
    this.#givenBefore.set(change, this.#given);
    const isAny = this.#mayBeHeld && (this.#mayBeUnknown || this.#grants.size > 0);
    return isAny ? GRANTS_OVER_AFTER_MS : 0;
  }

  /**
   * The change waited. If nothing was granted since it began, no isolate holds one. Else the object was lost meanwhile, or
   * its clock was set forward and the change ended too early.
   * @returns after how many milliseconds no isolate holds one of before its end
   */
  endChange(change: string): number {
    if (this.#givenBefore.get(change) === this.#given) this.resume(false);
    this.#givenBefore.delete(change);
    return this.#mayBeHeld ? GRANTS_OVER_AFTER_MS : 0;
  }

  /** Finds out whether no isolate holds one any longer. Waits for those that it does not know. */
  async settle(): Promise<void> {
    if (!this.#mayBeHeld || this.#grants.size > 0) return;
    const given = this.#given;
    // Not by the clock, which may be set forward.
    if (this.#mayBeUnknown) await SYSTEM_CLOCK.wait(GRANTS_OVER_AFTER_MS);
    if (given === this.#given) this.resume(false);
  }

  forget(): void {
    this.#grants.clear();
  }
}
