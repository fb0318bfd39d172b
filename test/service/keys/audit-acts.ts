import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { AuditAction } from "../../../src/model/audit-action.ts";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { runAlarm } from "../../support/alarms.ts";
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
import { until } from "../../support/until.ts";

/** No receiver accepts an event, Telegram registers every webhook, and WhatsApp has no templates. */
export function fakePlatforms(): void {
  vi.stubGlobal("fetch", async (input: RequestInfo) => {
    const url = input instanceof Request ? input.url : input;
    if (url.includes("message_templates")) return Response.json({ data: [] });
    return url.includes("setWebhook") ? Response.json({ ok: true, result: true }) : new Response(null, { status: 500 });
  });
}

/** What acts name besides the organization, its key and web channel, a chat with a message, and the key that acts. */
const MAKERS = {
  templateId: (at) => made(at, "templates", "template", { name: "t", language: "en", body: "Hi" }),
  replyId: (at) => made(at, "replies", "reply", { name: "r", content: "Hi" }),
  labelId: (at) => made(at, "labels", "label", { name: "l" }),
  memberId: (at) => made(at, "members", "member", { name: "Bob" }),
  telegramId: (at) => newChannel(at, "telegram"),
  whatsappId: async (at) => {
    const id = await newChannel(at, "whatsapp");
    await admin("PATCH", `/channels/${id}`, { settings: { wabaId: "1" } });
    return id;
  },
  webhookId: (at) => made(at, "webhooks", "webhook", { url: "https://receiver.test/1" }),
} satisfies Record<string, (organizationId: string) => Promise<string>>;
type MadeId = keyof typeof MAKERS;

async function made(organizationId: string, list: string, resource: string, body: object): Promise<string> {
  return created(await admin("POST", `/organizations/${organizationId}/${list}`, body))[resource].id;
}

/**
 * One resource of every kind, with texts that a later assertion can search for, and a key that manages them.
 * @param wanted makes only these of `MAKERS`. To read another id is an error.
 */
export async function everything(wanted: readonly string[] = Object.keys(MAKERS)) {
  const organization = await newOrganization({ selfService: {} });
  const { api, organizationId, channelId } = organization;
  const chat = await newChat(api, channelId);
  const message = await send(api, chat.id, { content: "canary-content" });
  const ids = {} as Record<MadeId, string>;
  for (const [name, make] of Object.entries(MAKERS)) {
    const value = wanted.includes(name) ? await make(organizationId) : null;
    const get = () => {
      if (value === null) throw new Error(`${name} was not made`);
      return value;
    };
    Object.defineProperty(ids, name, { get, enumerable: true });
  }
  const manager = await newKey(organizationId, { name: "Manager", permissions: [...PERMISSIONS] });
  return Object.assign(ids, {
    ...organization,
    chatId: chat.id,
    messageId: message.id,
    managerId: manager.key.id as string,
    manager: client(manager.secret),
  });
}
export type Everything = Awaited<ReturnType<typeof everything>>;

/**
 * Who can act: the operator below /admin/v1, and keys below /api/v1, where the organization is not in the path.
 */
export const ACTORS = {
  operator: { prefix: "/admin/v1", client: (): Client => admin, pathOf: (path: string) => path },
  key: {
    prefix: "/api/v1",
    client: ({ manager }: Everything): Client => manager,
    pathOf: (path: string) =>
      path.replace(/^\/organizations\/[^/]+$/, "/organization").replace(/^\/organizations\/[^/]+/, ""),
  },
} as const;
export type ActorName = keyof typeof ACTORS;

/** An act, as the operator asks for it. */
export interface Act {
  action: AuditAction;
  method: string;
  route: string;
  /** The ids in its path. */
  names: string[];
  request: (ids: Everything) => Promise<[path: string, body?: object]>;
  targetOf: (body: Record<string, { id: string }>, ids: Everything) => string | null | undefined;
  /** Who can do it. */
  actors: ActorName[];
}

/** The name of a resource's id. */
type IdName = Extract<keyof Everything, `${string}Id`>;

interface More {
  body?: object | ((ids: Everything) => object | Promise<object>);
  /** What the entry names; for a creation what it made, and else what the path names first. */
  target?: IdName | null;
  /** The operator and keys, unless it says otherwise. */
  actors?: ActorName[];
}

/** @param asked the method and the path, with the names of ids: `PATCH /members/:memberId` */
function act(action: AuditAction, asked: string, { body, target, actors = ["operator", "key"] }: More = {}): Act {
  const [method = "", path = ""] = asked.split(" ");
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as IdName);
  const named = target === undefined ? names[0] : target;
  const [resource = "", verb] = action.split(".");
  return {
    action,
    method,
    route: path.replace(/:\w+/, ":id").replace(/\?.*/, ""),
    names,
    request: async (ids) => [
      path.replace(/:(\w+)/g, (_, name: IdName) => ids[name]),
      typeof body === "function" ? await body(ids) : body,
    ],
    targetOf: (answer, ids) => (verb === "create" ? answer[resource]?.id : named && ids[named]),
    actors,
  };
}

/** Names the event that the chat is stuck at. */
async function stuckEvent({ api, chatId, webhookId }: Everything): Promise<object> {
  // The chat learns of the webhook with its report.
  await runAlarm(env.CHATS.getByName(chatId));
  await send(api, chatId);
  const line = async () => (await admin("GET", `/webhooks/${webhookId}/chats/${chatId}`)).body;
  const { head } = await until("the webhook has an event of the chat", line, (body) => body.head);
  return { eventId: head.eventId };
}

const credentials = { botToken: "1:canary-token" };

/** Every act that leaves an entry in the audit log. */
export const ACTS: Act[] = [
  act("organization.create", "POST /organizations", {
    body: { name: "Acme", owner: { name: "Ada" } },
    actors: ["operator"],
  }),
  act("organization.update", "PATCH /organizations/:organizationId", {
    body: { assignOnAnswer: true },
  }),
  act("organization.delete", "DELETE /organizations/:organizationId", { actors: ["operator"] }),
  act("organization.export", "GET /organizations/:organizationId/export"),

  act("member.create", "POST /organizations/:organizationId/members", { body: { name: "Bob" } }),
  act("member.update", "PATCH /members/:memberId", { body: { email: "canary@acme.test" } }),
  act("member.sign_in_link", "POST /members/:memberId/sign-in-link"),
  act("member.end_sessions", "DELETE /members/:memberId/sessions"),
  act("member.delete", "DELETE /members/:memberId"),

  act("channel.create", "POST /organizations/:organizationId/channels", {
    body: { kind: "telegram", name: "T", credentials },
  }),
  act("channel.update", "PATCH /channels/:telegramId", { body: { credentials } }),
  act("channel.check", "POST /channels/:telegramId/check"),
  act("channel.register", "POST /channels/:telegramId/webhook"),
  act("channel.rotate", "POST /channels/:channelId/identity-secret"),
  act("channel.delete", "DELETE /channels/:channelId"),

  act("template.create", "POST /organizations/:organizationId/templates", {
    body: { name: "t", language: "en", body: "canary-body" },
  }),
  act("template.update", "PATCH /templates/:templateId", { body: { body: "canary-body" } }),
  act("template.sync", "POST /channels/:whatsappId/templates/sync"),
  act("template.delete", "DELETE /templates/:templateId"),

  act("reply.create", "POST /organizations/:organizationId/replies", { body: { name: "r", content: "canary-body" } }),
  act("reply.update", "PATCH /replies/:replyId", { body: { content: "canary-body" } }),
  act("reply.delete", "DELETE /replies/:replyId"),

  act("label.create", "POST /organizations/:organizationId/labels", { body: { name: "canary-body" } }),
  act("label.update", "PATCH /organizations/:organizationId/labels/:labelId", {
    body: { name: "canary-body" },
    target: "labelId",
  }),
  act("label.delete", "DELETE /organizations/:organizationId/labels/:labelId", { target: "labelId" }),

  act("chat.create", "POST /organizations/:organizationId/chats", {
    body: ({ channelId }) => ({ channelId, contact: { address: "canary-address" }, metadata: {} }),
    actors: ["operator"],
  }),
  act("chat.search", "GET /organizations/:organizationId/chats?search=canary", { target: null }),
  act("chat.export", "GET /chats/:chatId/export"),
  act("chat.delete", "DELETE /chats/:chatId"),
  act("message.search", "GET /chats/:chatId/messages?search=canary", { actors: ["key"] }),
  act("message.redact", "POST /chats/:chatId/messages/:messageId/redact", { target: "messageId" }),

  act("key.create", "POST /organizations/:organizationId/keys", {
    body: { name: "K", ipAllowlist: ["192.0.2.77"] },
  }),
  act("key.update", "PATCH /keys/:keyId", { body: { ipAllowlist: ["192.0.2.77"] } }),
  act("key.rotate", "POST /keys/:keyId/rotate"),
  act("key.revoke", "DELETE /keys/:keyId"),

  act("webhook.create", "POST /organizations/:organizationId/webhooks", { body: { url: "https://canary.test/2" } }),
  act("webhook.update", "PATCH /webhooks/:webhookId", { body: { url: "https://canary.test/3" } }),
  act("webhook.rotate", "POST /webhooks/:webhookId/rotate"),
  act("webhook.ping", "POST /webhooks/:webhookId/ping"),
  act("webhook.enable", "POST /webhooks/:webhookId/enable"),
  act("webhook.disable", "POST /webhooks/:webhookId/disable"),
  act("webhook.replay", "POST /webhooks/:webhookId/replays", { body: { failed: true } }),
  act("webhook.retry", "POST /webhooks/:webhookId/retry"),
  act("webhook.retry", "POST /webhooks/:webhookId/chats/:chatId/retry"),
  act("webhook.skip", "POST /webhooks/:webhookId/chats/:chatId/skip", { body: stuckEvent }),
  act("webhook.delete", "DELETE /webhooks/:webhookId"),
];
