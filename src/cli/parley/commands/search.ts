import { command, ORGANIZATION_OPTION } from "../command.ts";
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
      limit: { type: "string", value: "n", about: "Rows to show, 1 to 100; 20 by default" },
      before: { type: "string", value: "cursor", about: "Continue a search of messages" },
      after: { type: "string", value: "cursor", about: "Continue a search of chats" },
      ...ORGANIZATION_OPTION,
    },
    async run({ operands, options, service, out }) {
      const { limit, before, after, organization } = options;
      const search = operands.text;
      if (operands.chat !== undefined) {
        const query = { search, limit, before };
        const { body } = await service.asClient("GET", `/chats/${operands.chat}/messages`, { query });
        out.list(body, "messages", MESSAGE_COLUMNS);
        out.tellCursor(body, "--before");
        return;
      }
      const query = { search, limit, after };
      const isClient = organization === undefined && service.connection.apiKey !== null;
      const { body } = await (isClient
        ? service.asClient("GET", "/chats", { query })
        : service.asOperator("GET", `/organizations/${await service.organization(organization)}/chats`, { query }));
      out.list(body, "chats", RESOURCES.chats.columns);
      out.tellCursor(body, "--after");
    },
  }),
];
