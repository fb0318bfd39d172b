import { testScenario } from "../objects/scenario-tests.ts";
import { PLAIN_SABOTEURS } from "./saboteurs.ts";
import { KEYS } from "./scenario.ts";

await testScenario("keys and the isolates that ask them", KEYS, { seeds: 200, saboteurs: PLAIN_SABOTEURS });
