import type { Scenario } from "../objects/scenario.ts";
import { loadService, type Service } from "./load-service.ts";
import { WEBHOOK_FAULTS, WEBHOOK_INVARIANTS } from "./rules.ts";
import { WEBHOOK_SABOTEURS } from "./saboteurs.ts";
import { simulateWebhooks } from "./simulate.ts";

export const WEBHOOKS: Scenario<Service> = {
  load: loadService,
  simulate: simulateWebhooks,
  faults: WEBHOOK_FAULTS,
  events: [
    "webhook created",
    "webhook deleted",
    "filter changed",
    "enabled: now",
    "enabled: pending",
    "replay",
    "retry",
    "retried: ok",
    "retried: failing",
    "a pause is ended",
    "a replay's call",
    "an event is sent again",
    "given up: its tries",
    "given up: expired",
    "given up: skipped",
    "permit: granted",
    "permit: later",
    "permit: later, waiting",
    "permit: changed",
    "permit: gone",
    "state: ok",
    "state: failing",
    "state: disabled",
    "a probe",
    "a pause",
    "a webhook stays dead",
    "a replay past a silent chat",
    "a table of attempts is replaced",
    "an instance logs many attempts",
  ],
  invariants: WEBHOOK_INVARIANTS,
  saboteurs: WEBHOOK_SABOTEURS,
  saboteurSeeds: 1_000,
  minShare: 0.01,
};
