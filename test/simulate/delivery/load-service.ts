import { loadBundle, type Replacement } from "../objects/bundle.ts";

const here = new URL(".", import.meta.url).pathname;

export type Service = typeof import("./service.ts");

/** A channel's object has no room for every tenth request that would wait. */
const IMPATIENT: Replacement = {
  file: "src/channels/object/permits.ts",
  right: "let canWait = this.#changed.hasRoom;",
  wrong: "let canWait = this.#changed.hasRoom && Math.random() > 0.1;",
};

/** Loads the service's code as this simulation runs it. */
export function loadService(replacements: readonly Replacement[] = []): Promise<Service> {
  const simulated = { "/registry.ts": `${here}../organization/registry.ts`, "/channel-record.ts": `${here}record.ts` };
  return loadBundle<Service>({ entry: `${here}service.ts`, simulated }, [IMPATIENT, ...replacements]);
}
