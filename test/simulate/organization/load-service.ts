import { loaderOf } from "../objects/bundle.ts";

export type Service = typeof import("./service.ts");

/** Loads the service's code as this simulation runs it. */
export const loadService = loaderOf<Service>(import.meta.url, { "/registry.ts": "registry.ts" });
