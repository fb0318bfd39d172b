import type { IdPrefix } from "./id.ts";
import type { Need } from "./permission.ts";

/** What the audit log and the routes know of an action. */
interface ActionSpec {
  /** The permission that a key needs. Null: a member changes something of its own, which only a session can do. */
  needs: Need | "operator" | null;
  /** The kind of its target. Null: it has none, or only the route knows it, after the act. */
  target: IdPrefix | null;
  /** Whether it creates the target. */
  creates?: true;
  /** Whether it cuts off access: then it does not wait for the audit log. */
  stops?: true;
  /** Whether the requests of an actor in an hour share a row. */
  isSearch?: true;
  /**
   * Whether requests with `after` continue an earlier one. Those of one actor and one target in an hour share a row.
   */
  isResumed?: true;
}

/** All actions that leave a row in an organization's audit log. */
export const ACTIONS = {
  "organization.create": { needs: "operator", target: "org", creates: true },
  "organization.update": { needs: "organization:write", target: "org" },
  "organization.delete": { needs: "operator", target: "org" },
  "organization.export": { needs: "data:export", target: "org", isResumed: true },
  "member.create": { needs: "members:write", target: "mbr", creates: true },
  "member.update": { needs: "members:write", target: "mbr" },
  "member.sign_in_link": { needs: "members:write", target: "mbr" },
  "member.end_sessions": { needs: "members:write", target: "mbr", stops: true },
  "member.delete": { needs: "members:write", target: "mbr", stops: true },
  "passkey.create": { needs: null, target: "psk", creates: true },
  "passkey.update": { needs: null, target: "psk" },
  "passkey.delete": { needs: null, target: "psk" },
  "channel.create": { needs: "channels:write", target: "chn", creates: true },
  "channel.update": { needs: "channels:write", target: "chn" },
  "channel.delete": { needs: "channels:delete", target: "chn" },
  "channel.check": { needs: "channels:write", target: "chn" },
  "channel.register": { needs: "channels:write", target: "chn" },
  "channel.rotate": { needs: "channels:identity", target: "chn" },
  "template.create": { needs: "templates:write", target: "tpl", creates: true },
  "template.update": { needs: "templates:write", target: "tpl" },
  "template.sync": { needs: "templates:write", target: "chn" },
  "template.delete": { needs: "templates:write", target: "tpl" },
  "reply.create": { needs: "replies:write", target: "rpl", creates: true },
  "reply.update": { needs: "replies:write", target: "rpl" },
  "reply.delete": { needs: "replies:write", target: "rpl" },
  "label.create": { needs: "labels:write", target: "lbl", creates: true },
  "label.update": { needs: "labels:write", target: "lbl" },
  "label.delete": { needs: "labels:write", target: "lbl" },
  "key.create": { needs: "keys:write", target: "key", creates: true },
  "key.update": { needs: "keys:write", target: "key" },
  "key.rotate": { needs: "keys:write", target: "key" },
  "key.revoke": { needs: "keys:write", target: "key", stops: true },
  "webhook.create": { needs: "webhooks:write", target: "whk", creates: true },
  "webhook.update": { needs: "webhooks:write", target: "whk" },
  "webhook.delete": { needs: "webhooks:write", target: "whk" },
  "webhook.rotate": { needs: "webhooks:write", target: "whk" },
  "webhook.ping": { needs: "webhooks:write", target: "whk" },
  "webhook.enable": { needs: "webhooks:write", target: "whk" },
  "webhook.disable": { needs: "webhooks:write", target: "whk", stops: true },
  "webhook.retry": { needs: "webhooks:write", target: "whk" },
  "webhook.skip": { needs: "webhooks:write", target: "whk" },
  "webhook.replay": { needs: "webhooks:write", target: "whk" },
  // The chat of an address may exist already.
  "chat.create": { needs: "operator", target: null },
  "chat.delete": { needs: "chats:erase", target: "cht" },
  "chat.search": { needs: "chats:read", target: null, isSearch: true },
  "chat.export": { needs: "data:export", target: "cht", isResumed: true },
  "message.redact": { needs: "chats:erase", target: "msg" },
  "message.search": { needs: "messages:read", target: "cht", isSearch: true },
} as const satisfies Record<string, ActionSpec>;

export type AuditAction = keyof typeof ACTIONS;

/** The names of all actions. */
export const ACTION_NAMES = Object.keys(ACTIONS) as [AuditAction, ...AuditAction[]];

/** What is known of an action. */
export function actionSpec(action: AuditAction): ActionSpec {
  return ACTIONS[action];
}
