import { loaderOf, type Replacement } from "../objects/bundle.ts";

export type Service = typeof import("./service.ts");

/** How many attempts a webhook's object keeps here, so that it replaces its tables often. */
export const KEPT_ATTEMPTS = 20;

/** Limits that would take thousands of events to reach. */
const LOWER_LIMITS: readonly Replacement[] = [
  {
    file: "src/webhooks/object/attempt-log.ts",
    right: "export const KEPT_ATTEMPTS = 1_000;",
    wrong: `export const KEPT_ATTEMPTS = ${KEPT_ATTEMPTS};`,
  },
  {
    file: "src/webhooks/subscription/pending-events.ts",
    right: "const STEP = { numbers: 10_000, statement: 100, facts: 2_000 };",
    wrong: "const STEP = { numbers: 8, statement: 2, facts: 3 };",
  },
  { file: "src/webhooks/subscription/sender.ts", right: "const MAX_RANGES = 1_000;", wrong: "const MAX_RANGES = 3;" },
  { file: "src/webhooks/object/replay-run.ts", right: "const PER_STEP = 200;", wrong: "const PER_STEP = 3;" },
];

/** Loads the service's code as this simulation runs it. */
export const loadService = loaderOf<Service>(import.meta.url, { "/sealing.ts": "sealing.ts" }, LOWER_LIMITS);
