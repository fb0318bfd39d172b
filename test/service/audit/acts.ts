import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AuditAction } from "../../../src/audit/actions.ts";
import { PERMISSIONS } from "../../../src/keys/permissions.ts";
import {
  admin,
  type Client,
  client,
  created,
  newChannel,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";

/** One resource of every kind, with texts that a later assertion can search for, and a key that manages them. */
export async function everything() {
  const organization = await newOrganization({ selfService: {} });
  const { api, organizationId, channelId } = organization;
  const chat = await newChat(api, channelId);
  const message = await send(api, chat.id, { content: "canary-content" });
  const template = created(
    await admin("POST", `/organizations/${organizationId}/templates`, { name: "t", language: "en", body: "Hi" }),
  ).template;
  const member = created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Bob" })).member;
  const telegramId = await newChannel(organizationId, "telegram");
  const { webhook } = created(
    await admin("POST", `/organizations/${organizationId}/webhooks`, { url: "https://receiver.test/1" }),
  );
  const manager = await newKey(organizationId, { name: "Manager", permissions: [...PERMISSIONS] });
  return {
    ...organization,
    chatId: chat.id,
    messageId: message.id,
    templateId: template.id as string,
    memberId: member.id as string,
    telegramId,
    webhookId: webhook.id as string,
    managerId: manager.key.id as string,
    manager: client(manager.secret),
  };
}
export type Everything = Awaited<ReturnType<typeof everything>>;

/** The request that skips the event that a chat is stuck at. */
async function skipRequest({ api, chatId, webhookId }: Everything): Promise<[string, object]> {
  // The chat learns of the webhook with its report.
  await runDurableObjectAlarm(env.CHATS.getByName(chatId));
  await send(api, chatId);
  const path = `/webhooks/${webhookId}/chats/${chatId}`;
  const { body } = await admin("GET", path);
  return [`${path}/skip`, { eventId: body.head?.eventId }];
}

/**
 * Who can act: the operator below /admin/v1, and keys below /api/v1, where the organization is not in the path.
 */
export const ACTORS = {
  operator: { prefix: "/admin/v1", client: (): Client => admin, pathOf: (path: string) => path },
  key: {
    prefix: "/api/v1",
    client: ({ manager }: Everything): Client => manager,
    pathOf: (path: string) => path.replace(/^\/organizations\/[^/]+/, ""),
  },
} as const;
export type ActorName = keyof typeof ACTORS;

type Body = Record<string, { id: string }>;

/** An act, as the operator asks for it. */
export type Act = [
  action: AuditAction,
  method: string,
  route: string,
  request: (ids: Everything) => [string, object?] | Promise<[string, object]>,
  targetOf: (body: Body, ids: Everything) => string | null | undefined,
  /** Who can do it. */
  actors?: ActorName[],
];

const OPERATOR: ActorName[] = ["operator"];

/** Every act that leaves an entry in the audit log. */
export const ACTS: Act[] = [
  [
    "organization.create",
    "POST",
    "/organizations",
    () => ["/organizations", { name: "Acme", owner: { name: "Ada" } }],
    (body) => body.organization?.id,
    OPERATOR,
  ],
  [
    "organization.update",
    "PATCH",
    "/organizations/:id",
    (ids) => [`/organizations/${ids.organizationId}`, { limits: { chats: 5 } }],
    (_, ids) => ids.organizationId,
    OPERATOR,
  ],
  [
    "organization.delete",
    "DELETE",
    "/organizations/:id",
    (ids) => [`/organizations/${ids.organizationId}`],
    (_, ids) => ids.organizationId,
    OPERATOR,
  ],
  [
    "member.create",
    "POST",
    "/organizations/:id/members",
    (ids) => [`/organizations/${ids.organizationId}/members`, { name: "Bob" }],
    (body) => body.member?.id,
  ],
  ["member.delete", "DELETE", "/members/:id", (ids) => [`/members/${ids.memberId}`], (_, ids) => ids.memberId],
  [
    "channel.create",
    "POST",
    "/organizations/:id/channels",
    (ids) => [
      `/organizations/${ids.organizationId}/channels`,
      { kind: "telegram", name: "T", credentials: { botToken: "1:canary-token" } },
    ],
    (body) => body.channel?.id,
  ],
  [
    "channel.update",
    "PATCH",
    "/channels/:id",
    (ids) => [`/channels/${ids.telegramId}`, { credentials: { botToken: "1:canary-token" } }],
    (_, ids) => ids.telegramId,
  ],
  ["channel.delete", "DELETE", "/channels/:id", (ids) => [`/channels/${ids.channelId}`], (_, ids) => ids.channelId],
  [
    "channel.rotate",
    "POST",
    "/channels/:id/identity-secret",
    (ids) => [`/channels/${ids.channelId}/identity-secret`],
    (_, ids) => ids.channelId,
  ],
  [
    "template.create",
    "POST",
    "/organizations/:id/templates",
    (ids) => [`/organizations/${ids.organizationId}/templates`, { name: "t", language: "en", body: "canary-body" }],
    (body) => body.template?.id,
  ],
  [
    "template.update",
    "PATCH",
    "/templates/:id",
    (ids) => [`/templates/${ids.templateId}`, { body: "canary-body" }],
    (_, ids) => ids.templateId,
  ],
  [
    "template.delete",
    "DELETE",
    "/templates/:id",
    (ids) => [`/templates/${ids.templateId}`],
    (_, ids) => ids.templateId,
  ],
  [
    "chat.create",
    "POST",
    "/organizations/:id/chats",
    (ids) => [
      `/organizations/${ids.organizationId}/chats`,
      { channelId: ids.channelId, contact: { address: "canary-address" }, metadata: {} },
    ],
    (body) => body.chat?.id,
    OPERATOR,
  ],
  ["chat.delete", "DELETE", "/chats/:id", (ids) => [`/chats/${ids.chatId}`], (_, ids) => ids.chatId],
  [
    "message.redact",
    "POST",
    "/chats/:id/messages/:messageId/redact",
    (ids) => [`/chats/${ids.chatId}/messages/${ids.messageId}/redact`],
    (_, ids) => ids.messageId,
  ],
  [
    "key.create",
    "POST",
    "/organizations/:id/keys",
    (ids) => [`/organizations/${ids.organizationId}/keys`, { name: "K", ipAllowlist: ["192.0.2.77"] }],
    (body) => body.key?.id,
  ],
  [
    "key.update",
    "PATCH",
    "/keys/:id",
    (ids) => [`/keys/${ids.keyId}`, { ipAllowlist: ["192.0.2.77"] }],
    (_, ids) => ids.keyId,
  ],
  ["key.rotate", "POST", "/keys/:id/rotate", (ids) => [`/keys/${ids.keyId}/rotate`], (_, ids) => ids.keyId],
  ["key.revoke", "DELETE", "/keys/:id", (ids) => [`/keys/${ids.keyId}`], (_, ids) => ids.keyId],
  [
    "webhook.create",
    "POST",
    "/organizations/:id/webhooks",
    (ids) => [`/organizations/${ids.organizationId}/webhooks`, { url: "https://canary.test/2" }],
    (body) => body.webhook?.id,
  ],
  [
    "webhook.update",
    "PATCH",
    "/webhooks/:id",
    (ids) => [`/webhooks/${ids.webhookId}`, { url: "https://canary.test/3" }],
    (_, ids) => ids.webhookId,
  ],
  [
    "webhook.rotate",
    "POST",
    "/webhooks/:id/rotate",
    (ids) => [`/webhooks/${ids.webhookId}/rotate`],
    (_, ids) => ids.webhookId,
  ],
  [
    "webhook.ping",
    "POST",
    "/webhooks/:id/ping",
    (ids) => [`/webhooks/${ids.webhookId}/ping`],
    (_, ids) => ids.webhookId,
  ],
  [
    "webhook.enable",
    "POST",
    "/webhooks/:id/enable",
    (ids) => [`/webhooks/${ids.webhookId}/enable`],
    (_, ids) => ids.webhookId,
  ],
  [
    "webhook.disable",
    "POST",
    "/webhooks/:id/disable",
    (ids) => [`/webhooks/${ids.webhookId}/disable`],
    (_, ids) => ids.webhookId,
  ],
  [
    "webhook.replay",
    "POST",
    "/webhooks/:id/replays",
    (ids) => [`/webhooks/${ids.webhookId}/replays`, { failed: true }],
    (_, ids) => ids.webhookId,
  ],
  [
    "webhook.retry",
    "POST",
    "/webhooks/:id/chats/:chatId/retry",
    (ids) => [`/webhooks/${ids.webhookId}/chats/${ids.chatId}/retry`],
    (_, ids) => ids.webhookId,
  ],
  ["webhook.skip", "POST", "/webhooks/:id/chats/:chatId/skip", skipRequest, (_, ids) => ids.webhookId],
  ["webhook.delete", "DELETE", "/webhooks/:id", (ids) => [`/webhooks/${ids.webhookId}`], (_, ids) => ids.webhookId],
  [
    "channel.check",
    "POST",
    "/channels/:id/check",
    (ids) => [`/channels/${ids.telegramId}/check`],
    (_, ids) => ids.telegramId,
  ],
  [
    "member.update",
    "PATCH",
    "/members/:id",
    (ids) => [`/members/${ids.memberId}`, { email: "canary@acme.test" }],
    (_, ids) => ids.memberId,
  ],
  [
    "member.sign_in_link",
    "POST",
    "/members/:id/sign-in-link",
    (ids) => [`/members/${ids.memberId}/sign-in-link`],
    (_, ids) => ids.memberId,
  ],
  [
    "member.end_sessions",
    "DELETE",
    "/members/:id/sessions",
    (ids) => [`/members/${ids.memberId}/sessions`],
    (_, ids) => ids.memberId,
  ],
  [
    "channel.register",
    "POST",
    "/channels/:id/webhook",
    (ids) => [`/channels/${ids.telegramId}/webhook`],
    (_, ids) => ids.telegramId,
  ],
  [
    "organization.export",
    "GET",
    "/organizations/:id/export",
    (ids) => [`/organizations/${ids.organizationId}/export`],
    (_, ids) => ids.organizationId,
  ],
  ["chat.export", "GET", "/chats/:id/export", (ids) => [`/chats/${ids.chatId}/export`], (_, ids) => ids.chatId],
  [
    "chat.search",
    "GET",
    "/organizations/:id/chats",
    (ids) => [`/organizations/${ids.organizationId}/chats?search=canary`],
    () => null,
  ],
  [
    "message.search",
    "GET",
    "/chats/:id/messages",
    (ids) => [`/chats/${ids.chatId}/messages?search=canary`],
    (_, ids) => ids.chatId,
    ["key"],
  ],
];
