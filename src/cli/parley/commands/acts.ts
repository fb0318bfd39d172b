import { CommandError } from "../../command-error.ts";
import { command, flag } from "../command.ts";

/** What a client does beside sending. Each calls the network once, while the command waits. */
export const actCommands = [
  command({
    name: "react",
    about: "React to a message with an emoji, or take the reaction back",
    operands: ["chat", "message", "[emoji]"],
    options: { remove: flag("Take your reaction back") },
    async run({ operands: { chat, message, emoji }, options, service, out }) {
      if ((emoji === undefined) !== (options.remove === true)) {
        throw new CommandError("Give an emoji, or --remove.", 2);
      }
      const path = `/chats/${chat}/messages/${message}/reaction`;
      const { body } =
        emoji === undefined
          ? await service.asClient("DELETE", path)
          : await service.asClient("PUT", path, { body: { emoji } });
      if (body.message === null && !out.json)
        out.note("Done. The message is not shown: the API key may not read messages.");
      else out.record(body, body.message);
    },
  }),
  command({
    name: "read",
    about: "Mark the contact's messages as read, up to this one",
    operands: ["chat", "message"],
    call: ({ operands: { chat, message }, service }) =>
      service.asClient("POST", `/chats/${chat}/read`, { body: { messageId: message } }),
  }),
  command({
    name: "typing",
    about: "Show the contact a typing indicator for a few seconds",
    operands: ["chat"],
    call: ({ operands: { chat }, service }) => service.asClient("POST", `/chats/${chat}/typing`, { body: {} }),
  }),
];
