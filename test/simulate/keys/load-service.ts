import { loaderOf, type Replacement } from "../objects/bundle.ts";

export type Service = typeof import("./service.ts");

/** Each admitted request says which decision of the key's object gave it its unit. */
const PROBES: readonly Replacement[] = [
  {
    file: "src/keys/object/key-object.ts",
    right: "      granted: decision.granted,\n      caller: {",
    wrong:
      "      granted: decision.granted,\n      decision: { ...decided, admitted: decision.granted },\n      caller: {",
  },
  {
    file: "src/keys/object/key-object.ts",
    right:
      "    this.#counters = decision.counters;\n    this.#reservation = decision.reservation;\n    const isFirstGrant",
    wrong: `    const decided = { id: crypto.randomUUID(), windowStart: decision.counters.windowStart, month: decision.counters.month };
    this.#counters = decision.counters;
    this.#reservation = decision.reservation;
    const isFirstGrant`,
  },
  {
    file: "src/keys/held-grants.ts",
    right: "return { caller: grant.caller, window:",
    wrong: "return { decision: grant.decision, isAhead: true, caller: grant.caller, window:",
  },
  {
    file: "src/keys/admit.ts",
    right: "    requester.keep(held, grant, caller);",
    wrong: "    requester.keep(Object.assign(held, { decision: admission.decision.id }), grant, caller);",
  },
  {
    file: "src/keys/admit.ts",
    right: `{ outcome: "admitted", caller, window: key.withUnits(`,
    wrong: `{ outcome: "admitted", decision: admission.decision.id, caller, window: key.withUnits(`,
  },
];

/** Loads the service's code as this simulation runs it. */
export const loadService = loaderOf<Service>(
  import.meta.url,
  { "/registry.ts": "../organization/registry.ts" },
  PROBES,
);
