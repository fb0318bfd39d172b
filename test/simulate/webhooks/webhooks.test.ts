import { testScenario } from "../objects/scenario-tests.ts";
import { PLAIN_SABOTEURS } from "./saboteurs.ts";
import { WEBHOOKS } from "./scenario.ts";

const checksAlone = { ...WEBHOOKS, faults: [], events: [] };
await testScenario("subscriptions and webhooks", checksAlone, { seeds: 120, saboteurs: PLAIN_SABOTEURS });
