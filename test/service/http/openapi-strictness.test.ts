import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { DOCUMENTS, faultsOfBody } from "../../support/documents.ts";
import { call, newChat, newKey, newOrganization } from "../../support/harness.ts";

let paths: Record<"chats" | "messages" | "channels" | "keys", string>;
let secret: string;
let channelId: string;
beforeAll(async () => {
  const organization = await newOrganization();
  channelId = organization.channelId;
  secret = (await newKey(organization.organizationId)).secret;
  const chat = await newChat(organization.api, channelId);
  const operators = `/admin/v1/organizations/${organization.organizationId}`;
  paths = {
    chats: "/api/v1/chats",
    messages: `/api/v1/chats/${chat.id}/messages`,
    channels: `${operators}/channels`,
    keys: `${operators}/keys`,
  };
});

/** A request of a caller who can make it. */
function post(path: string, body: object) {
  const token = path.startsWith("/admin") ? env.ADMIN_TOKEN : secret;
  return call("POST", path, { body, headers: { Authorization: `Bearer ${token}` } });
}

const message = (mediaUrl: string) => ["messages", { content: "Look", type: "IMAGE", mediaUrl }] as const;
const chat = (name: string) => ["chats", { channelId: "", contact: { address: "ada", name } }] as const;
const site = (origin: string) =>
  ["channels", { kind: "web", name: "Site", settings: { allowedOrigins: [origin] } }] as const;
const key = (rule: string) => ["keys", { name: "Key", ipAllowlist: [rule] }] as const;
const whatsapp = (credentials: object) => {
  const all = { phoneNumberId: "15550001111", accessToken: "an-access-token", appSecret: "an-app-secret" };
  return ["channels", { kind: "whatsapp", name: "W", credentials: { ...all, ...credentials } }] as const;
};

/** The body, with the test's own channel. */
const filled = (body: object) => ("channelId" in body ? { ...body, channelId } : body);

test.each([
  message("http://files.example/a.png"),
  message("files.example/a.png"),
  message(" https://files.example/a.png"),
  message("https://files.example/a b.png"),
  message("https://"),
  chat(" "),
  chat(""),
  site("https://shop.example/"),
  site("shop.example"),
  site("https://*.shop.example"),
  site(" https://shop.example"),
  key("everywhere"),
  key("192.0.2"),
  key("192.0.2.1/"),
  key("192.0.2.1/24/8"),
  key("fe80::1%eth0"),
  whatsapp({ accessToken: "1234567" }),
  whatsapp({ appSecret: "1234567" }),
  whatsapp({ phoneNumberId: "+1555" }),
])("a value that the server refuses is invalid in the document: %s %j", async (name, body) => {
  expect((await post(paths[name], filled(body))).status).toBe(400);
  expect(faultsOfBody("POST", paths[name], filled(body))).not.toEqual([]);
});

// `call` compares the accepted request to the document.
test.each([
  message("https://files.example/a.png?b=c#d"),
  message("HTTPS://files.example/ä.png"),
  chat("Ada"),
  site("https://shop.example"),
  site("http://localhost:8080"),
  site("http://[::1]:8080"),
  key("192.0.2.1"),
  key("192.0.2.0/24"),
  key("2001:DB8::/32"),
  key("::ffff:192.0.2.1"),
  key("::"),
  whatsapp({ accessToken: "12345678", appSecret: "12345678" }),
])("a value that the server accepts is valid in the document: %s %j", async (name, body) => {
  expect([200, 201]).toContain((await post(paths[name], filled(body))).status);
});

test("no field has a list of types, except with null: generators don't support one", () => {
  const lists = [...JSON.stringify(DOCUMENTS).matchAll(/"type":\[([^\]]*)\]/g)].map(([, types = ""]) => types);
  expect(lists.length).toBeGreaterThan(0);
  expect(lists.filter((types) => !/^"\w+","null"$/.test(types))).toEqual([]);
});
