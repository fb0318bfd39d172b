import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import {
  admin,
  created,
  expectError,
  expectFaults,
  newChannel,
  newChat,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const paths = (answer: { body: { errors: { path: string }[] } }) =>
  answer.body.errors.map((fault) => fault.path).sort();

const TELEGRAM = { botToken: "123456:telegram-secret-wxyz" };
const WHATSAPP = { phoneNumberId: "15550009876", accessToken: "whatsapp-token-abcd", appSecret: "app-secret-efgh" };

async function post(body: object) {
  const { organizationId } = await newOrganization();
  return { organizationId, answer: await admin("POST", `/organizations/${organizationId}/channels`, body) };
}

test.each([
  ["telegram", TELEGRAM, { botToken: "wxyz" }, { perSecond: 25 }],
  ["whatsapp", WHATSAPP, { phoneNumberId: "9876", accessToken: "abcd", appSecret: "efgh" }, { perSecond: 80 }],
] as const)(
  "a %s channel is returned with its webhook and the last characters of its credentials",
  async (kind, credentials, ends, settings) => {
    const { organizationId, answer } = await post({ kind, name: "Support", credentials });
    const { channel } = created(answer);
    expect(answer.body).toEqual({
      channel: {
        id: expect.stringMatching(/^chn_g[0-9A-Za-z]{15}$/),
        organizationId,
        kind,
        name: "Support",
        settings,
        limits: { chats: null, origins: 20 },
        retentionDays: null,
        credentials: ends,
        webhook: {
          url: `https://parley.test/hooks/${kind}/${channel.id}`,
          verifyToken: expect.stringMatching(/^[0-9A-Za-z]{32}$/),
        },
        health: { state: "ok", reason: null, since: channel.createdAt, isVerified: false, warnings: [], unknown: {} },
        createdAt: TIME,
      },
    });
    expect((await admin("GET", `/channels/${channel.id}`)).body).toEqual({ channel });
    const listed = (await admin("GET", `/organizations/${organizationId}/channels`)).body.channels;
    expect(listed).toContainEqual(channel);
  },
);

test("a web channel has no credentials and no webhook, and its identity secret is shown once", async () => {
  const { organizationId, answer } = await post({ kind: "web", name: "Site" });
  expect(created(answer)).toEqual({
    channel: {
      id: expect.stringMatching(/^chn_g/),
      organizationId,
      kind: "web",
      name: "Site",
      settings: { allowedOrigins: [], uploads: "everyone", hideWhenClosed: false, askContact: "never" },
      limits: { chats: null, origins: 20 },
      retentionDays: null,
      health: { state: "ok", reason: null, since: TIME, isVerified: true, warnings: [], unknown: {} },
      createdAt: TIME,
    },
    identitySecret: expect.stringMatching(/^[0-9A-Za-z]{32}$/),
  });
  const { channel, identitySecret } = answer.body;
  const later = [
    await admin("GET", `/channels/${channel.id}`),
    await admin("GET", `/organizations/${organizationId}/channels`),
    await admin("PATCH", `/channels/${channel.id}`, { name: "Shop" }),
    await admin("DELETE", `/channels/${channel.id}`),
  ];
  for (const { status, text } of later) {
    expect(status).toBe(200);
    expect(text).not.toContain(identitySecret);
  }
});

test("every channel gets its own verify token", async () => {
  const { organizationId } = await newOrganization();
  const ids = await Promise.all([1, 2, 3].map(() => newChannel(organizationId, "telegram")));
  const channels = await Promise.all(ids.map((id) => admin("GET", `/channels/${id}`)));
  expect(new Set(channels.map(({ body }) => body.channel.webhook.verifyToken)).size).toBe(3);
});

test.each<[object, string[]]>([
  [{ kind: "telegram", name: "T", credentials: { botToken: "no token" } }, ["credentials.botToken"]],
  [{ kind: "telegram", name: "T", credentials: "x" }, ["credentials"]],
  [
    { kind: "whatsapp", name: "W", credentials: {} },
    ["credentials.accessToken", "credentials.appSecret", "credentials.phoneNumberId"],
  ],
  [
    { kind: "web", name: "S", settings: { allowedOrigins: ["https://a.test", "https://a.test/path"] } },
    ["settings.allowedOrigins.1"],
  ],
  [{ kind: "web", name: "S", settings: { allowedOrigins: "*" } }, ["settings.allowedOrigins"]],
  [{ kind: "telegram", name: "T", credentials: TELEGRAM, settings: { perSecond: 0 } }, ["settings.perSecond"]],
  [{ kind: "signal", name: "S" }, ["kind"]],
  [{ kind: "web", name: "x".repeat(257) }, ["name"]],
])("POST channel %j is a 400 for %j", async (body, faults) => {
  const { answer } = await post(body);
  expectError(answer, 400, "validation_failed");
  expect(paths(answer)).toEqual(faults);
});

test.each([
  [{ kind: "web" }, "name is required"],
  [{ name: "Site" }, "kind is required"],
  [{ kind: "telegram", name: "Bot" }, "credentials.botToken is required"],
  [{ kind: "telegram", name: "Bot", credentials: { botToken: null } }, "credentials.botToken is required"],
  [{ kind: "whatsapp", name: "W", credentials: { ...WHATSAPP, appSecret: " " } }, "credentials.appSecret is required"],
])("POST channel %j returns: %s", async (body, text) => {
  const { answer } = await post(body);
  expect([answer.status, answer.body]).toEqual([400, { error: text, code: "missing_field" }]);
});

test("a web channel's settings are stored, and one that changes leaves the others", async () => {
  const allowedOrigins = ["https://a.test", "http://localhost:3000"];
  const { answer } = await post({ kind: "web", name: "Site", settings: { allowedOrigins } });
  const { id, settings } = created(answer).channel;
  expect(settings).toMatchObject({ allowedOrigins, uploads: "everyone" });
  const patch = async (body: object) => (await admin("PATCH", `/channels/${id}`, body)).body.channel.settings;
  expect(await patch({ settings: { uploads: "verified" } })).toMatchObject({ allowedOrigins, uploads: "verified" });
  expect(await patch({ settings: { uploads: null } })).toMatchObject({ allowedOrigins, uploads: "everyone" });
});

test.each<[object, string]>([
  [{ credentials: { botToken: "no token" } }, "credentials.botToken"],
  [{ settings: { perSecond: 1_001 } }, "settings.perSecond"],
  [{ settings: 7 }, "settings"],
  [{ name: 7 }, "name"],
])("PATCH channel %j is a 400 for %s and changes nothing", async (body, path) => {
  const { organizationId } = await newOrganization();
  const id = await newChannel(organizationId, "telegram");
  const before = (await admin("GET", `/channels/${id}`)).body;
  const answer = await admin("PATCH", `/channels/${id}`, { name: "New", ...body });
  expectError(answer, 400, "validation_failed");
  expect(paths(answer)).toEqual([path]);
  expect((await admin("GET", `/channels/${id}`)).body).toEqual(before);
});

test("a PATCH leaves other credentials, settings, the token and the kind, and ignores unknown fields", async () => {
  const { answer } = await post({ kind: "whatsapp", name: "W", credentials: WHATSAPP, settings: { perSecond: 9 } });
  const { channel } = created(answer);
  expect(channel.settings).toEqual({ perSecond: 9 });
  const changed = await admin("PATCH", `/channels/${channel.id}`, {
    ...{ kind: "web", id: "chn_gaaaaaaaaaaaaaaa", organizationId: "org_x", health: {} },
    name: "New",
    credentials: { accessToken: "another-token-1234" },
  });
  const after = { ...channel, name: "New", credentials: { ...channel.credentials, accessToken: "1234" } };
  const warnings = ["kind", "id", "organizationId", "health"].map((name) => `${name} is not a field`);
  expect([changed.status, changed.body]).toEqual([200, { channel: after, warnings }]);
  expect((await admin("PATCH", `/channels/${channel.id}`, {})).body).toEqual({ channel: after });
});

const UNFIT = [
  "caf\u00e9-token-abcd",
  "two words-abcd",
  "line\nbreak-abcd",
  "a-nul-\0-token",
  "\ud83d\ude00-token-abcd",
];
const FIELDS = [
  ["telegram", "botToken", { fields: TELEGRAM, start: "123456:" }],
  ["whatsapp", "accessToken", { fields: WHATSAPP, start: "" }],
  ["whatsapp", "appSecret", { fields: WHATSAPP, start: "" }],
  ["whatsapp", "phoneNumberId", { fields: WHATSAPP, start: "1555" }],
] as const;

test.each(FIELDS)("a %s channel accepts only visible ASCII as its %s", async (kind, field, { fields, start }) => {
  const { organizationId, answer } = await post({ kind, name: "Support", credentials: fields });
  const { channel } = created(answer);
  for (const unfit of UNFIT) {
    const credentials = { ...fields, [field]: start + unfit };
    const answers = [
      await admin("POST", `/organizations/${organizationId}/channels`, { kind, name: "Support", credentials }),
      await admin("PATCH", `/channels/${channel.id}`, { credentials: { [field]: start + unfit } }),
      await admin("PATCH", `/channels/${channel.id}`, { credentials }),
    ];
    for (const refused of answers) expectFaults(refused, `credentials.${field}`);
  }
  expect((await admin("GET", `/channels/${channel.id}`)).body.channel).toEqual(channel);
});

test.each(FIELDS)("a %s channel removes the white space around its %s", async (kind, field, { fields }) => {
  const calls = fakeNetworks();
  const { organizationId, api } = await newOrganization();
  const value = (fields as Record<string, string>)[field] ?? "";
  const credentials = { ...fields, [field]: ` \t${value}\r\n` };
  const body = { kind, name: "Support", credentials };
  const { channel } = created(await admin("POST", `/organizations/${organizationId}/channels`, body));
  expect(channel.credentials[field]).toBe(value.slice(-4));
  const patched = await admin("PATCH", `/channels/${channel.id}`, { credentials });
  expect(patched.body.channel.credentials).toEqual(channel.credentials);

  const chat = await newChat(api, channel.id, "4915112345678");
  await send(api, chat.id);
  await runAlarm(env.CHATS.getByName(chat.id));
  const where = kind === "telegram" ? TELEGRAM.botToken : WHATSAPP.phoneNumberId;
  const token = kind === "telegram" ? TELEGRAM.botToken : WHATSAPP.accessToken;
  expect(calls.map((call) => [call.token, call.url.includes(`${where}/`)])).toEqual([[token, true]]);
});
