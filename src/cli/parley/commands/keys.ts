import { command } from "../command.ts";
import { rotation } from "../resource.ts";

/** The other actions on API keys, besides those of every resource. */
export const keyCommands = [
  rotation("key", {
    about: "Create a new secret for an API key, shown only once; limits and usage stay",
    overlap: "How long the old secret still works; 0 by default",
  }),
  command({
    name: "usage",
    about: "Show an API key's usage this month and in its window; your own key by default",
    operands: ["[key]"],
    async run({ operands, service, out }) {
      const { body } = operands.key
        ? await service.asOperatorOrClient("GET", `/keys/${operands.key}/usage`)
        : await service.asClient("GET", "/key");
      const { id, name } = (body.key ?? {}) as Record<string, unknown>;
      out.record(body, { ...(id !== undefined && { id, name }), ...(body.usage as object) });
    },
  }),
];
