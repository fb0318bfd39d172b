import { command, ORGANIZATION_OPTION, option } from "../command.ts";
import { switchOf } from "../option-values.ts";
import type { JsonObject } from "../service.ts";

/** What an organization decides itself. */
export const settingsCommands = [
  command({
    name: "settings",
    about: "Show the settings of an organization, or change them",
    details: `Uses the operator's token if it is known, else the API key, which needs members:write for --assign-on-answer, and
channels:write and messages:read for --search.
--assign-on-answer on: an unassigned chat is assigned to the member who answers it in the console.
--search on: messages of all chats can be searched. What was said before is indexed, at most once in 24 hours.`,
    options: {
      "assign-on-answer": option("on|off", "Whether answering an unassigned chat assigns it to the member"),
      search: option("on|off", "Whether messages of all chats can be searched"),
      ...ORGANIZATION_OPTION,
    },
    async run({ options, service, out }) {
      const isClient = service.usesKey(options.organization);
      const path = isClient ? "/organization" : `/organizations/${await service.organization(options.organization)}`;
      const call = isClient ? service.asClient.bind(service) : service.asOperator.bind(service);
      const { "assign-on-answer": assign, search: given } = options;
      const patch = {
        ...(assign !== undefined && { assignOnAnswer: switchOf(assign, "assign-on-answer") }),
        ...(given !== undefined && { search: { on: switchOf(given, "search") } }),
      };
      const isRead = Object.keys(patch).length === 0;
      const { body } = isRead ? await call("GET", path) : await call("PATCH", path, { body: patch });
      const { assignOnAnswer, search } = body.organization as JsonObject;
      out.record(body, { assignOnAnswer, ...(search !== undefined && { search }) });
    },
  }),
];
