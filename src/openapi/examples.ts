import type * as z from "zod";
import { MAX_ORIGINS } from "../channels/web/spec.ts";
import { AT as at, CHAT, LABEL, MESSAGE, NOTE } from "../model/example.ts";
import { ROW_CEILINGS } from "../model/organization.ts";
import { PERMISSIONS, PRESETS } from "../model/permission.ts";
import type * as operator from "./operator/resources.ts";
import type * as stats from "./operator/stats-resources.ts";
import type * as resources from "./resources.ts";

/** The example of each resource in the documents. */
type Example<Schema extends z.ZodType> = z.output<Schema>;

const chat: Example<typeof resources.chatSchema> = CHAT;
const message: Example<typeof resources.messageSchema> = MESSAGE;
const note: Example<typeof resources.noteSchema> = NOTE;

const event = {
  id: "evt_gT2sYbQ0aLw9XcRk0Vx3kQ2a2",
  type: "message.created" as const,
  timestamp: at,
  organizationId: "org_gB71nqYx0sKd5JtV",
  chatId: chat.id,
  channelId: chat.channel.id,
  channelKind: chat.channel.kind,
  contactAddress: chat.contact.address,
  number: 2,
  data: { messageId: message.id, seq: message.seq, message },
};

const cursor = "WzEsIjBWeDNrUTJhIiwxNywzXQ";

const pagination: Example<typeof resources.paginationSchema> = {
  page: 1,
  limit: 20,
  total: 1,
  totalPages: 1,
  hasMore: false,
};

const chatsPagination: Example<typeof resources.chatsPaginationSchema> = { ...pagination, cursor: null };

const organization: Example<typeof operator.organizationSchema> = {
  id: "org_gB71nqYx0sKd5JtV",
  name: "Acme",
  jurisdiction: null,
  region: "weur",
  limits: { chats: null, ...ROW_CEILINGS },
  selfService: { maxKeys: 10, maxPerSecond: 100, monthlyQuota: 1_000_000 },
  assignOnAnswer: false,
  temporary: false,
  createdAt: at,
  search: { state: "on", done: 0, total: 0 },
};

const member: Example<typeof operator.memberSchema> = {
  id: "mbr_gWq6pR2nVt70HsdE",
  organizationId: organization.id,
  name: "Ada",
  publicName: null,
  email: "ada@acme.example",
  permissions: [...PRESETS.agent],
  passkeys: 1,
  createdBy: "operator",
  createdAt: at,
  lastSeenAt: at,
};

const leftBehind: Example<typeof operator.leftBehindSchema> = {
  keys: [],
  members: [{ id: "mbr_gWq6pR2nVt70HsdE", name: "Ada" }],
  links: [],
  sessions: [{ memberId: "mbr_gWq6pR2nVt70HsdE", expiresAt: "2026-12-20T10:00:17.062Z" }],
  passkeys: [{ id: "psk_g4hV8nB1zQw6Lk3T", memberId: "mbr_gWq6pR2nVt70HsdE", name: "Laptop" }],
  webhooks: [{ id: "whk_gQ7dMv2Lx0aTsE5p", url: "https://acme.example/webhooks" }],
  identitySecrets: [],
  hasMore: false,
};

const key: Example<typeof resources.keySchema> = {
  id: "key_gR5tUo92MxEw4CbN",
  organizationId: organization.id,
  name: "Shop",
  permissions: [...PERMISSIONS],
  ipAllowlist: ["192.0.2.0/24"],
  rateLimit: { limit: 300, windowSeconds: 60 },
  monthlyQuota: 100_000,
  draftsOnly: false,
  region: null,
  expiresAt: null,
  revokedAt: null,
  previousSecretExpiresAt: null,
  createdBy: "operator",
  createdAt: at,
};

/** Stands for an API key. No real key has this form. */
const secret = "ply_…";

const usage: Example<typeof resources.usageSchema> = {
  month: "2026-11",
  used: 1_204,
  quota: 100_000,
  window: { limit: 300, remaining: 299, reset: "2026-11-20T10:01:17.062Z" },
};

const channel: Example<typeof operator.channelSchema> = {
  id: chat.channel.id,
  organizationId: organization.id,
  kind: "whatsapp",
  name: "Support",
  settings: { perSecond: 80 },
  limits: { chats: null, origins: MAX_ORIGINS },
  retentionDays: null,
  credentials: { phoneNumberId: "1111", accessToken: "wxyz", appSecret: "9f3a" },
  webhook: {
    url: `https://parley.example/hooks/whatsapp/${chat.channel.id}`,
    verifyToken: "k3Xw0aYb81LmQzTk3Xw0aYb81LmQzTw9",
  },
  health: { state: "ok", reason: null, since: at, isVerified: true, warnings: [], unknown: {} },
  createdAt: at,
};

const template: Example<typeof operator.templateSchema> = {
  id: "tpl_gHs8Kd03LqPz6YvA",
  organizationId: organization.id,
  name: "order_shipped",
  language: "en",
  body: "Hello {{name}}, your order has shipped.",
  variables: ["name"],
  wabaId: "102290129340398",
  components: [
    { type: "BODY", text: "Hello {{name}}, your order has shipped." },
    { type: "BUTTONS", buttons: [{ type: "URL", text: "Track it", url: "https://shop.example/orders/{{1}}" }] },
  ],
  parameterFormat: "NAMED",
  network: {
    id: "594425479261596",
    status: "APPROVED",
    category: "UTILITY",
    quality: "GREEN",
    rejectedReason: null,
    syncedAt: at,
  },
  createdAt: at,
  updatedAt: at,
};

const reply: Example<typeof operator.replySchema> = {
  id: "rpl_gZ5nTc81WvXy3KdB",
  name: "Where is my order",
  shortcut: "where",
  content: "Hello {{contact.name}}, {{metadata.order|your order}} has shipped. {{member.name}}",
  updatedAt: at,
  createdBy: member.id,
};

const label: Example<typeof operator.labelSchema> = {
  ...LABEL,
  color: "#2f80ed",
  chats: 3,
};

const queue: Example<typeof operator.queueSchema> = {
  depth: 1,
  oldest: at,
  nextAttemptAt: "2026-11-20T10:00:19.062Z",
  lastError: { code: "http_503", message: "Service Unavailable" },
};

const channelStats: Example<typeof stats.channelStatsSchema> = {
  id: channel.id,
  organizationId: organization.id,
  kind: channel.kind,
  name: channel.name,
  health: { ...channel.health, nextProbeAt: null },
  queue: { depth: 1, oldest: at, ageSeconds: 3 },
  chats: 2_310,
  unanswered: 4,
  withBot: 12,
  handovers: { bot_asked: 41, asked: 3, took_over: 17, bot_silent: 2, bot_gone: 0 },
  attempts: { sent: 48_210, retry: 12, failed: 31, unknown: 2, moved: 0, channel_broken: 0 },
  received: 39_114,
  updatedAt: "2026-11-20T10:00:20.114Z",
};

const memberStats: Example<typeof stats.memberStatsSchema> = {
  id: member.id,
  organizationId: organization.id,
  name: member.name,
  chats: 12,
  unanswered: 3,
};

const labelStats: Example<typeof stats.labelStatsSchema> = {
  ...LABEL,
  chats: 3,
  counted: {
    ...{ open: 1, snoozed: 0, closed: 2, unanswered: 1, received: 9, sent: 7, answers: 4 },
    classes: { within1m: 1, within5m: 2, within15m: 1, within1h: 0, within4h: 0, within24h: 0, later: 0 },
    responseTimes: { medianSeconds: 108, p90Seconds: 749 },
  },
};

const keyStats: Example<typeof stats.keyStatsSchema> = {
  id: key.id,
  organizationId: organization.id,
  name: key.name,
  admitted: 51_877,
  refused: { invalid_api_key: 0, ip_not_allowed: 0, permission_denied: 3, rate_limited: 140, quota_exceeded: 0 },
  updatedAt: "2026-11-20T10:00:05.002Z",
};

const keyHistory: Example<typeof stats.keyHistorySchema> = {
  id: key.id,
  organizationId: organization.id,
  name: key.name,
  by: "day",
  buckets: [{ start: "2026-11-20T00:00:00.000Z", admitted: 1_877, refused: { ...keyStats.refused, rate_limited: 4 } }],
};

export const examples = {
  chat,
  message,
  note,
  event,
  cursor,
  pagination,
  chatsPagination,
  organization,
  member,
  leftBehind,
  key,
  secret,
  usage,
  channel,
  template,
  reply,
  label,
  queue,
  channelStats,
  labelStats,
  keyStats,
  memberStats,
  keyHistory,
};
