import { testScenario } from "../objects/scenario-tests.ts";
import { ANSWER_SABOTEURS } from "./answer-saboteurs.ts";
import { PAGE_SABOTEURS } from "./page-saboteurs.ts";
import { PLAIN_SABOTEURS } from "./saboteurs.ts";
import { LIFE } from "./scenario.ts";

const saboteurs = { ...PLAIN_SABOTEURS, ...ANSWER_SABOTEURS, ...PAGE_SABOTEURS };
const checksAlone = { ...LIFE, faults: [], events: [] };
await testScenario("scheduled messages", checksAlone, { seeds: 150, saboteurs });
