import type { Party } from "../objects/party.ts";
import type { LifeWorld } from "./rules.ts";

/** How a stream of `FixedLengthStream` ends here. */
interface Whole {
  whole: Promise<string>;
}

interface Stored extends Pick<R2PutOptions, "httpMetadata" | "customMetadata"> {
  bytes: string;
}

/** The bucket of files. Its calls fail, are done late, or are done and never answered; some keys can't be deleted. */
export class Bucket {
  readonly #world: LifeWorld;
  readonly #objects = new Map<string, Stored>();
  /** The first bytes that each key ever had. */
  readonly first = new Map<string, string>();
  /** The keys whose bytes came again after they were deleted. */
  readonly late = new Set<string>();
  /** What R2 does not delete. */
  readonly stuck = new Set<string>();
  /** A call that can't delete one key deletes the others. */
  readonly #deletesOthers: boolean;
  /** Bytes are deleted. */
  onDeleted: (key: string) => void = () => {};

  constructor(world: LifeWorld) {
    this.#world = world;
    this.#deletesOthers = world.random() < 0.5;
  }

  get keys(): string[] {
    return [...this.#objects.keys()].sort((one, other) => (one < other ? -1 : 1));
  }

  bytes(key: string): string | undefined {
    return this.#objects.get(key)?.bytes;
  }

  /** The binding, as the code of a place has it. */
  binding(party: Party) {
    const shown = (key: string) => {
      const { bytes = "", httpMetadata, customMetadata } = this.#objects.get(key) ?? {};
      return { key, size: bytes.length, httpMetadata, customMetadata };
    };
    return {
      put: async (key: string, { whole }: Whole, { onlyIf, httpMetadata, customMetadata }: R2PutOptions) => {
        const bytes = await whole;
        const isOnlyNew = (onlyIf as R2Conditional | undefined)?.etagDoesNotMatch === "*";
        const stored = { bytes, httpMetadata, customMetadata } as Stored;
        return this.#ask(party, () => this.#put(key, stored, isOnlyNew));
      },
      head: (key: string) => this.#ask(party, () => (this.#objects.has(key) ? shown(key) : null)),
      get: (key: string) =>
        this.#ask(party, () => (this.#objects.has(key) ? { ...shown(key), body: this.bytes(key) } : null)),
      list: ({ prefix, limit, startAfter = "" }: { prefix: string; limit: number; startAfter?: string }) =>
        this.#ask(party, () => {
          const keys = this.keys.filter((key) => key.startsWith(prefix) && key > startAfter);
          return { objects: keys.slice(0, limit).map(shown), truncated: keys.length > limit };
        }),
      delete: (keys: string | string[]) => this.#ask(party, () => this.#delete([keys].flat())),
    };
  }

  #put(key: string, stored: Stored, onlyIfNew: boolean): { size: number } | null {
    const world = this.#world;
    const isThere = this.#objects.has(key);
    if (isThere && onlyIfNew) {
      world.count("bytes are there already");
      return null;
    }
    world.check("overwritten", !isThere, () => `${key} is written again`);
    if (this.first.has(key)) {
      world.count("bytes come late");
      this.late.add(key);
    } else this.first.set(key, stored.bytes);
    world.note(() => `R2 stores ${key}`);
    this.#objects.set(key, stored);
    return { size: stored.bytes.length };
  }

  #delete(keys: string[]): void {
    const isStuck = keys.some((key) => this.stuck.has(key));
    if (!isStuck || this.#deletesOthers) {
      for (const key of keys) {
        if (this.stuck.has(key) || !this.#objects.delete(key)) continue;
        this.#world.note(() => `R2 deletes ${key}`);
        this.onDeleted(key);
      }
    }
    if (isStuck) throw new Error("R2 can't delete");
  }

  #ask(party: Party, work: () => unknown): Promise<unknown> {
    const world = this.#world;
    return party.request((reply) => {
      const failed = () => reply({ error: new Error("R2 is away") });
      if (world.fault("R2 fails", 0.1)) {
        world.after(world.between(5, 5_000), failed);
        return;
      }
      const ms = world.fault("R2 slow", 0.1) ? world.between(1_000, 60_000) : world.between(1, 50);
      world.after(ms, () => {
        try {
          const value = work();
          const lost = world.fault("R2's answer lost", 0.1);
          if (!lost) world.after(world.between(1, 20), () => reply({ value }));
          else if (world.random() < 0.5) failed();
        } catch (error) {
          reply({ error });
        }
      });
    });
  }
}
