import { exportQuery } from "../export/routes.ts";
import { exportLine } from "./export-lines.ts";
import { tagged } from "./operation.ts";

const LINES =
  "Each line is a JSON object with a `type`. `chat`: a `chat`. `scheduled`: a `message` without a place in the chat, which waits for its time or ended before it. `note`: a `note`, oldest first. `message`: a `message`, oldest first. `chat_deleted`: the chat `chatId` was deleted during its export, and nothing more of it follows. `chat_unreadable`: the chat `chatId` could not be read for two minutes, and the export goes on without the rest of it; export this chat later with `GET /chats/{id}/export?after=<next>`. `checkpoint`: `next` continues after the lines so far. The last line is `end`: `lastSeq` is the `seq` of the last message, and `next` continues the export; null if it is complete. `unreadable` in it is the number of chats that could not be read. If the last line is missing, the connection was cut: drop what follows the last `checkpoint`, and continue with its `next`.";

const query = {
  schema: exportQuery,
  descriptions: { after: "The `next` of an earlier response. Default: the beginning." },
};

const responses = [
  {
    status: 200,
    description: "The lines, as a stream. Each is an ExportLine as JSON.",
    contentType: "application/x-ndjson",
    part: exportLine,
  },
] as const;

const ofOrganization = {
  id: "exportOrganization",
  summary: "Export an organization",
  description: `Exports what an organization has, without secrets. First come its members, channels, templates, saved replies and labels, oldest first: lines of the types \`member\`, \`channel\`, \`template\`, \`reply\` and \`label\`, each with a field of that name. A channel's line has no credentials. Then come all chats with their messages, in no particular order of the chats. Each chat is exported up to its newest message when its turn comes. ${LINES}`,
  query,
  responses,
} as const;

const ofChat = {
  route: "GET /chats/{id}/export",
  id: "exportChat",
  summary: "Export a chat",
  description: `Exports a chat with its messages, up to the newest message when the export began. ${LINES}`,
  query,
  responses,
} as const;

/** The exports of the public API. */
export const EXPORT_OPERATIONS = tagged("Export", [{ ...ofOrganization, route: "GET /export" }, ofChat]);

/** The exports of the operator's API. */
export const operatorExportOperations = tagged("Chats", [
  { ...ofOrganization, route: "GET /organizations/{id}/export" },
  ofChat,
]);
