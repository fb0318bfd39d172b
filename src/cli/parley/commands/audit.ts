import { command, ORGANIZATION_OPTION } from "../command.ts";

/** The audit log, for the operator or for a client with an API key that has `audit:read`. */
export const auditCommands = [
  command({
    name: "audit",
    about: "List who did what in an organization, newest first",
    details: "Uses the operator's token if it is known, else the API key, which needs audit:read.",
    options: {
      actor: { type: "string", value: "id", about: "Only what one key or member did, or operator" },
      action: { type: "string", value: "action", about: "Only one action, for example key.rotate" },
      target: { type: "string", value: "id", about: "Only what was done to one resource" },
      before: { type: "string", value: "cursor", about: "Continue a list: the cursor of its last page" },
      limit: { type: "string", value: "n", about: "Rows on a page, 1 to 100; 20 by default" },
      ...ORGANIZATION_OPTION,
    },
    async run({ options: { organization, ...query }, service, out }) {
      const { adminToken, apiKey } = service.connection;
      const usesKey = adminToken === null && apiKey !== null && organization === undefined;
      const { body } = usesKey
        ? await service.asClient("GET", "/audit", { query })
        : await service.asOperator("GET", `/organizations/${await service.organization(organization)}/audit`, {
            query,
          });
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
