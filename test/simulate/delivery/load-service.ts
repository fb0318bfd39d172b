import { loaderOf, type Replacement } from "../objects/bundle.ts";

export type Service = typeof import("./service.ts");

/** A channel's object has no room for every tenth request that would wait. */
const IMPATIENT: Replacement = {
  file: "src/channels/object/permits.ts",
  right: "let canWait = this.#changed.hasRoom;",
  wrong: "let canWait = this.#changed.hasRoom && Math.random() > 0.1;",
};

/** Loads the service's code as this simulation runs it. */
export const loadService = loaderOf<Service>(
  import.meta.url,
  { "/registry.ts": "../organization/registry.ts", "/channel-record.ts": "record.ts" },
  [IMPATIENT],
);
