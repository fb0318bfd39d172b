import { pairs } from "../arguments.ts";
import { command, flag, listOption, option } from "../command.ts";
import { switchOf } from "../option-values.ts";

/** The other actions on chats, besides those of every resource, for clients with an API key. */
export const chatCommands = [
  command({
    name: "chats change",
    about: "Change a chat's contact name, metadata or assignee, or whether the contact takes marketing",
    operands: ["chat"],
    options: {
      name: option("name", "The contact's name"),
      "remove-name": flag("Remove the contact's name"),
      metadata: listOption("name=value", "A pair of metadata to add or replace"),
      "remove-metadata": listOption("name", "A pair of metadata to remove"),
      assignee: option("mbr_…|none", "The member to assign the chat to; none unassigns it"),
      marketing: option("on|off", "off: the contact has opted out of marketing templates"),
      "if-assignee": option("mbr_…|none", "Assign it only if this member has it now; none: only if nobody has it"),
    },
    async run({ operands, options, service, out }) {
      const removed = options["remove-metadata"]?.map((name) => [name, null]) ?? [];
      const metadata = { ...pairs("metadata", options.metadata), ...Object.fromEntries(removed) };
      const name = options["remove-name"] ? null : options.name;
      const { body } = await service.asClient("PATCH", `/chats/${operands.chat}`, {
        body: {
          ...(name !== undefined && { contact: { name } }),
          metadata,
          assigneeId: memberOrNobody(options.assignee),
          ifAssigneeId: memberOrNobody(options["if-assignee"]),
          ...(options.marketing !== undefined && {
            marketing: { optedOut: !switchOf(options.marketing, "marketing") },
          }),
        },
        optionOf: {
          "contact.name": "--name",
          metadata: "--metadata",
          assigneeId: "--assignee",
          ifAssigneeId: "--if-assignee",
        },
      });
      out.record(body, body.chat);
    },
  }),
  command({
    name: "chats answered",
    about: "Mark a chat as answered, until the contact writes again",
    operands: ["chat"],
    call: ({ operands, service }) => service.asClient("POST", `/chats/${operands.chat}/answered`),
    shows: "chat",
  }),
  command({
    name: "chats unanswered",
    about: "Mark a chat as unanswered again, if nobody has written to the contact since",
    operands: ["chat"],
    call: ({ operands, service }) => service.asClient("DELETE", `/chats/${operands.chat}/answered`),
    shows: "chat",
  }),
];

function memberOrNobody(given: string | undefined): string | null | undefined {
  return given === "none" ? null : given;
}
