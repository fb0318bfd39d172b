import { wholeNumber } from "../arguments.ts";
import { command, option } from "../command.ts";
import { SHOWN_ONCE } from "../resource.ts";

/** The other actions on API keys, besides those of every resource. */
export const keyCommands = [
  command({
    name: "keys rotate",
    about: "Create a new secret for an API key, shown only once; limits and usage stay",
    operands: ["key"],
    options: {
      overlap: option("seconds", "How long the old secret still works; 0 by default"),
    },
    async run({ operands, options: { overlap }, service, out }) {
      const { body } = await service.asOperatorOrClient("POST", `/keys/${operands.key}/rotate`, {
        body: { overlapSeconds: overlap && wholeNumber(overlap, "overlap") },
        optionOf: { overlapSeconds: "--overlap" },
      });
      out.record(body, { ...(body.key as object), secret: body.secret });
      out.note(SHOWN_ONCE);
    },
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
