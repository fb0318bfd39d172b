import type { Scenario } from "../objects/scenario.ts";
import { loadService, type Service } from "./load-service.ts";
import { ORGANIZATION_FAULTS, ORGANIZATION_INVARIANTS } from "./rules.ts";
import { ORGANIZATION_SABOTEURS } from "./saboteurs.ts";
import { simulateOrganization } from "./simulate.ts";

export const ORGANIZATION: Scenario<Service> = {
  load: loadService,
  simulate: simulateOrganization,
  faults: ORGANIZATION_FAULTS,
  events: [
    "chat created",
    "chat created again",
    "chat deleted",
    "channel deleted",
    "redaction answered",
    "redaction: not_reported",
    "open: deleting",
    "open: no_channel",
    "open: opened",
    "webhook: repeated",
    "webhook: stored",
    "DELETE organization: done",
  ],
  invariants: ORGANIZATION_INVARIANTS,
  saboteurs: ORGANIZATION_SABOTEURS,
  saboteurSeeds: 5_000,
  minShare: 0,
};
