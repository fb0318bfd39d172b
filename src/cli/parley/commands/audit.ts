import { command, ORGANIZATION_OPTION, option } from "../command.ts";
import { collection } from "../resource.ts";

/** The audit log, for the operator or for a client with an API key that has `audit:read`. */
export const auditCommands = [
  command({
    name: "audit",
    about: "List who did what in an organization, newest first",
    details: "Uses the operator's token if it is known, else the API key, which needs audit:read.",
    options: {
      actor: option("id", "Only the acts of one key or member; operator for the operator's"),
      action: option("action", "Only one action, for example key.rotate"),
      target: option("id", "Only acts on one resource"),
      before: option("cursor", "Continue a list: the cursor of its last page"),
      limit: option("n", "Rows on a page, 1 to 100; 20 by default"),
      ...ORGANIZATION_OPTION,
    },
    async run({ options: { organization, ...query }, service, out }) {
      const [, call] = await collection({ name: "audit", scope: "either" }, service, { organization });
      const { body } = await call("GET", { query });
      out.list(body, "entries", {
        WHEN: "at",
        ACTOR: "actor.name",
        "ACTOR'S ID": "actor.id",
        ACTION: "action",
        TARGET: "target",
        STATUS: "status",
        CHANGED: "changed",
        COUNT: "count",
        "BY A LINK OF": "linkBy",
      });
      out.tellCursor(body, "--before");
    },
  }),
];
