import { MAX_UNUSED_FILES } from "../chats/object/files/limits.ts";
import { MAX_QUEUED } from "../chats/object/log/limits.ts";
import { MAX_SCHEDULED } from "../chats/object/scheduled/decisions.ts";
import { MAX_BODY } from "../http/validation.ts";
import { ERRORS, type ErrorCode, MAX_FAULTS } from "../model/error.ts";
import { MAX_FILE_BYTES } from "../model/file.ts";
import { MAX_LABELS, MAX_LABELS_OF_CHAT } from "../model/label.ts";
import { MAX_NOTES } from "../model/note.ts";
import { ROW_CEILINGS } from "../model/organization.ts";
import { MAX_REPLIES } from "../model/reply.ts";
import { MAX_VISITOR_FILE_BYTES } from "../model/visitor.ts";
import { type Definitions, type JsonSchema, reference } from "./json-schema.ts";

const shown = (count: number) => count.toLocaleString("en");

/** When each error occurs. */
const MEANINGS: Record<ErrorCode, string> = {
  missing_authorization: "There is no `Authorization: Bearer` header. Send `Authorization: Bearer` and the key.",
  invalid_api_key:
    "The key or token is unknown, mistyped, revoked or expired. Check that all of it is sent and that it belongs to this service, or create a new one.",
  not_signed_in: "Console: there is no session, or it has ended.",
  wrong_identity: "A visitor's token is malformed, or the hash of a user of your site is wrong or has expired.",
  wrong_token: "Console: the operator's token is wrong.",
  link_invalid:
    "Console: the sign-in link is unknown, has expired or was used, or its creator lost the right to create it.",
  passkey_refused: "Console: the passkey does not sign anybody in. The text says why.",
  access_invalid: "Console: the request has no valid token of Cloudflare Access.",
  access_unknown: "Console: the person whom Cloudflare Access signed in is neither a member nor an operator.",
  sign_in_too_old: "Console: a change of passkeys needs a sign-in within the last 10 minutes.",
  cross_site:
    "Console: the request was not made by a page of the console. Or a browser called the endpoint for agents: the request has the header `Origin`.",
  webhook_not_genuine: "A webhook is not signed by the channel's network.",
  https_required: "The request came over plain http. Its secrets were readable on their way, so replace them.",
  handshake_refused: "A webhook's handshake does not have the channel's verify token.",
  permission_denied:
    "The key lacks the permission that the text names, or would give another key more permissions than it has.",
  drafts_only:
    "The key has `draftsOnly`, and the request would reach the contact or change a message that waits. Write a draft, or use another key.",
  ip_not_allowed: "The key's allow-list does not contain the client's address.",
  self_service_off: "The operator has not allowed the organization's keys to manage keys.",
  quota_exceeded:
    "The key's quota for this calendar month (UTC) is used up. Wait for the next month, or raise the key's `monthlyQuota`.",
  wrong_origin: "A visitor's page is on a site that the channel's `allowedOrigins` do not name.",
  uploads_off: "The channel's `uploads` are `off`, or `verified` and the visitor is anonymous.",
  rate_limited:
    "The key's window is used up, its searches examined too much text within a minute, one address failed to authenticate too often, or a visitor uploaded too much. Wait `Retry-After` seconds.",
  validation_failed: "The body, a parameter or a header is wrong. `errors` lists each problem.",
  missing_field: "One required field is missing, null or blank, and nothing else is wrong.",
  organization_not_found: "There is no such organization.",
  member_not_found: "There is no such member.",
  sender_not_found: "`senderId` is not a member of the organization.",
  channel_not_found: "There is no such channel, or it belongs to another organization.",
  template_not_found: "There is no such template, or it belongs to another organization.",
  chat_not_found:
    "There is no such chat, or it belongs to another organization. The response is the same in both cases.",
  message_not_found: "The chat has no such message.",
  note_not_found: "The chat has no such note, or it was deleted.",
  media_not_found: "The message has no file, or `mediaId` is not a file that a message of this chat can send.",
  too_large_at_network: "The network does not give out files of this size.",
  media_expired: "The network no longer has this file.",
  key_not_found: "There is no such key.",
  webhook_not_found: "There is no such webhook, or it belongs to another organization.",
  passkey_not_found: "Console: the member has no such passkey.",
  reply_not_found: "There is no such saved reply, or it belongs to another organization.",
  label_not_found: "There is no such label, or it belongs to another organization.",
  replay_not_found: "The webhook has no such replay. Only its last one is kept.",
  event_not_found: "There is no such event, or it belongs to another organization.",
  not_found: "There is no such route.",
  method_not_allowed: "The path has other methods. `Allow` lists them.",
  passkey_exists: "Console: the passkey was added already.",
  passkey_limit: "Console: the member has 10 passkeys already.",
  passkey_host: "Console: it was opened at an IP address, and passkeys work only for host names.",
  chat_backlog: `${shown(MAX_QUEUED)} messages of the chat already wait for delivery.`,
  chat_full: "The chat's storage is full.",
  chat_reassigned:
    "The chat's assignee is not the one that `ifAssigneeId` names. Read the chat, then assign it with its `assigneeId`.",
  nothing_unanswered: "The contact has not written since the last message to it.",
  chat_moved_on:
    "`ifSeq` is not the `seq` of the chat's newest message, or a scheduled message is due within 15 seconds.",
  window_closed: "The message has `ifOpen`, and the chat's `replyUntil` has passed.",
  opted_out: "The template's network says that it is marketing, and the chat's `marketing.optedOut` is true.",
  schedule_full: `The chat already has ${shown(MAX_SCHEDULED)} scheduled messages.`,
  handed_over: "The key is the channel's bot, and people have the chat.",
  no_bot:
    "The chat's channel has no bot, or the bot's key was revoked, has expired, lacks `messages:send` or has `draftsOnly`.",
  note_limit: `The chat already has ${shown(MAX_NOTES)} notes.`,
  not_scheduled: "The message was never scheduled, or is no longer scheduled.",
  not_cancelable:
    "The message can't be canceled: an attempt to send it is under way or got no answer, a part of it is sent, or it has ended.",
  not_failed: "Only a message with the status `FAILED` can be sent again.",
  redacted: "The message was redacted, so nothing is left to send.",
  not_sent: "The message has no id at the network: it is scheduled, waits, or failed.",
  not_supported_by_channel: "The channel's network doesn't support this action.",
  refused_by_network:
    "The network rejected the reaction, the read mark, the typing indicator or the sync of templates. The text has its reason.",
  chat_limit: "The organization or the channel has reached its limit of chats.",
  member_limit: `The organization has reached its limit of members: ${shown(ROW_CEILINGS.members)} unless the operator sets another number.`,
  upload_limit: `The chat has ${shown(MAX_UNUSED_FILES)} files that no message names, or 256 MiB of them. Those of the company and of the visitor are counted apart. Each is deleted after 24 hours.`,
  media_used: "`mediaId` is a file that another message sends or has sent.",
  template_limit: `The organization has reached its limit of templates: ${shown(ROW_CEILINGS.templates)} unless the operator sets another number.`,
  reply_exists: "Another saved reply of the organization has this `shortcut`.",
  reply_limit: `The organization has ${shown(MAX_REPLIES)} saved replies already.`,
  label_exists: "Another label of the organization has this name. Case, width and accents make no difference.",
  search_off: "The organization's search is off.",
  search_filled_today: "The search was turned on in the last 24 hours already.",
  label_limit: `The organization has ${shown(MAX_LABELS)} labels already, or the chat ${MAX_LABELS_OF_CHAT}.`,
  template_synced:
    "The template comes from the network, which approved its name, body and language. Only the network can change them.",
  template_not_approved:
    "The network has not approved the template, or has paused or deleted it. `network.status` of the template says which.",
  template_not_supported:
    "The template has a part that the service can't send, such as a carousel or a limited-time offer.",
  channel_limit: `The organization has reached its limit of channels: ${shown(ROW_CEILINGS.channels)} unless the operator sets another number.`,
  audit_full:
    "The key or member, or the whole organization, has used up its entries in the audit log for today (UTC). Revoking, deleting, signing out and disabling still work.",
  last_member: "An organization must keep at least one member.",
  last_manager:
    "The key is the organization's last one with `keys:write` that is valid for more than an hour, and would be revoked, lose `keys:write` or expire within the hour. Create another one first. If its secret leaked, rotate it. Or the member is the last one with `members:write`, and would be deleted or lose it.",
  key_limit:
    "The organization's `selfService` allows no more keys, or no higher quotas in this month. The text says which.",
  key_revoked: "A revoked or expired key can't get a new secret.",
  webhook_exists: "Another webhook of the organization has this URL. The text names its id.",
  webhook_limit: "The organization has 10 webhooks already.",
  webhook_disabled: "The webhook is disabled. Enable it first.",
  replay_running: "A replay of this webhook is running. Wait until its `state` is `done`.",
  not_head: "The event is not the chat's `head`, the one that is sent next, so it can't be skipped.",
  stream_limit: "The organization's keys have 10 open streams already.",
  cursor_expired:
    "The cursor is older than the events that are kept, or from before a deletion. Start again with `from=oldest`.",
  length_required: "An upload lacks a `Content-Length`, or has a `Transfer-Encoding`.",
  precondition_failed: "`If-Match` does not name the file's `ETag`.",
  body_too_large: `The body has more than ${MAX_BODY / 1_024} KiB, or a file more than ${MAX_FILE_BYTES / 1_048_576} MiB, a visitor's more than ${MAX_VISITOR_FILE_BYTES / 1_048_576} MiB.`,
  media_type:
    "The body has a `Content-Encoding`: send it uncompressed. Or the first bytes of a file are not what `Content-Type` says.",
  idempotency_mismatch: "The `Idempotency-Key` was used in this chat with another body.",
  internal_error: "A fault of the service. Its log has the cause under the response's `X-Request-Id`.",
  unavailable:
    "Something that the request needs does not respond, is still being deleted, or is not configured. Try again after `Retry-After` seconds.",
};

/** The texts of examples, where a text names something. */
const EXAMPLES: { [code in ErrorCode]?: string } = {
  permission_denied: "The API key lacks the permission messages:send. Use a key that has it",
  ip_not_allowed: "The address 198.51.100.7 is not allowed. Add it to the key's ipAllowlist",
  missing_field: "content is required",
  chat_moved_on:
    "ifSeq is 7, but the chat's newest message has the seq 9. Read the newer ones, then repeat the request with ifSeq 9",
  member_limit:
    "The organization has 1000 members, and its limit is 1000. Delete one, or ask the operator to raise limits.members",
  audit_full: "This key or member has made its 2,000 entries in the audit log for today. Try again after 00:00 UTC",
  key_limit:
    "The organization has 10 keys, and its limit is 10. Revoke one, or ask the operator to raise selfService.maxKeys",
  webhook_exists: "The webhook whk_gN5cVr82KpZx0TdQ has this URL. Change that one, or use another URL",
};

/** The errors of requests that reach no operation: an unknown path, a method that the path does not have, plain http. */
export const UNMATCHED_CODES = ["not_found", "method_not_allowed", "https_required"] as const satisfies ErrorCode[];

/** `ChatNotFound` */
export function pascalCase(code: ErrorCode): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `ChatNotFoundError` */
function errorName(code: ErrorCode): string {
  return `${pascalCase(code)}Error`;
}

export function errorSchema(code: ErrorCode): JsonSchema {
  const { shape } = ERRORS[code];
  const properties: Record<string, JsonSchema> = {
    [shape]: { type: "string", description: "The error in words, for people. It can change" },
    code: { type: "string", const: code, description: "A stable code, for programs" },
  };
  if (code === "validation_failed")
    properties.errors = {
      type: "array",
      minItems: 1,
      maxItems: MAX_FAULTS,
      description: "The problems of the request",
      items: FAULT,
    };
  return {
    type: "object",
    title: errorName(code),
    description: MEANINGS[code],
    properties,
    required: Object.keys(properties),
  };
}

const FAULT: JsonSchema = {
  type: "object",
  properties: {
    path: {
      type: "string",
      description: "The field's dotted path, such as `contact.address`. Empty for the body as a whole",
    },
    message: { type: "string", description: "What is wrong with it" },
  },
  required: ["path", "message"],
};

/** The content of a response with one of these errors, which share a status. Adds their schemas to `definitions`. */
export function errorContent(codes: readonly ErrorCode[], definitions: Definitions) {
  for (const code of codes) definitions[errorName(code)] = errorSchema(code);
  const references = codes.map((code) => ({ $ref: reference(errorName(code)) }));
  const examples = codes.map((code) => [code, { summary: MEANINGS[code], value: exampleOf(code) }]);
  return {
    "application/json": {
      schema: references.length === 1 ? references[0] : { oneOf: references },
      examples: Object.fromEntries(examples),
    },
  };
}

export function errorDescription(codes: readonly ErrorCode[]): string {
  if (codes.length === 1) return codes.map((code) => MEANINGS[code]).join("");
  return codes.map((code) => `- \`${code}\`: ${MEANINGS[code]}`).join("\n");
}

function exampleOf(code: ErrorCode) {
  const { shape, text } = ERRORS[code];
  const faults = code === "validation_failed" ? { errors: [{ path: "limit", message: "must be an integer" }] } : {};
  return { [shape]: EXAMPLES[code] ?? text, code, ...faults };
}
