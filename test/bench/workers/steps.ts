import worker, * as service from "../../../src/index.ts";
import type { StepCall } from "../step-call.ts";

// biome-ignore lint/suspicious/noExplicitAny: TypeScript asks it of a class that extends any class
type ObjectClass = new (...given: any[]) => { alarm?(): void | Promise<void> };

/** An object's class whose storage can be filled, and whose alarm can be run. */
function open<C extends ObjectClass>(Original: C) {
  return class extends Original {
    readonly #storage: DurableObjectStorage;

    // biome-ignore lint/suspicious/noExplicitAny: as above
    constructor(...[state, env]: any[]) {
      super(state, env);
      this.#storage = (state as DurableObjectState).storage;
    }

    runSql(statements: StepCall["statements"]): unknown {
      const rows = statements.map(({ sql, values }) => this.#storage.sql.exec(sql, ...values).toArray());
      return rows.at(-1);
    }

    async ring(): Promise<void> {
      await this.alarm?.();
    }
  };
}

export class KeyObject extends open(service.KeyObject) {}
export class ChannelObject extends open(service.ChannelObject) {}
export class WebhookObject extends open(service.WebhookObject) {}
export class OrganizationObject extends open(service.OrganizationObject) {}
export class ChatObject extends open(service.ChatObject) {}

type Opened = { runSql(statements: StepCall["statements"]): Promise<unknown>; ring(): Promise<void> };

/** The service, with a route that fills and rings its objects. */
export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== "/bench/object") return worker.fetch(request, env, context);
    const { binding, id, statements } = await request.json<StepCall>();
    const object = (env[binding] as unknown as DurableObjectNamespace).getByName(id) as unknown as Opened;
    const result = statements.length > 0 ? await object.runSql(statements) : await object.ring();
    return Response.json(result ?? null);
  },
} satisfies ExportedHandler<Env>;
