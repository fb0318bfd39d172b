import { command } from "../command.ts";
import { rotation } from "../resource.ts";

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
  rotation("channel", {
    about: "Create a new identity secret for a web channel; it is shown only once",
    overlap: "How long the old secret still works; 0 by default",
    path: "identity-secret",
    shown: (body) => body,
  }),
  command({
    name: "channels reseal",
    about: "Encrypt the channels' secrets with the current CREDENTIALS_KEY",
    call: ({ service }) => service.asOperator("POST", "/reseal"),
  }),
];
