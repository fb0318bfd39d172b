import { command, flag, listOption, option, YES_OPTION } from "../command.ts";
import { confirm } from "../deletion.ts";
import { withKey } from "../idempotency.ts";
import { textOf } from "../option-values.ts";

/** The notes of a chat, which only the organization sees. */
export const noteCommands = [
  command({
    name: "notes list",
    about: "List a chat's notes, newest first",
    operands: ["chat"],
    options: {
      before: option("note_…", "The notes before this one"),
      limit: option("n", "Rows on a page, 1 to 100; 20 by default"),
    },
    async run({ operands, options, service, out }) {
      const { body } = await service.asClient("GET", `/chats/${operands.chat}/notes`, { query: options });
      const columns = { ID: "id", WHEN: "createdAt", BY: "author.name", AFTER: "afterSeq", NOTE: "content" };
      out.list(body, "notes", columns);
      out.tellCursor(body, "--before");
    },
  }),
  command({
    name: "notes add",
    about: "Add a note to a chat; the text - reads standard input",
    details: "Nobody but the organization sees a note. It is never sent to the contact.",
    operands: ["chat", "text"],
    options: {
      mention: listOption("mbr_…", "A member whom the note is for"),
      draft: flag("It is a draft of a message, which a person sends; it replaces your draft in the chat"),
      "idempotency-key": option("text", "Commands with the same key add one note"),
    },
    async run({ operands, options, service, out }) {
      const body = { content: await textOf(operands.text), mentions: options.mention, draft: options.draft };
      const added = await withKey(options["idempotency-key"], out, (key) =>
        service.asClient("POST", `/chats/${operands.chat}/notes`, {
          headers: { "Idempotency-Key": key },
          body,
          optionOf: { content: "text", mentions: "--mention" },
        }),
      );
      out.record(added.body, added.body.note);
    },
  }),
  command({
    name: "notes delete",
    about: "Delete a note and its text permanently",
    operands: ["chat", "note"],
    options: YES_OPTION,
    async run({ operands, options, service, out }) {
      await confirm(`delete note ${operands.note}`, options.yes);
      const { body } = await service.asClient("DELETE", `/chats/${operands.chat}/notes/${operands.note}`);
      out.record(body, body.note);
    },
  }),
];
