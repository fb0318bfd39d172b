import { env } from "cloudflare:workers";
import { onTestFinished, vi } from "vitest";
import type { NAMESPACES } from "./faults.ts";

/** Calls to objects have deadlines of this many milliseconds or more. */
const DEADLINE_MS = 3_000;
/** Those of whole runs are longer, and are not hurried. */
const LONGEST_CALL_MS = 60_000;
const LOOK_EVERY_MS = 5;
/** Between two calls, none is under way for a moment. */
const QUIET_LOOKS = 10;

type AsyncMethod = (...given: unknown[]) => Promise<unknown>;

/**
 * From here on until the end of the test, deadlines end once all calls to objects of these namespaces have ended but those
 * that hang. So only these meet their deadline, however slow the machine is. Call it before `breakObject`.
 */
export function hurryDeadlines(...namespaces: (typeof NAMESPACES)[number][]): void {
  let underWay = 0;
  for (const namespace of namespaces) {
    const objects = env[namespace] as unknown as { getByName(name: string, options?: object): object };
    const getByName = objects.getByName.bind(objects);
    // No spy, because `breakObject` has one.
    const counting = (name: string, options?: object) =>
      new Proxy(getByName(name, options), {
        get(target, property) {
          const own = Reflect.get(target, property, target) as AsyncMethod;
          if (typeof own !== "function") return own;
          return async (...given: unknown[]) => {
            underWay++;
            try {
              return await own(...given);
            } finally {
              underWay--;
            }
          };
        },
      });
    const before = Object.getOwnPropertyDescriptor(objects, "getByName");
    Object.defineProperty(objects, "getByName", { value: counting, configurable: true, writable: true });
    onTestFinished(() => {
      if (before) Object.defineProperty(objects, "getByName", before);
      else Reflect.deleteProperty(objects, "getByName");
    });
  }
  const start = setTimeout;
  vi.stubGlobal("setTimeout", (run: () => void, ms = 0) => {
    if (ms < DEADLINE_MS || ms > LONGEST_CALL_MS) return start(run, ms);
    let quiet = 0;
    const looks = setInterval(() => {
      quiet = underWay === 0 ? quiet + 1 : 0;
      if (quiet < QUIET_LOOKS) return;
      clearInterval(looks);
      run();
    }, LOOK_EVERY_MS);
    return looks;
  });
}
