import { acknowledged } from "./acknowledged.ts";
import { damaged } from "./damaged.ts";
import { telegram, whatsapp } from "./delivery.ts";
import { erasure } from "./erasure.ts";
import { neighbours } from "./neighbours.ts";
import { pauses } from "./pause.ts";
import type { StormTest } from "./storm.ts";
import { webhooks } from "./webhooks.ts";

/** All that `npm run test:storm` does, in its order. */
export const TESTS: StormTest[] = [
  { name: "acknowledged", run: acknowledged },
  { name: "telegram", run: telegram },
  { name: "whatsapp", run: whatsapp },
  { name: "pauses", run: pauses },
  { name: "webhooks", run: webhooks },
  { name: "erasure", run: erasure },
  { name: "neighbours", run: neighbours },
  { name: "damaged", run: damaged },
];
