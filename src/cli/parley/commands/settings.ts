import { command, ORGANIZATION_OPTION, option } from "../command.ts";
import { switchOf } from "../option-values.ts";
import type { JsonObject } from "../service.ts";

/** What an organization decides itself. */
export const settingsCommands = [
  command({
    name: "settings",
    about: "Show the settings of an organization, or change them",
    details: `Uses the operator's token if it is known, else the API key, which needs members:write for a change.
--assign-on-answer on: an unassigned chat is assigned to the member who answers it in the console.`,
    options: {
      "assign-on-answer": option("on|off", "Whether answering an unassigned chat assigns it to the member"),
      ...ORGANIZATION_OPTION,
    },
    async run({ options, service, out }) {
      const isClient = service.usesKey(options.organization);
      const path = isClient ? "/organization" : `/organizations/${await service.organization(options.organization)}`;
      const call = isClient ? service.asClient.bind(service) : service.asOperator.bind(service);
      const given = options["assign-on-answer"];
      const { body } =
        given === undefined
          ? await call("GET", path)
          : await call("PATCH", path, { body: { assignOnAnswer: switchOf(given, "assign-on-answer") } });
      const { assignOnAnswer } = body.organization as JsonObject;
      out.record(body, { assignOnAnswer });
    },
  }),
];
