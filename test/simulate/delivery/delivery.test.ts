import { testScenario } from "../objects/scenario-tests.ts";
import { DELIVERY_SABOTEURS } from "./saboteurs.ts";
import { DELIVERY } from "./scenario.ts";

await testScenario("messages on their way to a network", DELIVERY, { seeds: 300, saboteurs: DELIVERY_SABOTEURS });
