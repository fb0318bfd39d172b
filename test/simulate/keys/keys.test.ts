import { pick } from "../../../src/model/pick.ts";
import { testScenario } from "../objects/scenario-tests.ts";
import { KEY_SABOTEURS } from "./saboteurs.ts";
import { KEYS } from "./scenario.ts";

/** One of each kind, found within a few seeds. */
const QUICK_SABOTEURS = pick(
  KEY_SABOTEURS,
  "a grant is used for another permission",
  "a grant lasts until its timer",
  "a grant outlives its window",
  "each isolate gets a block",
  "granted units are not counted",
  "a grant is taken back twice",
  "an object grants as soon as it wakes",
  "a change does not wait",
);

await testScenario("keys and the isolates that ask them", KEYS, { seeds: 200, saboteurs: QUICK_SABOTEURS });
