import { ADAPTERS } from "../../src/channels/registry.ts";
import { VARIABLES } from "../../src/platform/config.ts";

/** Everything that the environment can set: the service's own variables, and each network's address. */
export const ALL_VARIABLES = [...VARIABLES, ...Object.values(ADAPTERS).map(({ base }) => base.variable)];
