import type fc from "fast-check";
import { toJSONSchema } from "zod";
import * as z from "zod/mini";
import { reactionBody, readBody, typingBody } from "../../../src/chats/acts.ts";
import { messagePatch } from "../../../src/chats/cancel-and-resend.ts";
import { answeredBody, chatPatch } from "../../../src/chats/change-chat.ts";
import { newChatBody } from "../../../src/chats/create-chat.ts";
import { handoverBody } from "../../../src/chats/hand-over.ts";
import { chatsQuery } from "../../../src/chats/list-chats.ts";
import { messagesQuery } from "../../../src/chats/list-messages.ts";
import { noteBody, notesQuery } from "../../../src/chats/notes.ts";
import { uploadQuery } from "../../../src/chats/upload-media.ts";
import { newPasskeyBody, passkeyPatch } from "../../../src/console/passkeys/passkeys.ts";
import { linkBody, signInBody } from "../../../src/console/sign-in.ts";
import { chatEventsQuery, eventsQuery, streamQuery } from "../../../src/events/query.ts";
import { exportQuery } from "../../../src/export/routes.ts";
import { afterQuery, pageQuery } from "../../../src/http/pagination.ts";
import { auditQuery } from "../../../src/management/audit-entries.ts";
import { channelPatch, newChannelBody } from "../../../src/management/channels.ts";
import { keyPatch, newKeyBody } from "../../../src/management/key-settings.ts";
import { labelPatch, newLabelBody } from "../../../src/management/labels.ts";
import { memberPatch, newMemberBody } from "../../../src/management/members.ts";
import { metricsQuery } from "../../../src/management/metrics.ts";
import { organizationsQuery } from "../../../src/management/organization-routes.ts";
import { newOrganizationBody, organizationPatch, ownOrganizationPatch } from "../../../src/management/organizations.ts";
import { overlapBody } from "../../../src/management/overlap.ts";
import { newReplyBody, replyPatch } from "../../../src/management/replies.ts";
import { statsQuery } from "../../../src/management/stats.ts";
import { historyQuery } from "../../../src/management/stats-history.ts";
import { newTemplateBody, templatePatch } from "../../../src/management/templates.ts";
import { resendBody, sendBody } from "../../../src/model/message.ts";
import { searchQuery } from "../../../src/search/search-messages.ts";
import {
  attemptsQuery,
  enableBody,
  newWebhookBody,
  pingBody,
  replayBody,
  skipBody,
  webhookPatch,
  webhookRotation,
} from "../../../src/webhooks/fields.ts";
import { type Schema, valuesOf } from "./values.ts";

/** What a route is asked with, by the schemas that its own code validates with. */
export interface Shape {
  query?: z.ZodMiniObject;
  body?: z.ZodMiniType;
  /** Of the ids in its path, in their order. `own` is the organization that makes the requests: no request ends it. */
  ids?: string[];
  /** What it does would end what the others are asked of: it meets only what was made on the way. */
  ends?: boolean;
  /** How often, to the others. */
  weight?: number;
}

/** An upload takes any bytes. */
const FILE = z.object({ bytes: z.string() });

const chat = ["cht"];
const message = ["cht", "msg"];
const organization = ["org"];
const channel = ["chn"];
const webhook = ["whk"];
const webhookChat = ["whk", "cht"];

/** JSON-RPC: the tools call the other routes. */
const agentBody = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.int(),
  method: z.enum(["tools/call", "tools/list", "initialize", "ping"]),
  params: z.object({
    name: z.enum(["list_chats", "get_chat", "list_messages", "send_message", "wait_for_messages", "set_state"]),
    arguments: z.record(z.string(), z.union([z.string(), z.int(), z.boolean()])),
    protocolVersion: z.string(),
  }),
});

/** A file's signed link: what is not signed must find nothing. */
const linkQuery = z.object({ until: z.string(), signature: z.string() });

/** The routes of webhooks below a prefix. @param list the path of an organization's webhooks */
function webhookShapes(prefix: string, list: string, ids: string[]): Record<string, Shape> {
  const one = `${prefix}/webhooks/:id`;
  return {
    [`POST ${prefix}${list}`]: { ids, body: newWebhookBody, weight: 2 },
    [`GET ${prefix}${list}`]: { ids, query: afterQuery },
    [`GET ${one}`]: { ids: webhook },
    [`PATCH ${one}`]: { ids: webhook, body: webhookPatch, weight: 2 },
    [`DELETE ${one}`]: { ids: webhook, ends: true },
    [`POST ${one}/rotate`]: { ids: webhook, body: webhookRotation },
    [`POST ${one}/ping`]: { ids: webhook, body: pingBody },
    [`POST ${one}/enable`]: { ids: webhook, body: enableBody },
    [`POST ${one}/disable`]: { ids: webhook },
    [`POST ${one}/retry`]: { ids: webhook },
    [`GET ${one}/attempts`]: { ids: webhook, query: attemptsQuery },
    [`GET ${one}/chats/:chatId`]: { ids: webhookChat },
    [`POST ${one}/chats/:chatId/retry`]: { ids: webhookChat },
    [`POST ${one}/chats/:chatId/skip`]: { ids: webhookChat, body: skipBody },
    [`POST ${one}/replays`]: { ids: webhook, body: replayBody },
    [`GET ${one}/replays/:replayId`]: { ids: ["whk", "rpl"] },
  };
}

/**
 * The routes that the operator and keys have.
 * @param list comes before the paths of an organization's lists, with the ids in it
 */
function managementShapes(prefix: string, list: string, organization: string[]): Record<string, Shape> {
  return {
    [`GET ${prefix}${list}/audit`]: { ids: organization, query: auditQuery },
    [`POST ${prefix}${list}/members`]: { ids: organization, body: newMemberBody },
    [`GET ${prefix}${list}/members`]: { ids: organization, query: pageQuery },
    [`PATCH ${prefix}/members/:id`]: { ids: ["mbr"], body: memberPatch },
    [`POST ${prefix}/members/:id/sign-in-link`]: { ids: ["mbr"] },
    [`DELETE ${prefix}/members/:id/sessions`]: { ids: ["mbr"] },
    [`DELETE ${prefix}/members/:id`]: { ids: ["mbr"], ends: true },
    [`POST ${prefix}${list}/channels`]: { ids: organization, body: newChannelBody, weight: 3 },
    [`GET ${prefix}${list}/channels`]: { ids: organization, query: pageQuery },
    [`GET ${prefix}/channels/:id`]: { ids: channel },
    [`PATCH ${prefix}/channels/:id`]: { ids: channel, body: channelPatch, ends: true, weight: 3 },
    [`DELETE ${prefix}/channels/:id`]: { ids: channel, ends: true },
    [`POST ${prefix}/channels/:id/webhook`]: { ids: channel },
    [`POST ${prefix}/channels/:id/check`]: { ids: channel },
    [`POST ${prefix}/channels/:id/templates/sync`]: { ids: channel },
    [`POST ${prefix}/channels/:id/identity-secret`]: { ids: channel, body: overlapBody, ends: true },
    [`POST ${prefix}${list}/templates`]: { ids: organization, body: newTemplateBody, weight: 3 },
    [`GET ${prefix}${list}/templates`]: { ids: organization, query: pageQuery },
    [`GET ${prefix}/templates/:id`]: { ids: ["tpl"] },
    [`PATCH ${prefix}/templates/:id`]: { ids: ["tpl"], body: templatePatch },
    [`DELETE ${prefix}/templates/:id`]: { ids: ["tpl"], ends: true },
    [`POST ${prefix}${list}/replies`]: { ids: organization, body: newReplyBody, weight: 3 },
    [`GET ${prefix}${list}/replies`]: { ids: organization, query: afterQuery },
    [`PATCH ${prefix}/replies/:id`]: { ids: ["rpy"], body: replyPatch },
    [`DELETE ${prefix}/replies/:id`]: { ids: ["rpy"], ends: true },
    [`POST ${prefix}${list}/labels`]: { ids: organization, body: newLabelBody, weight: 3 },
    [`GET ${prefix}${list}/labels`]: { ids: organization },
    [`PATCH ${prefix}${list}/labels/:labelId`]: { ids: [...organization, "lbl"], body: labelPatch },
    [`DELETE ${prefix}${list}/labels/:labelId`]: { ids: [...organization, "lbl"], ends: true },
    [`DELETE ${prefix}/chats/:id`]: { ids: chat, ends: true },
    [`POST ${prefix}/chats/:id/messages/:messageId/redact`]: { ids: message },
    [`POST ${prefix}${list}/keys`]: { ids: organization, body: newKeyBody, weight: 3 },
    [`GET ${prefix}${list}/keys`]: { ids: organization, query: pageQuery },
    [`GET ${prefix}/keys/:id`]: { ids: ["key"] },
    [`PATCH ${prefix}/keys/:id`]: { ids: ["key"], body: keyPatch, ends: true, weight: 3 },
    [`DELETE ${prefix}/keys/:id`]: { ids: ["key"], ends: true },
    [`POST ${prefix}/keys/:id/rotate`]: { ids: ["key"], body: overlapBody, ends: true },
    [`GET ${prefix}/keys/:id/usage`]: { ids: ["key"] },
  };
}

/** The routes of organizations as such, which the operator has. */
function organizationShapes(prefix: string): Record<string, Shape> {
  return {
    [`POST ${prefix}/organizations`]: { body: newOrganizationBody },
    [`GET ${prefix}/organizations`]: { query: organizationsQuery },
    [`GET ${prefix}/organizations/:id`]: { ids: organization },
    [`PATCH ${prefix}/organizations/:id`]: { ids: organization, body: organizationPatch, ends: true },
    [`DELETE ${prefix}/organizations/:id`]: { ids: organization, ends: true },
  };
}

/** The routes of the public API. */
const PUBLIC: Record<string, Shape> = {
  "GET /api/v1/key": {},
  "GET /api/v1/chats": { query: chatsQuery, weight: 5 },
  "POST /api/v1/chats": { body: newChatBody, weight: 8 },
  "GET /api/v1/chats/:id": { ids: chat, weight: 3 },
  "PATCH /api/v1/chats/:id": { ids: chat, body: chatPatch, weight: 3 },
  "POST /api/v1/chats/:id/answered": { ids: chat, body: answeredBody, weight: 2 },
  "POST /api/v1/chats/:id/handover": { ids: chat, body: handoverBody, weight: 2 },
  "DELETE /api/v1/chats/:id/answered": { ids: chat, weight: 2 },
  "PUT /api/v1/chats/:id/labels/:labelId": { ids: ["cht", "lbl"], weight: 3 },
  "DELETE /api/v1/chats/:id/labels/:labelId": { ids: ["cht", "lbl"], weight: 2 },
  "GET /api/v1/messages": { query: searchQuery, weight: 5 },
  "GET /api/v1/chats/:id/messages": { ids: chat, query: messagesQuery, weight: 10 },
  "GET /api/v1/chats/:id/messages/:messageId": { ids: message, weight: 3 },
  "GET /api/v1/chats/:id/messages/:messageId/media": { ids: message, weight: 3 },
  "POST /api/v1/chats/:id/media": { ids: chat, query: uploadQuery, body: FILE, weight: 3 },
  "POST /api/v1/chats/:id/messages": { ids: chat, body: sendBody, weight: 20 },
  "PATCH /api/v1/chats/:id/messages/:messageId": { ids: message, body: messagePatch, weight: 3 },
  "POST /api/v1/chats/:id/messages/:messageId/cancel": { ids: message, weight: 3 },
  "PUT /api/v1/chats/:id/messages/:messageId/reaction": { ids: message, body: reactionBody, weight: 3 },
  "DELETE /api/v1/chats/:id/messages/:messageId/reaction": { ids: message, weight: 2 },
  "POST /api/v1/chats/:id/read": { ids: chat, body: readBody, weight: 2 },
  "POST /api/v1/chats/:id/typing": { ids: chat, body: typingBody, weight: 2 },
  "POST /api/v1/chats/:id/messages/:messageId/resend": { ids: message, body: resendBody, weight: 3 },
  "GET /api/v1/chats/:id/messages/:messageId/attempts": { ids: message, weight: 3 },
  "GET /api/v1/chats/:id/notes": { ids: chat, query: notesQuery, weight: 3 },
  "POST /api/v1/mcp": { body: agentBody, weight: 3 },
  "POST /api/v1/chats/:id/notes": { ids: chat, body: noteBody, weight: 3 },
  "DELETE /api/v1/chats/:id/notes/:noteId": { ids: ["cht", "note"], weight: 2 },
  "GET /api/v1/chats/:id/scheduled": { ids: chat, query: afterQuery, weight: 3 },
  "GET /api/v1/chats/:id/export": { ids: chat, query: exportQuery },
  "GET /api/v1/export": { query: exportQuery },
  "GET /api/v1/events": { query: eventsQuery, weight: 3 },
  "GET /api/v1/events/stream": { query: streamQuery },
  "GET /api/v1/events/:id": { ids: ["evt"] },
  "GET /api/v1/chats/:id/events": { ids: chat, query: chatEventsQuery, weight: 2 },
  ...webhookShapes("/api/v1", "/webhooks", []),
  ...managementShapes("/api/v1", "", []),
  "GET /api/v1/organization": {},
  "PATCH /api/v1/organization": { body: ownOrganizationPatch, weight: 2 },
  "GET /api/v1/stats": { query: pageQuery },
  "GET /api/v1/stats/history": { query: historyQuery },
};

const CONSOLE_ORGANIZATION = "/console/api/organizations/:organizationId";

/** The console has the routes of the public API for one organization, without those about a key itself and for agents. */
function consoleShapes(): Record<string, Shape> {
  const shared = Object.entries(PUBLIC).filter(([route]) => !["GET /api/v1/key", "POST /api/v1/mcp"].includes(route));
  return Object.fromEntries(
    shared.map(([route, { ids = [], weight = 1, ...shape }]) => [
      route.replace("/api/v1", CONSOLE_ORGANIZATION),
      { ...shape, ids: ["own", ...ids], weight: weight / 4 },
    ]),
  );
}

/** Every route with a method of its own; `requests.test.ts` wants each that is registered to be here. */
export const SHAPES: Record<string, Shape> = {
  "GET /": {},
  "GET /healthz": {},
  ...PUBLIC,
  ...consoleShapes(),
  ...organizationShapes("/console/api"),
  "GET /console/api/session": {},
  "POST /console/session": { body: signInBody },
  "DELETE /console/session": {},
  "POST /console/link": { body: linkBody },
  "GET /console/access": {},
  "GET /console/passkey": {},
  "GET /console/api/passkeys": {},
  "GET /console/api/passkeys/options": {},
  "POST /console/api/passkeys": { body: newPasskeyBody },
  "PATCH /console/api/passkeys/:id": { ids: ["psk"], body: passkeyPatch },
  "DELETE /console/api/passkeys/:id": { ids: ["psk"] },
  "GET /console/preview": {},
  "GET /console": {},
  "GET /console/*": {},
  ...managementShapes("/admin/v1", "/organizations/:id", organization),
  ...organizationShapes("/admin/v1"),
  "GET /admin/v1/chats/:id/export": { ids: chat, query: exportQuery },
  ...webhookShapes("/admin/v1", "/organizations/:id/webhooks", organization),
  // It opens all that is sealed.
  "POST /admin/v1/reseal": { weight: 0.02 },
  "GET /admin/v1/metrics": { query: metricsQuery },
  "GET /admin/v1/stats": { query: statsQuery },
  "GET /admin/v1/stats/history": { query: historyQuery },
  "POST /admin/v1/organizations/:id/chats": { ids: organization, body: newChatBody, weight: 3 },
  "GET /admin/v1/organizations/:id/chats": { ids: organization, query: chatsQuery },
  "GET /admin/v1/organizations/:id/export": { ids: organization, query: exportQuery },
  "GET /admin/v1/chats/:id": { ids: chat },
  "POST /hooks/telegram/:channelId": { ids: ["tgm"], weight: 6 },
  "POST /hooks/whatsapp/:channelId": { ids: ["wap"], weight: 6 },
  "GET /hooks/whatsapp/:channelId": { ids: ["wap"] },
  "GET /web/:channelId": { ids: channel },
  "GET /web/:channelId/availability": { ids: channel },
  "GET /web/:channelId/socket": { ids: ["web"], weight: 3 },
  "OPTIONS /web/:channelId/media": { ids: channel },
  "POST /web/:channelId/media": { ids: ["web"], query: uploadQuery, body: FILE, weight: 3 },
  "GET /web/:channelId/media/:chatId/:messageId": { ids: ["web", "cht", "msg"], query: linkQuery, weight: 3 },
};

/** Values for the fields of a schema, `null` where a route takes none. */
export function valuesFor(schema: z.ZodMiniType | undefined): fc.Arbitrary<unknown> | null {
  if (!schema) return null;
  return valuesOf(toJSONSchema(schema as never, { io: "input", unrepresentable: "any" }) as Schema);
}
