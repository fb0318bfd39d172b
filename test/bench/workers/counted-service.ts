import { countHops, countRows, take } from "./counting.ts";
import { withHops } from "./hops.ts";

// biome-ignore lint/suspicious/noExplicitAny: TypeScript asks it of a class that extends any class
type ObjectClass = new (...given: any[]) => { alarm?(): void | Promise<void> };

/** An object's class whose hops and rows are counted, but for those of its alarm, which belong to no request. */
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

    /** For what alarms of other objects call, too. */
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

/** A Worker whose hops are counted, and which tells what its isolate has counted. */
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
