import { testScenario } from "../objects/scenario-tests.ts";
import { PLAIN_SABOTEURS } from "./saboteurs.ts";
import { LIFE } from "./scenario.ts";

const checksAlone = { ...LIFE, faults: [], events: [] };
await testScenario("scheduled messages", checksAlone, { seeds: 150, saboteurs: PLAIN_SABOTEURS });
