import { HANDLERS } from "../../../model/handover.ts";
import { WORK_STATES } from "../../../model/work-state.ts";
import { pairs, wholeNumber } from "../arguments.ts";
import { command, flag, listOption, option } from "../command.ts";
import { withKey } from "../idempotency.ts";
import { instantOf } from "../instant.ts";
import { switchOf, textOf } from "../option-values.ts";

/** The other actions on chats, besides those of every resource, for clients with an API key. */
export const chatCommands = [
  command({
    name: "chats change",
    about: "Change a chat's contact name, person, metadata, assignee or state, or whether the contact takes marketing",
    operands: ["chat"],
    options: {
      name: option("name", "The contact's name"),
      "remove-name": flag("Remove the contact's name"),
      person: option("key", "Your own key of the person, which the person's other chats have too"),
      "remove-person": flag("Remove the person's key"),
      metadata: listOption("name=value", "A pair of metadata to add or replace"),
      "remove-metadata": listOption("name", "A pair of metadata to remove"),
      assignee: option("mbr_…|none", "The member to assign the chat to; none unassigns it"),
      marketing: option("on|off", "off: the contact has opted out of marketing templates"),
      state: option("state", `The state: ${WORK_STATES.join(", ")}; snoozed needs --until`),
      until: option("time", 'When the snooze ends: "in 2 hours", "tomorrow at 9:00" or RFC 3339'),
      "if-seq": option("n", "Change the state only if the chat's newest message has this seq"),
      "if-assignee": option("mbr_…|none", "Assign it only if this member has it now; none: only if nobody has it"),
    },
    async run({ operands, options, service, out }) {
      const removed = options["remove-metadata"]?.map((name) => [name, null]) ?? [];
      const metadata = { ...pairs("metadata", options.metadata), ...Object.fromEntries(removed) };
      const name = options["remove-name"] ? null : options.name;
      const personId = options["remove-person"] ? null : options.person;
      const { body } = await service.asClient("PATCH", `/chats/${operands.chat}`, {
        body: {
          ...((name !== undefined || personId !== undefined) && { contact: { name, personId } }),
          metadata,
          assigneeId: memberOrNobody(options.assignee),
          ifAssigneeId: memberOrNobody(options["if-assignee"]),
          ...(options.marketing !== undefined && {
            marketing: { optedOut: !switchOf(options.marketing, "marketing") },
          }),
          state: options.state,
          snoozedUntil: options.until && instantOf(options.until, "until"),
          ifSeq: options["if-seq"] && wholeNumber(options["if-seq"], "if-seq"),
        },
        optionOf: {
          "contact.name": "--name",
          "contact.personId": "--person",
          metadata: "--metadata",
          assigneeId: "--assignee",
          ifAssigneeId: "--if-assignee",
          state: "--state",
          snoozedUntil: "--until",
          ifSeq: "--if-seq",
        },
      });
      out.record(body, body.chat);
    },
  }),
  command({
    name: "chats label",
    about: "Give a chat a label, or take it off",
    operands: ["chat", "label"],
    options: { remove: flag("Take the label off") },
    call: ({ operands, options, service }) =>
      service.asClient(options.remove ? "DELETE" : "PUT", `/chats/${operands.chat}/labels/${operands.label}`),
    shows: "chat",
  }),
  command({
    name: "chats handover",
    about: `Hand a chat to its channel's bot or to people: ${HANDLERS.join(", ")}`,
    details: "The message, the note and the assignee are stored with it, or nothing is.",
    operands: ["chat", "to"],
    options: {
      message: option("text", "Last words to the contact, which leave it waiting; - reads standard input"),
      note: option("text", "A note for your team"),
      assignee: option("mbr_…|none", "The member to assign the chat to; none unassigns it"),
      "idempotency-key": option("text", "Commands with the same key act once"),
    },
    async run({ operands, options, service, out }) {
      const body = {
        to: operands.to,
        message: options.message === undefined ? undefined : { content: await textOf(options.message) },
        note: options.note,
        assigneeId: memberOrNobody(options.assignee),
      };
      const done = await withKey(options["idempotency-key"], out, (key) =>
        service.asClient("POST", `/chats/${operands.chat}/handover`, {
          headers: { "Idempotency-Key": key },
          body,
          optionOf: { to: "to", "message.content": "--message", note: "--note", assigneeId: "--assignee" },
        }),
      );
      out.record(done.body, done.body.chat);
    },
  }),
  command({
    name: "chats answered",
    about: "Mark a chat as answered, until the contact writes again",
    operands: ["chat"],
    options: { "if-seq": option("n", "Only if the chat's newest message has this seq") },
    call: ({ operands, options, service }) =>
      service.asClient("POST", `/chats/${operands.chat}/answered`, {
        body: { ifSeq: options["if-seq"] && wholeNumber(options["if-seq"], "if-seq") },
        optionOf: { ifSeq: "--if-seq" },
      }),
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
