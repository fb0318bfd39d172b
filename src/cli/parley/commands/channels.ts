import { wholeNumber } from "../arguments.ts";
import { command, option } from "../command.ts";
import { SHOWN_ONCE } from "../resource.ts";

/** The other actions on channels, besides those of every resource. */
export const channelCommands = [
  command({
    name: "channels webhook",
    about: "Register a channel's webhook at its network and show the answer",
    operands: ["channel"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperatorOrClient("POST", `/channels/${operands.channel}/webhook`);
      out.record(body, body.webhook);
      return (body.webhook as { ok?: unknown } | undefined)?.ok === true ? 0 : 1;
    },
  }),
  command({
    name: "channels rotate",
    about: "Create a new identity secret for a web channel; it is shown only once",
    operands: ["channel"],
    options: {
      overlap: option("seconds", "How long the old secret still works; 0 by default"),
    },
    async run({ operands, options: { overlap }, service, out }) {
      const { body } = await service.asOperatorOrClient("POST", `/channels/${operands.channel}/identity-secret`, {
        body: { overlapSeconds: overlap && wholeNumber(overlap, "overlap") },
        optionOf: { overlapSeconds: "--overlap" },
      });
      out.record(body, body);
      out.note(SHOWN_ONCE);
    },
  }),
  command({
    name: "channels reseal",
    about: "Encrypt the channels' secrets with the current CREDENTIALS_KEY",
    call: ({ service }) => service.asOperator("POST", "/reseal"),
  }),
];
