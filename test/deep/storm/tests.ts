import { acknowledged } from "./acknowledged.ts";
import { alarms } from "./alarms.ts";
import { damaged } from "./damaged.ts";
import { deadReceiver } from "./dead-receiver.ts";
import { deletion } from "./deletion.ts";
import { telegram, whatsapp } from "./delivery.ts";
import { dueAtOnce } from "./due-at-once.ts";
import { events } from "./events.ts";
import type { Storm } from "./ground.ts";
import { herd } from "./herd.ts";
import { mixed } from "./mixed.ts";
import { pauses } from "./pause.ts";
import { quota } from "./quota.ts";
import { reading } from "./reading.ts";
import { hanging, poison } from "./receivers.ts";
import { revocation } from "./revocation.ts";
import { soak } from "./soak.ts";
import { streams } from "./streams.ts";
import { visitors } from "./visitors.ts";
import { burst, webhooks } from "./webhooks.ts";

/** The storms of `npm run test:storm`, in their order. */
export const STORMS: Record<string, Storm> = {
  acknowledged,
  telegram,
  whatsapp,
  dueAtOnce,
  pauses,
  alarms,
  webhooks,
  burst,
  events,
  streams,
  poison,
  hanging,
  deadReceiver,
  herd,
  quota,
  revocation,
  reading,
  visitors,
  deletion,
  mixed,
  damaged,
  soak,
};
