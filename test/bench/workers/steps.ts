import worker, * as service from "../../../src/index.ts";
import type { Named, StepCall, Turn } from "../step-call.ts";
import { endTurns, watchTurns, withTurns } from "./turns.ts";

// biome-ignore lint/suspicious/noExplicitAny: TypeScript asks it of a class that extends any class
type ObjectClass = new (...given: any[]) => { alarm?(): void | Promise<void> };

/** An object's class whose storage can be filled, and whose alarm can be run. One object watches the event loop for all. */
function open<C extends ObjectClass>(Original: C) {
  return class extends Original {
    readonly #state: DurableObjectState;
    readonly #env: Env;
    #watch: Promise<Turn[]> = Promise.resolve([]);

    // biome-ignore lint/suspicious/noExplicitAny: as above
    constructor(...[state, env]: any[]) {
      const own = withTurns(env as Env);
      super(state, own);
      this.#env = own;
      this.#state = state;
    }

    runSql(statements: StepCall["statements"]): unknown {
      const rows = statements.map(({ sql, values }) => this.#state.storage.sql.exec(sql, ...values).toArray());
      return rows.at(-1);
    }

    /** As `StepCall` has it. */
    async repeat({ binding, id, statements, times = 1, by }: StepCall): Promise<unknown> {
      let result: unknown;
      const other = by && opened(this.#env, { binding, id });
      for (let n = 0; n < times; n++) result = await (other ?? this).runSql(statements);
      return result;
    }

    async ring(): Promise<void> {
      await this.alarm?.();
    }

    beginWatch(): void {
      this.#watch = watchTurns();
      // Without it, an object without calls leaves the memory.
      this.#state.waitUntil(this.#watch);
    }

    /** @returns the long turns of the event loop since `beginWatch` */
    endWatch(): Promise<Turn[]> {
      endTurns();
      return this.#watch;
    }
  };
}

export class KeyObject extends open(service.KeyObject) {}
export class ChannelObject extends open(service.ChannelObject) {}
export class WebhookObject extends open(service.WebhookObject) {}
export class SearchIndexObject extends open(service.SearchIndexObject) {}
export class OrganizationObject extends open(service.OrganizationObject) {}
export class ChatObject extends open(service.ChatObject) {}

interface Opened {
  runSql(statements: StepCall["statements"]): unknown;
  repeat(call: StepCall): Promise<unknown>;
  ring(): Promise<void>;
  beginWatch(): Promise<void>;
  endWatch(): Promise<Turn[]>;
}

const WATCHER: Named = { binding: "KEYS", id: "key_watcher" };

const environments = new WeakMap<Env, Env>();

/** The service, with routes that fill and ring its objects, and watch them. */
export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/bench/object") {
      const call = await request.json<StepCall>();
      const object = opened(env, call.by ?? call);
      const result = call.statements.length > 0 ? await object.repeat(call) : await object.ring();
      return Response.json(result ?? null);
    }
    if (pathname === "/bench/watch") {
      await opened(env, WATCHER).beginWatch();
      return new Response();
    }
    if (pathname === "/bench/watch/end") return Response.json(await opened(env, WATCHER).endWatch());
    const own = environments.get(env) ?? withTurns(env);
    environments.set(env, own);
    return worker.fetch(request, own, context);
  },
} satisfies ExportedHandler<Env>;

function opened(env: Env, { binding, id }: Named): Opened {
  return (env[binding] as unknown as DurableObjectNamespace).getByName(id) as unknown as Opened;
}
