import { beforeEach } from "vitest";
import type { KeyObject } from "../../src/keys/object/key-object.ts";

declare global {
  /** Whether keys' objects grant units ahead in this test. */
  var grantsUnits: boolean | undefined;
}

type Admit = Parameters<KeyObject["admit"]>;

/**
 * Keys' objects grant nothing from here on, unless a test calls `withGrants`. A test makes its requests as fast as it can:
 * whether it gets units ahead, and when they go back, would depend on the machine.
 */
export function withoutGrants({ prototype }: typeof KeyObject): void {
  const admit = Reflect.get(prototype, "admit") as (this: KeyObject, ...given: Admit) => ReturnType<KeyObject["admit"]>;
  prototype.admit = function admitAlone(id, { pace, ...asked }) {
    return admit.call(this, id, globalThis.grantsUnits && pace !== undefined ? { ...asked, pace } : asked);
  };
}

/** In each test of this file, keys' objects grant units ahead as they do when deployed. */
export function withGrants(): void {
  beforeEach(() => {
    globalThis.grantsUnits = true;
  });
}
