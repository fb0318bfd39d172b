import { acknowledged } from "./acknowledged.ts";
import { alarms } from "./alarms.ts";
import { damaged } from "./damaged.ts";
import { telegram, whatsapp } from "./delivery.ts";
import { erasure } from "./erasure.ts";
import { alone } from "./ground.ts";
import { herd } from "./herd.ts";
import { neighbours } from "./neighbours.ts";
import { pauses } from "./pause.ts";
import { quota } from "./quota.ts";
import { reading } from "./reading.ts";
import { revocation } from "./revocation.ts";
import { soak } from "./soak.ts";
import type { StormTest } from "./storm.ts";
import { visitors } from "./visitors.ts";
import { burst, webhooks } from "./webhooks.ts";

/** All that `npm run test:storm` does, in its order. */
export const TESTS: StormTest[] = [
  { name: "acknowledged", run: acknowledged },
  { name: "telegram", run: telegram },
  { name: "whatsapp", run: whatsapp },
  { name: "pauses", run: pauses },
  { name: "alarms", run: alone(alarms) },
  { name: "webhooks", run: alone(webhooks) },
  { name: "burst", run: alone(burst) },
  { name: "herd", run: alone(herd) },
  { name: "quota", run: alone(quota) },
  { name: "revocation", run: alone(revocation) },
  { name: "reading", run: alone(reading) },
  { name: "visitors", run: alone(visitors) },
  { name: "erasure", run: erasure },
  { name: "neighbours", run: neighbours },
  { name: "damaged", run: damaged },
  { name: "soak", run: alone(soak) },
];
