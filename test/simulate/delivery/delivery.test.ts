import { testScenario } from "../objects/scenario-tests.ts";
import { COMMON_DELIVERY_SABOTEURS } from "./saboteurs.ts";
import { DELIVERY } from "./scenario.ts";

await testScenario("messages on their way to a network", DELIVERY, {
  seeds: 300,
  saboteurs: COMMON_DELIVERY_SABOTEURS,
});
