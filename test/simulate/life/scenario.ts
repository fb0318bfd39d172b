import type { Scenario } from "../objects/scenario.ts";
import { loadService, type Service } from "./load-service.ts";
import { LIFE_FAULTS, LIFE_INVARIANTS } from "./rules.ts";
import { LIFE_SABOTEURS } from "./saboteurs.ts";
import { simulateLife } from "./simulate.ts";

export const LIFE: Scenario<Service> = {
  load: loadService,
  simulate: simulateLife,
  faults: LIFE_FAULTS,
  events: [
    "scheduled",
    "promoted",
    "moved",
    "sent before its time by a client",
    "resent",
    "purged",
    "retention changed",
    "deleted by retention",
    "deleted itself",
    "canceled: SCHEDULED",
    "canceled: QUEUED",
    "failed: SCHEDULED, expired",
    "failed: SCHEDULED, chat_full",
    "failed: SCHEDULED, chat_backlog",
    "failed: QUEUED, expired",
    "move: not_scheduled",
    "move: refused",
    "cancel: not_cancelable",
    "resend: not_failed",
    "resend: redacted",
    "refused: chat_backlog",
    "refused: chat_full",
    "refused: chat_moved_on",
    "refused: schedule_full",
    "a repeated key: SCHEDULED",
    "a repeated key: QUEUED",
    "a repeated key: SENT",
    "a repeated key: FAILED",
    "a repeated key: CANCELED",
  ],
  invariants: LIFE_INVARIANTS,
  saboteurs: LIFE_SABOTEURS,
  saboteurSeeds: 1_000,
  minShare: 0,
};
