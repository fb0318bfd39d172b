import { env } from "cloudflare:workers";
import { AsyncLocalStorage } from "node:async_hooks";
import { onTestFinished } from "vitest";
import * as worker from "../../src/index.ts";
import { NAMESPACES } from "./faults.ts";

/** The last argument of a counted call: the calls that led to it, the first one first. */
interface Trail {
  trail: string[];
}

/** The object whose code runs, with the trail of its newest event. */
interface Running {
  trail: string[];
}

// biome-ignore lint/suspicious/noExplicitAny: what is wrapped here has every type
type Run = (this: any, ...given: any[]) => any;

const CLASSES = {
  ORGANIZATIONS: worker.OrganizationObject,
  KEYS: worker.KeyObject,
  CHATS: worker.ChatObject,
  CHANNELS: worker.ChannelObject,
  WEBHOOKS: worker.WebhookObject,
  SEARCH_INDEXES: worker.SearchIndexObject,
};

/**
 * Counts until the end of the test how deep calls of objects are nested, as the runtime attributes a call: to the newest
 * event of the calling object, whatever event began the work that makes the call. An event is a call, with the depth of
 * its caller's newest event and one more, or an alarm, with depth 0. Code outside objects has depth 0.
 *
 * The runtime does not tell the depth, so it is carried as one more argument of each call. An event that has ended still
 * counts as the newest here. The platform ends a chain of calls from about depth 16.
 * @see https://github.com/cloudflare/workerd/blob/main/src/workerd/io/io-context.h `getCurrentIncomingRequest`
 */
export function countDepth() {
  const running = new AsyncLocalStorage<Running>();
  const objects = new WeakMap<object, Running>();
  const seen = { calls: 0, deepest: [] as string[] };
  const stateOf = (object: object) => {
    const known = objects.get(object) ?? { trail: [] };
    objects.set(object, known);
    return known;
  };
  for (const name of NAMESPACES) {
    const { prototype } = CLASSES[name];
    const methods = methodsOf(prototype);
    for (const method of methods) {
      replace(prototype, method, (own) => {
        return function (...given) {
          const last = given.at(-1) as Partial<Trail> | undefined;
          if (method !== "alarm" && !last?.trail) return own.apply(this, given);
          const state = stateOf(this);
          state.trail = last?.trail ?? [];
          return running.run(state, () => own.apply(this, last?.trail ? given.slice(0, -1) : given));
        };
      });
    }
    replace(env[name], "getByName", (own) => (...given) => {
      const stub = own.apply(env[name], given) as Record<string, Run>;
      for (const method of methods) {
        const call: Run = (...values) => {
          const trail = [...(running.getStore()?.trail ?? []), `${name}.${method}`];
          seen.calls++;
          if (trail.length > seen.deepest.length) seen.deepest = trail;
          return (own.apply(env[name], given) as Record<string, Run>)[method]?.(...values, { trail } satisfies Trail);
        };
        Object.defineProperty(stub, method, { value: call, configurable: true });
      }
      return stub;
    });
  }
  return seen;
}

function replace(owner: object, name: string, by: (own: Run) => Run): void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  const value = by(Reflect.get(owner, name) as Run);
  Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  onTestFinished(() => {
    if (before) Object.defineProperty(owner, name, before);
    else Reflect.deleteProperty(owner, name);
  });
}

/** The methods of a class of objects that others may call. */
function methodsOf(prototype: object): string[] {
  const names = new Set<string>();
  for (let from = prototype; from !== Object.prototype; from = Object.getPrototypeOf(from) as object) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
      if (typeof value === "function" && name !== "constructor") names.add(name);
    }
  }
  return [...names];
}
