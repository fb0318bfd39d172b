/** A grant that may be in use. Its units are counted in this window and this month. */
export interface OpenGrant {
  units: number;
  windowStart: number;
  month: string;
  /** Unix milliseconds. */
  grantedAt: number;
}

/** An isolate returns a grant within two seconds. After this time it is lost, and its units count as used. */
const FORGOTTEN_AFTER_MS = 3_000;

/** The grants of a key that isolates have not returned, by id. Only in memory: what a lost object forgot stays counted. */
export class OpenGrants {
  readonly #grants = new Map<string, OpenGrant>();

  get isEmpty(): boolean {
    return this.#grants.size === 0;
  }

  add(id: string, grant: OpenGrant): void {
    this.#grants.set(id, grant);
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
      lost.push(grant);
    }
    return lost;
  }

  forget(): void {
    this.#grants.clear();
  }
}
