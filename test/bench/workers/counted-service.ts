import { countHops, countRows, take } from "./counting.ts";
import { withHops } from "./hops.ts";

// biome-ignore lint/suspicious/noExplicitAny: TypeScript asks it of a class that extends any class
type ObjectClass = new (...given: any[]) => { alarm?(): void | Promise<void> };

/** An object's class with counters for hops and rows. Those of alarms do not count: they belong to no request. */
export function counting<C extends ObjectClass>(Original: C) {
  return class extends Original {
    #aside = 0;

    // biome-ignore lint/suspicious/noExplicitAny: as above
    constructor(...[state, env]: any[]) {
      const own: { isCounted: () => boolean } = { isCounted: () => true };
      countRows(state, () => own.isCounted());
      super(
        state,
        withHops(
          env,
          countHops(() => own.isCounted()),
        ),
      );
      own.isCounted = () => this.#aside === 0;
    }

    override async alarm(): Promise<void> {
      await this.uncounted(async () => super.alarm?.());
    }

    /** For methods that alarms of other objects call. */
    aside<T>(work: () => T): T {
      this.#aside++;
      try {
        return work();
      } finally {
        this.#aside--;
      }
    }

    async uncounted<T>(work: () => Promise<T>): Promise<T> {
      this.#aside++;
      try {
        return await work();
      } finally {
        this.#aside--;
      }
    }
  };
}

/** A Worker that counts its hops, and returns at `/bench/tally` what its isolate counted. */
export function countedWorker<E extends object>(original: { fetch: ExportedHandlerFetchHandler<E> }) {
  const wrapped = new WeakMap<E, E>();
  const around = countHops(() => true);
  return {
    fetch(request, env, context) {
      if (new URL(request.url).pathname === "/bench/tally") return Response.json(take());
      const own = wrapped.get(env) ?? withHops(env, around);
      wrapped.set(env, own);
      return original.fetch(request, own, context);
    },
  } satisfies ExportedHandler<E>;
}
