import { command, ORGANIZATION_OPTION, option } from "../command.ts";
import { listMessages } from "../message-text.ts";
import { collection } from "../resource.ts";
import { RESOURCES } from "../resources.ts";
import { MESSAGE_COLUMNS } from "./messages.ts";

/** Finds contacts, or messages of a chat. */
export const searchCommands = [
  command({
    name: "search",
    about: "Find chats by their contact, or the messages of a chat that contain a text",
    details: `Without a chat: finds the beginning of an address, or of words of a name. Uses the API key, and with --organization
the operator's token. With a chat: finds a text of 2 to 100 characters, newest messages first, and needs an API key.`,
    operands: ["text", "[chat]"],
    options: {
      limit: option("n", "Rows to show, 1 to 100; 20 by default"),
      before: option("cursor", "Continue a search of messages"),
      after: option("cursor", "Continue a search of chats"),
      ...ORGANIZATION_OPTION,
    },
    async run({ operands, options, service, out }) {
      const { limit, before, after, organization } = options;
      const search = operands.text;
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
