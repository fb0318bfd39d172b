import { randomUUID } from "node:crypto";
import { CommandError } from "../../command-error.ts";
import { pairs, wholeNumber } from "../arguments.ts";
import { command, flag, listOption, option, YES_OPTION } from "../command.ts";
import { confirm } from "../deletion.ts";
import { headerText } from "../idempotency.ts";
import { listMessages } from "../message-text.ts";
import { textOf } from "../option-values.ts";
import { Unreachable } from "../service.ts";
import { readUpload, upload } from "../upload.ts";
import { CONTENT_FIELDS, CONTENT_OPTIONS, givenContent } from "./content-options.ts";
import { TIME_FIELDS, TIME_OPTIONS, timesOf } from "./scheduled.ts";
import { givenParts, TEMPLATE_FIELDS, TEMPLATE_OPTIONS } from "./template-options.ts";

export const MESSAGE_COLUMNS = {
  SEQ: "seq",
  ID: "id",
  WHEN: "createdAt",
  FROM: "direction",
  STATUS: "status",
  ERROR: "error.code",
  TEXT: "text",
};

/** The messages of a chat, for clients with an API key. */
export const messageCommands = [
  command({
    name: "list",
    about: "List a chat's messages, newest first",
    operands: ["chat"],
    options: {
      page: option("n", "The page; 1 by default"),
      before: option("msg_…", "Instead of a page: the messages before this one"),
      after: option("msg_…", "Instead of a page: the next messages after this one"),
      status: option("status", "Only messages with this status, for example FAILED"),
      direction: option("direction", "Only OUTBOUND or only INBOUND messages"),
      type: option("type", "Only messages of this type, for example IMAGE"),
      search: option("text", "Only messages whose text contains this"),
      limit: option("n", "Rows on a page, 1 to 100; 20 by default"),
    },
    async run({ operands, options, service, out }) {
      const { body } = await service.asClient("GET", `/chats/${operands.chat}/messages`, { query: options });
      listMessages(out, body, MESSAGE_COLUMNS);
      out.tellCursor(body, "--before");
    },
  }),
  command({
    name: "send",
    about: "Send a message in a chat; the text - reads standard input",
    details: `The idempotency key makes a send safe to repeat. Without one, the command creates a key and prints it if the service
doesn't answer.
Choices are of one kind: replies, links, or the question for the location. A reply's own id comes back with the tap:
  parley send cht_… "When may we come?" --choice "1=Today" --choice "2=Tomorrow|after 9 o'clock"
  parley send cht_… "Your order has shipped." --link "Track it=https://shop.example/orders/4711"
A negative number needs an equals sign: --location=-33.86,151.2,Sydney
With --file the text is the caption, and can be left out:
  parley send cht_… "Your invoice" --file invoice.pdf
With --template the file stands in the template's header:
  parley send cht_… "Shipped" --template tpl_… --variable name=Maya --file shoe.jpg --button 0=url:4711`,
    operands: ["chat", "[text]"],
    options: {
      type: option(
        "type",
        "TEXT, IMAGE, DOCUMENT, AUDIO, VIDEO or TEMPLATE; by default TEXT, or the type that fits the file",
      ),
      media: option("url", "The https address of the media; the text is its caption"),
      file: option("path", "A file to upload and send, of at most 16 MiB"),
      sender: option("mbr_…", "The member who sends the message"),
      template: option("tpl_…", "The template to fill"),
      variable: listOption("name=value", "The value of a placeholder"),
      metadata: listOption("name=value", "A pair of metadata"),
      ...TEMPLATE_OPTIONS,
      ...CONTENT_OPTIONS,
      ...TIME_OPTIONS,
      "if-seq": option("n", "Send only if the newest message of the chat has this number"),
      "if-open": flag("Send only while the network takes free text"),
      draft: option("note_…", "The draft that the message sends; the draft is deleted"),
      "idempotency-key": option("text", "Sends with the same key create one message"),
    },
    async run({ operands, options, service, out }) {
      const idempotencyKey = options["idempotency-key"] ?? randomUUID();
      const times = await timesOf(options);
      const said = givenContent(options);
      const isTemplate = options.template !== undefined;
      // A mistake in them ends the command before a file is uploaded.
      givenParts(options);
      const file = options.file === undefined ? null : await readUpload(options.file);
      if (operands.text === undefined && !file) throw new CommandError("parley send needs text or --file.", 2);
      const caption = operands.text === undefined ? undefined : await textOf(operands.text);
      const key = headerText(idempotencyKey);
      let mediaId: string | undefined;
      try {
        mediaId = file ? await upload(service, operands.chat, file, key) : undefined;
        const { body } = await service.asClient("POST", `/chats/${operands.chat}/messages`, {
          headers: { "Idempotency-Key": key },
          body: {
            content: caption ?? mediaId,
            mediaId: isTemplate ? undefined : mediaId,
            template: givenParts(options, isTemplate ? mediaId : undefined),
            type: options.type,
            mediaUrl: options.media,
            senderId: options.sender,
            templateId: options.template,
            variables: pairs("variable", options.variable),
            metadata: pairs("metadata", options.metadata),
            ...said,
            ...times,
            ifSeq: options["if-seq"] && wholeNumber(options["if-seq"], "if-seq"),
            ifOpen: options["if-open"],
            draftId: options.draft,
          },
          optionOf: {
            ...TIME_FIELDS,
            ...CONTENT_FIELDS,
            ...TEMPLATE_FIELDS,
            ifSeq: "--if-seq",
            draftId: "--draft",
            mediaUrl: "--media",
            mediaId: "--file",
            senderId: "--sender",
            templateId: "--template",
            content: "text",
            type: "--type",
          },
        });
        out.record(body, body.message);
      } catch (error) {
        if (error instanceof Unreachable)
          out.note(`To repeat the send safely, add --idempotency-key ${idempotencyKey}`);
        else if (mediaId)
          out.note(`The file is uploaded. To repeat the send with it, add --idempotency-key ${idempotencyKey}`);
        throw error;
      }
    },
  }),
  command({
    name: "redact",
    about: "Redact a message permanently",
    operands: ["chat", "message"],
    options: YES_OPTION,
    async run({ operands, options, service, out }) {
      await confirm(`redact message ${operands.message}`, options.yes);
      const { body } = await service.asOperatorOrClient(
        "POST",
        `/chats/${operands.chat}/messages/${operands.message}/redact`,
      );
      out.record(body, body.message);
    },
  }),
];
