import type { Caller } from "../../../src/model/caller.ts";
import { Party, type PlatformWorld } from "./party.ts";

export const ORGANIZATION_ID = "org_g000000000000000";
/** Who calls the API in simulations without keys. */
export const CALLER = {
  principal: { type: "key", id: "key", name: "Key" },
  organizationId: ORGANIZATION_ID,
  defaultSenderId: "member",
  region: null,
} as unknown as Caller;

/** Where an isolate's code is, and its environment. */
export interface Isolate {
  party: Party;
  env: Env;
}

/** One try of a request. @returns false if it is to come again */
type Request = (isolate: Isolate) => Promise<unknown>;

const PATIENCE_MS = 400_000;

/** Two isolates of the Worker. */
export function twoIsolates(world: PlatformWorld, env: (party: Party) => Env): Isolate[] {
  return ["isolate 1", "isolate 2"].map((name) => {
    const party = new Party(world, name);
    return { party, env: env(party) };
  });
}

/** The service's callers, each in one of the isolates. They repeat what was not answered. */
export class Requests {
  /** Each client is as patient as this many tries. */
  maxTries = 4;
  protected readonly world: PlatformWorld;
  readonly #isolates: readonly Isolate[];
  readonly #isOutage: (error: unknown) => boolean;
  #names = 0;

  /** @param isOutage knows errors that may pass; an object's loss is known */
  constructor(world: PlatformWorld, isolates: readonly Isolate[], isOutage: (error: unknown) => boolean = () => false) {
    this.world = world;
    this.#isolates = isolates;
    this.#isOutage = isOutage;
  }

  /** Tries until the client is content, gives up, or its request can't succeed. */
  protected request(name: string, request: Request, tries = 0): void {
    const { world } = this;
    if (tries >= this.maxTries) {
      world.count(`${name}: given up`);
      return;
    }
    let isOver = false;
    const again = () => {
      if (isOver) return;
      isOver = true;
      world.after(world.between(100, 60_000), () => this.request(name, request, tries + 1));
    };
    world.after(PATIENCE_MS, again);
    const isolate = world.pick(this.#isolates);
    world.after(0, () => {
      isolate.party.enter(async () => {
        try {
          world.note(() => `${name}: try ${tries + 1}`);
          const isContent = (await request(isolate)) !== false;
          world.note(() => `${name}: ${isContent ? "done" : "again"}`);
          world.count(`${name}: ${isContent ? "done" : "again"}`);
          if (isContent) isOver = true;
          else again();
        } catch (error) {
          if (this.#isFinal(name, error)) isOver = true;
          else again();
        }
      });
    });
  }

  /** Whether a repeat can't help. Anything but a refusal or an outage is a fault of the service. */
  #isFinal(name: string, error: unknown): boolean {
    const { code, durableObjectReset: isLost } = error as { code?: string; durableObjectReset?: boolean };
    const isFault = code === undefined ? !isLost && !this.#isOutage(error) : code.startsWith("ERR_");
    if (isFault) this.world.fail(error);
    this.world.note(() => `${name}: ${code ?? "outage"}`);
    this.world.count(`${name}: ${code ?? "outage"}`);
    return code !== undefined && code !== "unavailable";
  }

  /** A text that occurs once in a run, and is in no other text. */
  protected name(kind: string): string {
    return `${kind}-${++this.#names}-`;
  }
}
