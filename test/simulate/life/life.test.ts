import { testScenario } from "../objects/scenario-tests.ts";
import { COMMON_SABOTEURS } from "./saboteurs.ts";
import { LIFE } from "./scenario.ts";

const checksAlone = { ...LIFE, faults: [], events: [] };
await testScenario("messages and what they say", checksAlone, { seeds: 150, saboteurs: COMMON_SABOTEURS });
