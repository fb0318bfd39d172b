import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { CommandError } from "../../command-error.ts";
import { pairs } from "../arguments.ts";
import { command, YES_OPTION } from "../command.ts";
import { Unreachable } from "../service.ts";

/** The messages of a chat, for whoever has an API key. */
export const messageCommands = [
  command({
    name: "list",
    about: "A chat's messages, most recent first",
    operands: ["chat"],
    options: {
      page: { type: "string", value: "n", about: "which page (1)" },
      before: { type: "string", value: "msg_…", about: "instead of a page: those that are older than this one" },
      after: { type: "string", value: "msg_…", about: "instead of a page: the oldest that are newer than this one" },
      limit: { type: "string", value: "n", about: "rows on a page, 1 to 100 (20)" },
    },
    async run({ operands, options, service, out }) {
      const { page, before, after, limit } = options;
      const { body } = await service.asClient("GET", `/chats/${operands.chat}/messages`, {
        query: { page, before, after, limit },
      });
      out.list(body, "messages", [
        ["SEQ", "seq"],
        ["ID", "id"],
        ["WHEN", "createdAt", "time"],
        ["FROM", "direction"],
        ["STATUS", "status"],
        ["ERROR", "error.code"],
        ["TEXT", "text"],
      ]);
    },
  }),
  command({
    name: "send",
    about: "Sends a message in a chat; - reads the text from standard input",
    details: `With an idempotency key a send is safe to repeat. Where none is given one is made, and told if no answer comes.`,
    operands: ["chat", "text"],
    options: {
      type: { type: "string", value: "type", about: "TEXT, IMAGE, DOCUMENT, AUDIO, VIDEO or TEMPLATE (TEXT)" },
      media: { type: "string", value: "url", about: "https address of the media; the text is its caption" },
      sender: { type: "string", value: "mbr_…", about: "the member who sends" },
      template: { type: "string", value: "tpl_…", about: "the template to fill" },
      variable: { type: "string", multiple: true, value: "name=value", about: "what fills a placeholder" },
      metadata: { type: "string", multiple: true, value: "name=value", about: "a pair of your own" },
      "idempotency-key": { type: "string", value: "text", about: "the same one sends once" },
    },
    async run({ operands, options, service, out }) {
      const idempotencyKey = options["idempotency-key"] ?? randomUUID();
      const content = operands.text === "-" ? (await text(process.stdin)).replace(/\r?\n$/, "") : operands.text;
      try {
        const { body } = await service.asClient("POST", `/chats/${operands.chat}/messages`, {
          headers: { "Idempotency-Key": headerText(idempotencyKey) },
          body: {
            content,
            type: options.type,
            mediaUrl: options.media,
            senderId: options.sender,
            templateId: options.template,
            variables: pairs("variable", options.variable),
            metadata: pairs("metadata", options.metadata),
          },
        });
        out.record(body, body.message);
      } catch (error) {
        if (error instanceof Unreachable) out.note(`To repeat it safely: --idempotency-key ${idempotencyKey}`);
        throw error;
      }
    },
  }),
  command({
    name: "redact",
    about: "Blanks what a message said, for the operator",
    operands: ["chat", "message"],
    options: YES_OPTION,
    async run({ operands, options, service, out }) {
      if (!options.yes) throw new CommandError("That blanks the message for good: say --yes if that is meant.", 2);
      const { body } = await service.asOperator("POST", `/chats/${operands.chat}/messages/${operands.message}/redact`);
      out.record(body, body.message);
    },
  }),
];

function headerText(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text;
  throw new CommandError("--idempotency-key must be 1 to 255 ASCII letters, digits and signs without spaces.", 2);
}
