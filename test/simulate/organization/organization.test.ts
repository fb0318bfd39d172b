import { testScenario } from "../objects/scenario-tests.ts";
import { PLAIN_SABOTEURS } from "./saboteurs.ts";
import { ORGANIZATION } from "./scenario.ts";

await testScenario("an organization and its chats", ORGANIZATION, { seeds: 200, saboteurs: PLAIN_SABOTEURS });
