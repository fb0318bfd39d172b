import type { AuditAction } from "../../../model/audit-action.ts";

/** What each action of the audit log did, for people. */
export const ACTION_WORDS: Record<AuditAction, string> = {
  "organization.create": "Created the organization",
  "organization.update": "Changed the organization",
  "organization.delete": "Deleted the organization",
  "organization.export": "Exported everything",
  "member.create": "Added a member",
  "member.update": "Changed a member",
  "member.sign_in_link": "Created a sign-in link",
  "member.end_sessions": "Signed a member out",
  "member.delete": "Deleted a member",
  "passkey.create": "Added a passkey",
  "passkey.update": "Renamed a passkey",
  "passkey.delete": "Deleted a passkey",
  "channel.create": "Created a channel",
  "channel.update": "Changed a channel",
  "channel.delete": "Deleted a channel",
  "channel.check": "Checked a channel",
  "channel.register": "Registered a channel’s webhook",
  "channel.rotate": "Rotated an identity secret",
  "template.create": "Created a template",
  "template.update": "Changed a template",
  "template.sync": "Synced a channel’s templates",
  "template.delete": "Deleted a template",
  "key.create": "Created a key",
  "key.update": "Changed a key",
  "key.rotate": "Rotated a key",
  "key.revoke": "Revoked a key",
  "webhook.create": "Created a webhook",
  "webhook.update": "Changed a webhook",
  "webhook.delete": "Deleted a webhook",
  "webhook.rotate": "Rotated a webhook’s secret",
  "webhook.ping": "Tested a webhook",
  "webhook.enable": "Enabled a webhook",
  "webhook.disable": "Disabled a webhook",
  "webhook.retry": "Retried events",
  "webhook.skip": "Skipped an event",
  "webhook.replay": "Replayed events",
  "chat.create": "Created a chat",
  "chat.delete": "Deleted a chat",
  "chat.search": "Searched the chats",
  "chat.export": "Exported a chat",
  "message.redact": "Redacted a message",
  "message.search": "Searched a chat’s messages",
};

/** An action in words. A newer service may have actions that this page does not know. */
export function inWords(action: string): string {
  return Object.hasOwn(ACTION_WORDS, action) ? ACTION_WORDS[action as AuditAction] : action;
}
