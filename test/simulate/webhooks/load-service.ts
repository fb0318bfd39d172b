import { loadBundle, type Replacement } from "../objects/bundle.ts";

const here = new URL(".", import.meta.url).pathname;

export type Service = typeof import("./service.ts");

/** Loads the service's code as this simulation runs it. */
export function loadService(replacements: readonly Replacement[] = []): Promise<Service> {
  const plan = { entry: `${here}service.ts`, simulated: { "/sealing.ts": `${here}sealing.ts` } };
  return loadBundle<Service>(plan, replacements);
}
