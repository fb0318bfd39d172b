import { excerptOf } from "../../../model/marked-text.ts";
import { CommandError } from "../../command-error.ts";
import { command, flag, ORGANIZATION_OPTION, option } from "../command.ts";
import { pastInstantOf } from "../instant.ts";
import { listMessages, messageText } from "../message-text.ts";
import type { Output } from "../output.ts";
import { collection } from "../resource.ts";
import { RESOURCES } from "../resources.ts";
import type { JsonObject } from "../service.ts";
import { MESSAGE_COLUMNS } from "./messages.ts";

/** How much of a message is shown, and how much of that before what was found, so that a narrow terminal shows it too. */
const SHOWN = 120;
const BEFORE = 20;

const FOUND_COLUMNS = { CHAT: "chat.id", WHEN: "message.createdAt", CONTACT: "contact", FROM: "from", TEXT: "text" };

/** What selects messages of all chats, beside their text. */
const FILTERS = ["channel", "assignee", "direction", "since", "until"] as const;

interface Found {
  message: { direction: string };
  chat: { contact: { name: string | null; address: string } };
}

/** Finds contacts, messages of a chat, or messages of all chats. */
export const searchCommands = [
  command({
    name: "search",
    about: "Find chats by their contact, or messages that contain a text",
    details: `Finds the beginning of a contact's address, or of words of a name. Uses the API key, and with --organization the
operator's token.
With a chat, and with --messages: finds a text of 2 to 100 characters, newest messages first, and needs an API key.
  parley search Ana
  parley search invoice cht_…
  parley search --messages invoice --since "2 weeks ago" --direction INBOUND`,
    operands: ["text", "[chat]"],
    options: {
      messages: flag("Find messages of all chats"),
      channel: option("id|kind", "With --messages: only of one channel, or of one kind of channel"),
      assignee: option("mbr_…|none", "With --messages: only of the chats of one member, or of nobody"),
      direction: option("direction", "With --messages: only OUTBOUND or only INBOUND messages"),
      since: option("time", 'With --messages: only from this time on: "yesterday at 9:00", "2 weeks ago" or RFC 3339'),
      until: option("time", "With --messages: only up to this time"),
      limit: option("n", "Rows to show, 1 to 100; 20 by default"),
      before: option("cursor", "Continue a search of messages"),
      after: option("cursor", "Continue a search of chats"),
      ...ORGANIZATION_OPTION,
    },
    async run({ operands, options, service, out }) {
      const { limit, before, after, organization, messages, ...filters } = options;
      const search = operands.text;
      const filter = FILTERS.find((name) => filters[name] !== undefined);
      if (filter && !messages) throw new CommandError(`--${filter} needs --messages.`, 2);
      if (messages) {
        if (operands.chat !== undefined) throw new CommandError("Give a chat or --messages, not both.", 2);
        const { since, until } = filters;
        const times = { since: since && pastInstantOf(since, "since"), until: until && pastInstantOf(until, "until") };
        const query = { search, limit, before, ...filters, ...times };
        const { body } = await service.asClient("GET", "/messages", { query });
        listFound(out, body, search);
        out.tellCursor(body, "--before");
        return;
      }
      if (operands.chat !== undefined) {
        const query = { search, limit, before };
        const { body } = await service.asClient("GET", `/chats/${operands.chat}/messages`, { query });
        listMessages(out, body, MESSAGE_COLUMNS);
        out.tellCursor(body, "--before");
        return;
      }
      const query = { search, limit, after };
      const [, call] = await collection(RESOURCES.chats, service, { organization });
      const { body } = await call("GET", { query });
      out.list(body, "chats", RESOURCES.chats.columns);
      out.tellCursor(body, "--after");
    },
  }),
];

/** Messages as a table, each with the part of its text that was searched for. */
function listFound(out: Output, answer: JsonObject, search: string): void {
  const found = (Array.isArray(answer.messages) ? answer.messages : []) as Found[];
  const rows = found.map(({ message, chat }) => ({
    ...{ message, chat, from: message.direction, contact: chat.contact.name ?? chat.contact.address },
    text: excerptOf(messageText(message), search, BEFORE, SHOWN)
      .map((part) => part.text)
      .join(""),
  }));
  out.list(out.json ? answer : { ...answer, messages: rows }, "messages", FOUND_COLUMNS);
}
