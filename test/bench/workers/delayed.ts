import worker from "../../../src/index.ts";
import { away } from "./away.ts";
import { withHops } from "./hops.ts";

type DelayedEnv = Env & { DELAY_MS: number };

const delayed = new WeakMap<Env, Env>();

/** The service with `DELAY_MS` added to each way of a hop, as if the objects were on another continent. */
export default {
  fetch(request, env, context) {
    let far = delayed.get(env);
    if (!far) {
      far = withHops(env, async (_hop, _statements, go) => {
        await away(env.DELAY_MS);
        try {
          return await go();
        } finally {
          await away(env.DELAY_MS);
        }
      });
      delayed.set(env, far);
    }
    return worker.fetch(request, far, context);
  },
} satisfies ExportedHandler<DelayedEnv>;

export { ChannelObject, ChatObject, KeyObject, SearchIndexObject, WebhookObject } from "../../../src/index.ts";
