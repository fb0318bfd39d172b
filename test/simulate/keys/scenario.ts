import type { Scenario } from "../objects/scenario.ts";
import { loadService, type Service } from "./load-service.ts";
import { KEY_FAULTS, KEY_INVARIANTS } from "./rules.ts";
import { KEY_SABOTEURS } from "./saboteurs.ts";
import { simulateKeys } from "./simulate.ts";

export const KEYS: Scenario<Service> = {
  load: loadService,
  simulate: simulateKeys,
  faults: KEY_FAULTS,
  events: [
    "admitted",
    "admitted ahead",
    "units ahead",
    "rate_limited",
    "quota_exceeded",
    "invalid_api_key",
    "ip_not_allowed",
    "permission_denied",
    "unavailable",
    "change waits",
    "change does not wait",
    "counted in its month exactly",
    "counted in its window exactly",
    "reported exactly",
    "PATCH key: done",
    "rotate key: done",
    "DELETE key: done",
    "DELETE organization: done",
  ],
  invariants: KEY_INVARIANTS,
  saboteurs: KEY_SABOTEURS,
  saboteurSeeds: 5_000,
  minShare: 0,
};
