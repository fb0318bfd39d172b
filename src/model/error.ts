interface ErrorKind {
  status: number;
  shape: "message" | "error";
  text: string;
}

/** Errors with the same status and shape. */
function errors<Code extends string>(status: number, shape: ErrorKind["shape"], texts: Record<Code, string>) {
  const kinds = Object.entries<string>(texts).map(([code, text]) => [code, { status, shape, text }]);
  return Object.fromEntries(kinds) as Record<Code, ErrorKind>;
}

/**
 * Every error that a client can get. `shape` is the field with the text: `message` if the request itself was refused,
 * `error` if a route looked at its resources. No body has both.
 */
export const ERRORS = {
  ...errors(400, "message", {
    validation_failed: "Validation failed",
  }),
  ...errors(400, "error", {
    missing_field: "A required field is missing",
  }),
  ...errors(401, "message", {
    missing_authorization: "Missing or invalid Authorization header",
    invalid_api_key: "Invalid or expired API key",
    not_signed_in: "Not signed in, or the session has ended. Sign in again",
    wrong_identity:
      "The visitor's token is malformed, or the user's hash is wrong or has expired. Create a new token or hash",
    wrong_token: "The token is wrong. It is the service's ADMIN_TOKEN",
    link_invalid:
      "The sign-in link was used, has expired, or its creator lost the right to create it. Ask for a new one",
    passkey_refused: "The passkey was refused. Use a sign-in link",
    access_invalid:
      "Cloudflare Access has not signed this person in. Does ACCESS_AUD name the application that protects the console?",
    webhook_not_genuine:
      "The call is not signed by the channel's network. Check the channel's credentials, and that no proxy changes the raw body",
  }),
  ...errors(403, "message", {
    https_required:
      "Plain http is not accepted. Change the URL to https, and replace the secret that was sent: it was readable on its way",
    access_unknown: "No member has the email of this person. Ask the organization to add it to a member",
    sign_in_too_old: "This needs a sign-in within the last 10 minutes. Sign in again",
    cross_site: "Only the console's own pages can make this request. Programs call /api/v1 with an API key",
    handshake_refused:
      "The handshake does not have the channel's verify token. Copy it again from the channel's screen",
    permission_denied: "The API key lacks a permission. Use a key that has it",
    drafts_only:
      "The API key has draftsOnly, so nothing that it does reaches a contact. Write a draft, or use another key",
    ip_not_allowed: "The address is not allowed. Add it to the key's ipAllowlist",
    self_service_off: "Only the operator manages the organization's keys. Ask the operator to turn on selfService",
    quota_exceeded: "Monthly quota exceeded",
    wrong_origin: "The channel's settings.allowedOrigins do not name the page's origin. Add the origin there",
    uploads_off:
      "The channel's settings.uploads do not let this visitor upload files. Change it with a PATCH of the channel",
  }),
  ...errors(404, "error", {
    organization_not_found: "Organization not found. Check its id, and whether the organization was deleted",
    member_not_found: "Member not found",
    sender_not_found: "Sender not found",
    channel_not_found: "Channel not found",
    template_not_found: "Template not found",
    chat_not_found: "Chat not found",
    message_not_found: "Message not found",
    note_not_found: "Note not found. Check its id and the chat's, and whether the note was deleted",
    media_not_found: "File not found. Check that the message has a file, or that the chat has one with this mediaId",
    too_large_at_network:
      "The network does not give out files of this size. Ask the contact for a smaller file or a link",
    media_expired: "The network no longer has the media. Ask the contact to send it again",
    key_not_found:
      "Key not found. Check that you sent the key's id, not its secret, and that the key is in the organization that you mean",
    webhook_not_found: "Webhook not found. Check its id, and whether the webhook was deleted",
    passkey_not_found: "Passkey not found. Reload the list: it may have been deleted",
    reply_not_found: "Saved reply not found. Reload the list: it may have been deleted",
    label_not_found: "Label not found. Check its id, and whether the label was deleted",
    replay_not_found: "Replay not found. Check its id. A webhook keeps only its last replay",
    event_not_found: "Event not found. Check its id and the webhook's filter, and whether the chat was deleted",
    not_found: "Not found",
  }),
  ...errors(405, "error", {
    method_not_allowed: "Method not allowed",
  }),
  ...errors(409, "error", {
    chat_backlog: "Too many messages of this chat wait for delivery. Send again when some are delivered",
    chat_full: "The chat's storage is full. Delete the chat, or its old messages with the channel's retentionDays",
    chat_reassigned:
      "Someone else has assigned the chat. Read it, then repeat the request with its assigneeId as ifAssigneeId",
    nothing_unanswered: "The contact has not written since the last message to it. Read the chat's newest messages",
    handed_over: "People have taken over this chat. Its bot sends nothing until they hand it back",
    no_bot: "The channel of this chat has no bot. Set settings.bot of the channel first",
    chat_moved_on: "The chat has newer messages. Read them, then repeat the request with their newest seq as ifSeq",
    window_closed:
      "The contact's network takes no free text now: read the chat's replyUntil. Send a template without ifOpen, or wait until the contact writes",
    opted_out: "The contact has opted out of marketing: read the chat's marketing. Send no marketing template",
    schedule_full: "The chat already has 1,000 scheduled messages. Cancel one, or wait until one is sent",
    note_limit: "The chat already has 1,000 notes. Delete one first",
    not_scheduled: "The message is not scheduled. Only one with the status SCHEDULED can be moved",
    not_cancelable: "Too late to cancel: the message was sent, may have been sent, or has failed. Read its status",
    not_failed: "The message has not failed. Only one with the status FAILED can be sent again",
    redacted: "The message was redacted. Send a new one",
    not_sent: "The network does not have the message: it waits, is scheduled, or has failed. Try again once it is SENT",
    not_supported_by_channel:
      "This channel doesn't support this action. The guide on rich messages lists what each channel supports",
    refused_by_network: "The network rejected the request. Change it before you try again",
    chat_limit:
      "The organization or the channel has reached its limit of chats. Delete a chat, or ask the operator to raise limits.chats",
    member_limit:
      "The organization has reached its limit of members. Delete one, or ask the operator to raise limits.members",
    upload_limit:
      "The chat already has 100 unused files, or 256 MiB of them. Send one, or wait: an unused file is deleted after 24 hours",
    media_used: "Another message names the file. Upload it again to send it again",
    template_limit:
      "The organization has reached its limit of templates. Delete one, or ask the operator to raise limits.templates",
    channel_limit:
      "The organization has reached its limit of channels. Delete one, or ask the operator to raise limits.channels",
    search_off:
      "The organization's search is off. Turn it on with PATCH /organization { search: { on: true } }, or search one chat with GET /chats/{id}/messages?search=",
    search_filled_today:
      "The organization's search was turned on in the last 24 hours already. It stays off: turn it on again later",
    reply_exists: "The organization has a saved reply with this shortcut. Change that one, or use another shortcut",
    reply_limit: "The organization already has 1,000 saved replies. Delete one first",
    label_exists: "The organization has a label with this name. Use that one, or another name",
    label_limit: "The organization already has 200 labels. Delete one first",
    template_synced: "The template is the network's. Change it there, then sync the channel's templates",
    template_not_approved: "The network has not approved the template, or has paused it. Read its network.status",
    template_not_supported: "The template has a part that can't be sent. Use another template",
    audit_full: "The audit log has no room left for today. Try again after 00:00 UTC",
    last_member: "The last member of an organization can't be deleted. Add another one first",
    last_manager:
      "The organization would have no key left that can manage keys. Create another one with keys:write first",
    key_limit: "The organization's keys have reached a ceiling. Revoke one, or ask the operator to raise selfService",
    key_revoked: "The key is revoked or expired. Create a new one",
    passkey_exists: "The passkey was added already. Use it to sign in",
    passkey_limit: "The member already has 10 passkeys. Delete one first",
    passkey_host: "Passkeys work for host names, and the console was opened at an IP address. Use a sign-in link",
    webhook_exists: "The organization has a webhook with this URL. Change that one, or use another URL",
    webhook_limit: "The organization already has 10 webhooks. Delete one first",
    webhook_disabled: "The webhook is disabled. Enable it first",
    replay_running: "A replay of this webhook is running. Wait until its state is done",
    not_head: "The event is not the next one of its chat. Skip the one in `head` of GET /webhooks/{id}/chats/{chatId}",
    stream_limit: "The organization's keys already have 10 open streams. Close one first",
  }),
  ...errors(410, "error", {
    cursor_expired: "The cursor is too old or from before a deletion. Start again with from=oldest",
  }),
  ...errors(411, "error", {
    length_required: "Content-Length is missing. Send it, and no Transfer-Encoding",
  }),
  ...errors(412, "error", {
    precondition_failed: "The file is not one that If-Match names. Read it again without If-Match",
  }),
  ...errors(413, "message", {
    body_too_large: "The request body is too large",
  }),
  ...errors(415, "error", {
    media_type: "The request body must not have a Content-Encoding. Send it uncompressed",
  }),
  ...errors(422, "error", {
    idempotency_mismatch: "Idempotency-Key was used with another request",
  }),
  ...errors(429, "message", {
    rate_limited: "Rate limit exceeded",
  }),
  ...errors(500, "message", {
    internal_error: "Internal error",
  }),
  ...errors(503, "message", {
    unavailable: "Service unavailable",
  }),
};

/** The stable identifier of an error, for programs. */
export type ErrorCode = keyof typeof ERRORS;

/** One fault of a request: `path` is dotted (`contact.address`), empty for the body as a whole. */
export interface Fault {
  path: string;
  message: string;
}

export interface ErrorReply {
  code: ErrorCode;
  /** Replaces the table's text if more is known about the error. */
  text?: string | undefined;
  faults?: Fault[] | undefined;
  headers?: Record<string, string>;
}

/** `cause` goes only to the log. */
type ErrorDetails = Omit<ErrorReply, "code"> & { cause?: unknown };

/** An error for the client. Routes and the functions that they call throw it, and `errorResponse` writes it. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly text: string | undefined;
  readonly faults: Fault[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, { text, faults, headers = {}, cause }: ErrorDetails = {}) {
    super(text ?? ERRORS[code].text, { cause });
    this.code = code;
    this.text = text;
    this.faults = faults;
    this.headers = headers;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** The text of `refused_by_network`. @param words those of the network */
export function rejectedText(words: string): string {
  return `The network rejected the request: ${words.replace(/\.$/, "")}. Change it before you try again`;
}

/** 503: something that the request needs does not respond or is not configured. The cause goes only to the log. */
export function unavailable(cause: unknown, retryAfterSeconds = 1): ApiError {
  return new ApiError("unavailable", { cause, headers: { "Retry-After": String(retryAfterSeconds) } });
}

/** How many faults a response lists. */
export const MAX_FAULTS = 100;
