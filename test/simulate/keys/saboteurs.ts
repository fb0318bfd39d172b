import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service, each with one wrong place, which the simulation finds within a few hundred seeds. */
export const PLAIN_SABOTEURS = wrongVersions({
  "src/keys/object/limits.ts": {
    "the window goes back with the clock": ["const newMonth = month > counters.month;", "const newMonth = month !== counters.month;"],
  },
});

/** These take up to 5,000 seeds, so the tests leave them out. */
const RARE_SABOTEURS = wrongVersions({});

export const KEY_SABOTEURS = { ...PLAIN_SABOTEURS, ...RARE_SABOTEURS };
