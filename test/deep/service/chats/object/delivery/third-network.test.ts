import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { fileKey } from "../../../../../../src/calls/file-bucket.ts";
import type { Adapter } from "../../../../../../src/channels/network/adapter.ts";
import * as registry from "../../../../../../src/channels/registry.ts";
import type { ChatIdentity } from "../../../../../../src/model/chat-answers.ts";
import { typeOfFile } from "../../../../../../src/model/file.ts";
import type { Outgoing } from "../../../../../../src/model/network.ts";
import { reader } from "../../../../../service/inbound/fixtures.ts";
import { runAlarm } from "../../../../../support/alarms.ts";
import { created, expectError, expectFaults, newKey, newOrganization } from "../../../../../support/harness.ts";
import { gate } from "../../../../../support/until.ts";

/** Whether no pigeon takes off. */
let rain: ReturnType<typeof gate> | null = null;
/** What the pigeons carried away, and from where. */
const carried: { message: Outgoing; ring: string; base: string; bytes: string | null }[] = [];

const pigeon: Adapter<Outgoing> = {
  credentials: z.object({ ringNumber: z.string().check(z.minLength(8)) }),
  settings: z.object({}),
  defaults: { perSecond: 1_000 },
  address: (text) => (text.startsWith("loft ") ? text : null),
  addressError: "must be a loft",
  renderingOf: () => "text",
  takes: (file, type) => (file.size > 20 && type !== "DOCUMENT" ? "is too heavy for a pigeon" : null),
  base: { variable: "PIGEON_API_BASE" as never, defaultUrl: "https://pigeon.test" },
  unknownWaitMs: 0,
  render: (message) => [message],
  async post(message, { ringNumber = "" }, { base }, _signal, files) {
    const { body } = message;
    const file = body.kind === "media" && "file" in body.source ? await files.open(body.source.file.id) : null;
    const bytes = file && typeof file === "object" ? await new Response(file.body).text() : file;
    await rain?.pass();
    carried.push({ message, ring: ringNumber, base, bytes });
    return { outcome: "sent", id: "p1", addresses: [] };
  },
  async receive({ headers, readBody }, _credentials, verifyToken) {
    if (headers.get("X-Ring") !== verifyToken) return { genuine: false };
    const { id, loft, note } = JSON.parse(new TextDecoder().decode(await readBody()));
    const written = { networkId: id, address: loft, addresses: [], name: null, content: note, media: null };
    return {
      genuine: true,
      items: [{ account: null, item: { kind: "message", type: "TEXT", ...written } }],
      notes: [],
    };
  },
  handshake: async (query, verifyToken) => (query.get("ring") === verifyToken ? "coo" : null),
  registerWebhook: async (url, _verifyToken, _credentials, { base }) => {
    return { ok: true, code: null, description: `${base} calls ${url}` };
  },
  media: async () => ({ outcome: "expired", finalAfterDays: null }),
};

// The runtime has loaded the Worker before any test: its objects share the registry, the app is loaded again with it.
Object.assign(registry.ADAPTERS, { pigeon });
vi.resetModules();
vi.doMock("../../../../../../src/channels/registry.ts", () => registry);
const harness = await import("../../../../../support/harness.ts");
const { documents } = await import("../../../../../../src/openapi/documents.ts");
(await import("../../../../../support/documents.ts")).compareTo(documents("1"));

const admin = (method: string, path: string, body?: object) => harness.admin(method, path, body, {});
const call: typeof harness.call = (method, path, how) => harness.call(method, path, { ...how, bindings: {} });

/** An organization with a channel of the pigeons'. */
async function dovecote() {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId);
  const api = (method: string, path: string, body?: unknown) =>
    call(method, `/api/v1${path}`, { body, headers: { Authorization: `Bearer ${secret}` } });
  const asked = { kind: "pigeon", name: "Pigeons", credentials: { ringNumber: "DV-01234-567" } };
  const { channel } = created(await admin("POST", `/organizations/${organizationId}/channels`, asked));
  return { organizationId, api, channel, ...reader({ api }, channel.id) };
}

test("a network that is in the registry alone has channels, with credentials and addresses of its own", async () => {
  const { organizationId, api, channel } = await dovecote();
  expect(channel).toMatchObject({
    kind: "pigeon",
    settings: { perSecond: 1_000 },
    credentials: { ringNumber: "-567" },
    webhook: { url: `https://parley.test/hooks/pigeon/${channel.id}` },
  });
  const wrong = { kind: "pigeon", name: "Pigeons", credentials: { ringNumber: "short" } };
  expectFaults(await admin("POST", `/organizations/${organizationId}/channels`, wrong), "credentials.ringNumber");
  const chat = { channelId: channel.id, contact: { address: "a roof" } };
  expectFaults(await api("POST", "/chats", chat), "contact.address");
});

test("a network that is in the registry alone shakes hands, and is told where to call", async () => {
  const { channel } = await dovecote();
  const path = `/hooks/pigeon/${channel.id}`;
  const shaken = await call("GET", `${path}?ring=${channel.webhook.verifyToken}`);
  expect([shaken.status, shaken.text]).toEqual([200, "coo"]);
  expectError(await call("GET", `${path}?ring=wrong`), 403, "handshake_refused");
  const { body } = await admin("POST", `/channels/${channel.id}/webhook`);
  const url = `https://parley.test${path}`;
  expect(body.webhook).toEqual({ url, ok: true, code: null, description: `https://pigeon.test calls ${url}` });
});

test("a network that is in the registry alone brings messages, and carries the answers", async () => {
  const { api, channel, chat, texts } = await dovecote();
  const body = { id: "n1", loft: "loft 7", note: "Rain" };
  const flyIn = (ring: string) => call("POST", `/hooks/pigeon/${channel.id}`, { body, headers: { "X-Ring": ring } });
  expectError(await flyIn("wrong"), 401, "webhook_not_genuine");
  expect((await flyIn(channel.webhook.verifyToken)).status).toBe(200);
  expect(await texts()).toEqual({ "loft 7": ["Rain"] });
  const { id } = await chat();
  created(await api("POST", `/chats/${id}/messages`, { content: "Come home" }));
  await runAlarm(env.CHATS.getByName(id));
  const message = { chatId: id, address: "loft 7", body: { kind: "text", text: "Come home" } };
  expect(carried).toMatchObject([{ message, ring: "DV-01234-567", base: "https://pigeon.test" }]);
  const [answer] = (await api("GET", `/chats/${id}/messages`)).body.messages;
  expect(answer).toMatchObject({ content: "Come home", status: "SENT" });
  const list = await api("GET", "/chats?channel=pigeon");
  expect(list.status, list.text).toBe(200);
  expect(list.body.pagination.total).toBe(1);
});

test("a network that is in the registry alone says which files it takes, and gets their bytes", async () => {
  const { api, channel } = await dovecote();
  const { id } = created(await api("POST", "/chats", { channelId: channel.id, contact: { address: "loft 8" } })).chat;
  const path = `/chats/${id}/messages`;
  rain = gate("the pigeon");
  created(await api("POST", path, { content: "Come home" }));
  const link = "https://parley.test/a.txt";
  created(await api("POST", path, { type: "DOCUMENT", content: link, mediaUrl: link }));
  const file = { fileId: "med_g0123456789ABCDE", contentType: "text/plain", size: 5, fileName: "a.txt" };
  const object = env.CHATS.getByName(id);
  const life = await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec(
      "update messages set media = ? where seq = 2",
      JSON.stringify({ ...file, width: null, height: null }),
    );
    return storage.kv.get<ChatIdentity>("lean")?.life ?? 0;
  });
  await env.MEDIA.put(fileKey({ chatId: id, life, mediaId: file.fileId }), "seeds");
  rain.open();
  await runAlarm(object);
  expect(carried.at(-1)).toMatchObject({
    bytes: "seeds",
    message: { body: { source: { file: { fileName: "a.txt" } } } },
  });
  expect(typeOfFile({ ...file, contentType: "image/png", width: 1, height: 1 }, pigeon)).toBe("IMAGE");
  expect(typeOfFile({ ...file, contentType: "image/png", size: 21, width: 1, height: 1 }, pigeon)).toBe("DOCUMENT");
});
