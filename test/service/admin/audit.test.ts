import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { breakDirectory, breakObjects, loseWrites, OUTAGES } from "../../support/faults.ts";
import {
  admin,
  created,
  expectError,
  newChannel,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";

/** No receiver accepts an event. */
beforeEach(() => void vi.stubGlobal("fetch", async () => new Response(null, { status: 500 })));

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** One resource of every kind, with secrets that a later assertion can search for. */
async function everything() {
  const organization = await newOrganization();
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
  return {
    ...organization,
    chatId: chat.id,
    messageId: message.id,
    templateId: template.id as string,
    memberId: member.id as string,
    telegramId,
    webhookId: webhook.id as string,
  };
}
type Everything = Awaited<ReturnType<typeof everything>>;

/** The request that skips the event that a chat is stuck at. */
async function skipRequest({ api, chatId, webhookId }: Everything): Promise<[string, object]> {
  // The chat learns of the webhook with its report.
  await runDurableObjectAlarm(env.CHATS.getByName(chatId));
  await send(api, chatId);
  const path = `/webhooks/${webhookId}/chats/${chatId}`;
  const { body } = await admin("GET", path);
  return [`${path}/skip`, { eventId: body.head?.eventId }];
}

/** The log lines of a call. Attempts of webhooks are made at any time. */
async function linesOf(run: () => ReturnType<typeof admin>) {
  const log = vi.spyOn(console, "log");
  const answer = await run();
  const lines = log.mock.calls
    .map(([line]): Record<string, unknown> => (typeof line === "string" ? JSON.parse(line) : line))
    .filter(({ event }) => event !== "webhook_attempt");
  log.mockRestore();
  return { answer, lines, audits: lines.filter((line) => line.event === "audit") };
}

type Body = Record<string, { id: string }>;

/** Each write: its method, its registered path, its request, and the id in its line. */
const WRITES: [
  string,
  string,
  (ids: Everything) => [string, object?] | Promise<[string, object]>,
  (body: Body, ids: Everything) => string | null | undefined,
][] = [
  [
    "POST",
    "/organizations",
    () => ["/organizations", { name: "Acme", owner: { name: "Ada" } }],
    (body) => body.organization?.id,
  ],
  [
    "PATCH",
    "/organizations/:id",
    (ids) => [`/organizations/${ids.organizationId}`, { limits: { chats: 5 } }],
    (_, ids) => ids.organizationId,
  ],
  ["DELETE", "/organizations/:id", (ids) => [`/organizations/${ids.organizationId}`], (_, ids) => ids.organizationId],
  [
    "POST",
    "/organizations/:id/members",
    (ids) => [`/organizations/${ids.organizationId}/members`, { name: "Bob" }],
    (body) => body.member?.id,
  ],
  ["DELETE", "/members/:id", (ids) => [`/members/${ids.memberId}`], (_, ids) => ids.memberId],
  [
    "POST",
    "/organizations/:id/channels",
    (ids) => [
      `/organizations/${ids.organizationId}/channels`,
      { kind: "telegram", name: "T", credentials: { botToken: "1:canary-token" } },
    ],
    (body) => body.channel?.id,
  ],
  [
    "PATCH",
    "/channels/:id",
    (ids) => [`/channels/${ids.telegramId}`, { credentials: { botToken: "1:canary-token" } }],
    (_, ids) => ids.telegramId,
  ],
  ["DELETE", "/channels/:id", (ids) => [`/channels/${ids.channelId}`], (_, ids) => ids.channelId],
  ["POST", "/channels/:id/check", (ids) => [`/channels/${ids.telegramId}/check`], (_, ids) => ids.telegramId],
  [
    "POST",
    "/channels/:id/identity-secret",
    (ids) => [`/channels/${ids.channelId}/identity-secret`],
    (_, ids) => ids.channelId,
  ],
  [
    "POST",
    "/organizations/:id/templates",
    (ids) => [`/organizations/${ids.organizationId}/templates`, { name: "t", language: "en", body: "canary-body" }],
    (body) => body.template?.id,
  ],
  [
    "PATCH",
    "/templates/:id",
    (ids) => [`/templates/${ids.templateId}`, { body: "canary-body" }],
    (_, ids) => ids.templateId,
  ],
  ["DELETE", "/templates/:id", (ids) => [`/templates/${ids.templateId}`], (_, ids) => ids.templateId],
  [
    "POST",
    "/organizations/:id/chats",
    (ids) => [
      `/organizations/${ids.organizationId}/chats`,
      { channelId: ids.channelId, contact: { address: "canary-address" } },
    ],
    (body) => body.chat?.id,
  ],
  ["DELETE", "/chats/:id", (ids) => [`/chats/${ids.chatId}`], (_, ids) => ids.chatId],
  [
    "POST",
    "/chats/:id/messages/:messageId/redact",
    (ids) => [`/chats/${ids.chatId}/messages/${ids.messageId}/redact`],
    (_, ids) => ids.messageId,
  ],
  [
    "POST",
    "/organizations/:id/keys",
    (ids) => [`/organizations/${ids.organizationId}/keys`, { name: "K", ipAllowlist: ["192.0.2.77"] }],
    (body) => body.key?.id,
  ],
  ["PATCH", "/keys/:id", (ids) => [`/keys/${ids.keyId}`, { ipAllowlist: ["192.0.2.77"] }], (_, ids) => ids.keyId],
  ["POST", "/keys/:id/rotate", (ids) => [`/keys/${ids.keyId}/rotate`], (_, ids) => ids.keyId],
  ["DELETE", "/keys/:id", (ids) => [`/keys/${ids.keyId}`], (_, ids) => ids.keyId],
  [
    "POST",
    "/organizations/:id/webhooks",
    (ids) => [`/organizations/${ids.organizationId}/webhooks`, { url: "https://canary.test/2" }],
    (body) => body.webhook?.id,
  ],
  [
    "PATCH",
    "/webhooks/:id",
    (ids) => [`/webhooks/${ids.webhookId}`, { url: "https://canary.test/3" }],
    (_, ids) => ids.webhookId,
  ],
  ["POST", "/webhooks/:id/rotate", (ids) => [`/webhooks/${ids.webhookId}/rotate`], (_, ids) => ids.webhookId],
  ["POST", "/webhooks/:id/ping", (ids) => [`/webhooks/${ids.webhookId}/ping`], (_, ids) => ids.webhookId],
  ["POST", "/webhooks/:id/enable", (ids) => [`/webhooks/${ids.webhookId}/enable`], (_, ids) => ids.webhookId],
  ["POST", "/webhooks/:id/disable", (ids) => [`/webhooks/${ids.webhookId}/disable`], (_, ids) => ids.webhookId],
  [
    "POST",
    "/webhooks/:id/replays",
    (ids) => [`/webhooks/${ids.webhookId}/replays`, { failed: true }],
    (_, ids) => ids.webhookId,
  ],
  ["POST", "/webhooks/:id/chats/:chatId/skip", skipRequest, (_, ids) => ids.webhookId],
  ["DELETE", "/webhooks/:id", (ids) => [`/webhooks/${ids.webhookId}`], (_, ids) => ids.webhookId],
  ["POST", "/reseal", () => ["/reseal"], () => null],
];

test.each(WRITES)(
  "%s %s logs one audit line with its route and id, and nothing from the request",
  async (method, route, request, idOf) => {
    const ids = await everything();
    const [path, body] = await request(ids);
    const { answer, lines, audits } = await linesOf(() => admin(method, path, body));
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(audits).toEqual([
      {
        event: "audit",
        requestId: answer.headers.get("X-Request-Id"),
        method,
        route: `/admin/v1${route}`,
        id: idOf(answer.body, ids),
      },
    ]);
    const logged = JSON.stringify(lines);
    for (const secret of ["canary", "192.0.2.77", env.ADMIN_TOKEN, answer.body.secret, answer.body.identitySecret]) {
      if (secret) expect(logged).not.toContain(secret);
    }
  },
);

const READS: [string, (ids: Everything) => string][] = [
  ["/organizations", () => "/organizations"],
  ...["", "/members", "/channels", "/templates", "/chats", "/keys", "/webhooks"].map(
    (list): [string, (ids: Everything) => string] => [
      `/organizations/:id${list}`,
      (ids) => `/organizations/${ids.organizationId}${list}`,
    ],
  ),
  ["/channels/:id", (ids) => `/channels/${ids.telegramId}`],
  ["/templates/:id", (ids) => `/templates/${ids.templateId}`],
  ["/chats/:id", (ids) => `/chats/${ids.chatId}`],
  ["/keys/:id", (ids) => `/keys/${ids.keyId}`],
  ["/keys/:id/usage", (ids) => `/keys/${ids.keyId}/usage`],
  ["/webhooks/:id", (ids) => `/webhooks/${ids.webhookId}`],
  ["/webhooks/:id/attempts", (ids) => `/webhooks/${ids.webhookId}/attempts`],
  ["/webhooks/:id/chats/:chatId", (ids) => `/webhooks/${ids.webhookId}/chats/${ids.chatId}`],
];

test("a read logs no audit line, and one line for its request", async () => {
  const ids = await everything();
  for (const [route, path] of READS) {
    const { answer, lines, audits } = await linesOf(() => admin("GET", path(ids)));
    expect(answer.status, answer.text).toBe(200);
    expect(audits).toEqual([]);
    expect(lines).toEqual([
      expect.objectContaining({ event: "request", method: "GET", route: `/admin/v1${route}`, status: 200 }),
    ]);
  }
});

test.each<[string, (ids: Everything) => string]>([
  ["organizations", (ids) => ids.organizationId],
  ["channels", (ids) => ids.channelId],
  ["chats", (ids) => ids.chatId],
])(
  "a deletion in %s that fails halfway logs one audit line, and so does the one that completes it",
  async (list, idOf) => {
    const ids = await everything();
    const route = `/admin/v1/${list}/:id`;
    breakObjects("CHATS", "erase");
    const broken = await linesOf(() => admin("DELETE", `/${list}/${idOf(ids)}`));
    vi.restoreAllMocks();
    expect(broken.answer.status).toBe(503);
    expect(broken.audits).toEqual([expect.objectContaining({ method: "DELETE", route, id: idOf(ids) })]);
    const ended = await linesOf(() => admin("DELETE", `/${list}/${idOf(ids)}`));
    expect(ended.answer.status).toBe(200);
    expect(ended.audits).toHaveLength(1);
  },
);

/** Writes without a statement in the directory, or that log their line first. */
const ELSEWHERE = [
  "/organizations/:id/chats",
  "/chats/:id",
  "/chats/:id/messages/:messageId/redact",
  "/channels/:id/check",
  "/webhooks/:id/ping",
  "/webhooks/:id/enable",
  "/webhooks/:id/disable",
  "/webhooks/:id/replays",
  "/webhooks/:id/chats/:chatId/skip",
  "/reseal",
];

test.each(
  WRITES.filter(([, route]) => !ELSEWHERE.includes(route)).flatMap(([method, route, request]) =>
    OUTAGES.map((outage) => [method, route, outage, request] as const),
  ),
)("%s %s leaves an audit line of unknown outcome if the directory's answer is lost (%s error)", async (...write) => {
  const [method, route, outage, request] = write;
  const ids = await everything();
  const [path, body] = await request(ids);
  loseWrites(outage);
  const { answer, audits } = await linesOf(() => admin(method, path, body));
  expectError(answer, 503, "unavailable");
  const requestId = answer.headers.get("X-Request-Id");
  const id = path.split("/")[2] ?? null;
  expect(audits).toEqual([{ event: "audit", requestId, method, route: `/admin/v1${route}`, id, outcome: "unknown" }]);
});

test.each([
  ["a redaction", "CHATS", "redact", "/chats/:id/messages/:messageId/redact", (ids: Everything) => ids.messageId],
  ["a chat's deletion", "ORGANIZATIONS", "deleteChat", "/chats/:id", (ids: Everything) => ids.chatId],
  ["a chat's creation", "ORGANIZATIONS", "open", "/organizations/:id/chats", (ids: Everything) => ids.organizationId],
  ["a ping", "WEBHOOKS", "ping", "/webhooks/:id/ping", (ids: Everything) => ids.webhookId],
  ["enabling a webhook", "WEBHOOKS", "enable", "/webhooks/:id/enable", (ids: Everything) => ids.webhookId],
  ["disabling a webhook", "WEBHOOKS", "disable", "/webhooks/:id/disable", (ids: Everything) => ids.webhookId],
  ["a replay", "WEBHOOKS", "replay", "/webhooks/:id/replays", (ids: Everything) => ids.webhookId],
  ["a skip", "CHATS", "skipEvent", "/webhooks/:id/chats/:chatId/skip", (ids: Everything) => ids.webhookId],
] as const)(
  "%s whose response is lost logs an audit line with the outcome unknown",
  async (_name, namespace, method, route, idOf) => {
    const ids = await everything();
    const write = WRITES.find(([, written]) => written === route);
    const [path, body] = (await write?.[2](ids)) ?? [""];
    breakObjects(namespace, method);
    const { answer, audits } = await linesOf(() => admin(write?.[0] ?? "", path, body));
    expectError(answer, 503, "unavailable");
    expect(audits).toEqual([expect.objectContaining({ id: idOf(ids), outcome: "unknown" })]);
  },
);

test("a failed read logs no audit line", async () => {
  const { organizationId } = await everything();
  breakDirectory("bare");
  for (const method of ["GET", "HEAD"]) {
    const { answer, audits } = await linesOf(() => admin(method, `/organizations/${organizationId}`));
    expect([answer.status, audits]).toEqual([503, []]);
  }
});

test("a failed call without the operator's token logs no audit line", async () => {
  const bindings = { ADMIN_TOKEN: "" };
  const { answer, audits } = await linesOf(() => admin("POST", "/organizations", {}, bindings));
  expect([answer.status, audits]).toEqual([503, []]);
});

test("a refused write logs no audit line", async () => {
  const { ownerId, organizationId, keyId } = await newOrganization();
  await admin("DELETE", `/keys/${keyId}`);
  const refused: [string, string, object?][] = [
    ["DELETE", `/members/${ownerId}`],
    ["POST", `/organizations/${organizationId}/members`, {}],
    ["POST", `/keys/${keyId}/rotate`],
    ["DELETE", "/chats/cht_gaaaaaaaaaaaaaaa"],
    ["PATCH", "/templates/tpl_gaaaaaaaaaaaaaaa", { name: "New" }],
  ];
  for (const [method, path, body] of refused) {
    const { answer, audits } = await linesOf(() => admin(method, path, body));
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
    expect(audits).toEqual([]);
  }
});

test("a request to the public API logs no audit line", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const { audits } = await linesOf(() => api("POST", "/chats", { channelId, contact: { address: "someone" } }));
  expect(audits).toEqual([]);
  expect((await newKey(organizationId)).key.id).toMatch(/^key_/);
});
