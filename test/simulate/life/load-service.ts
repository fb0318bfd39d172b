import { loaderOf, type Replacement } from "../objects/bundle.ts";

export type Service = typeof import("./service.ts");

/** The limits in this simulation: a few messages reach them. */
export const MAX_QUEUED = 4;
export const MAX_SCHEDULED = 6;
export const MAX_LABELS = 2;
const FILES = "src/chats/object/files/";

const LIMITS: readonly Replacement[] = [
  { file: "src/chats/object/log/limits.ts", right: "MAX_QUEUED = 10_000;", wrong: `MAX_QUEUED = ${MAX_QUEUED};` },
  {
    file: "src/chats/object/scheduled/decisions.ts",
    right: "MAX_SCHEDULED = 1_000;",
    wrong: `MAX_SCHEDULED = ${MAX_SCHEDULED};`,
  },
  {
    file: "src/model/label.ts",
    right: "MAX_LABELS_OF_CHAT = 20;",
    wrong: `MAX_LABELS_OF_CHAT = ${MAX_LABELS};`,
  },
  { file: `${FILES}limits.ts`, right: "MAX_UNUSED_FILES = 100;", wrong: "MAX_UNUSED_FILES = 5;" },
  { file: `${FILES}chat-files.ts`, right: "STEP_SIZE = 1_000;", wrong: "STEP_SIZE = 4;" },
  // A deletion of a few messages has several steps, and is not always completed in one run.
  { file: "src/chats/object/retention/retention.ts", right: "STEP_SIZE = 250;", wrong: "STEP_SIZE = 2;" },
  { file: "src/chats/object/retention/retention.ts", right: "MAX_STEPS = 200;", wrong: "MAX_STEPS = 3;" },
];

/** Loads the service's code as this simulation runs it. */
export const loadService = loaderOf<Service>(import.meta.url, { "/registry.ts": "registry.ts" }, LIMITS);
