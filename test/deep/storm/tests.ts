import { alarms } from "./alarms.ts";
import { bursts } from "./bursts.ts";
import { damaged } from "./damaged.ts";
import { deletion } from "./deletion.ts";
import { telegram, whatsapp } from "./delivery.ts";
import { dueAtOnce } from "./due-at-once.ts";
import { events } from "./events.ts";
import { files } from "./files.ts";
import type { Storm } from "./ground.ts";
import { pauses } from "./pause.ts";
import { soak } from "./soak.ts";
import { visitors } from "./visitors.ts";
import { webhooks } from "./webhooks.ts";

/** The storms of `npm run test:long -- storm`, in their order. */
export const STORMS: Record<string, Storm> = {
  telegram,
  whatsapp,
  dueAtOnce,
  pauses,
  alarms,
  webhooks,
  events,
  visitors,
  files,
  deletion,
  damaged,
  bursts,
  soak,
};
