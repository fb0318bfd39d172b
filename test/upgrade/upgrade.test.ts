import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type TelegramServer, telegramServer } from "../fakes/telegram-server.ts";
import { Server } from "../storm/server.ts";
import { until } from "../storm/storm.ts";
import { databases, fileOfObject, restoreAll, shapeOf } from "./dump.ts";
import { ADDRESSES, BOT_TOKEN, INBOUND, type Told } from "./told.ts";

/** The versions whose data is kept, the earliest first; the last one has the schema of today. */
const VERSIONS = ["first", "delivery", "parts", "stats"];
const NEWEST = "stats";

const root = new URL("../..", import.meta.url).pathname;
const folderOf = (version: string) => new URL(`fixtures/${version}`, import.meta.url).pathname;
const toldBy = (version: string): Told => JSON.parse(readFileSync(`${folderOf(version)}/told.json`, "utf8"));
const PATIENCE_MS = 60_000;
vi.setConfig({ testTimeout: 2 * PATIENCE_MS });

/** This service on an earlier version's data. */
class Upgraded {
  readonly told: Told;
  readonly telegram: TelegramServer;
  readonly server: Server;

  constructor(told: Told, telegram: TelegramServer, server: Server) {
    this.told = told;
    this.telegram = telegram;
    this.server = server;
  }

  static async open(version: string): Promise<Upgraded> {
    const told = toldBy(version);
    const telegram = await telegramServer({ token: BOT_TOKEN });
    const vars = { ...told.vars, TELEGRAM_API_BASE: telegram.base };
    const server = await Server.begin(vars, (state) => restoreAll(folderOf(version), state));
    return new Upgraded(told, telegram, server);
  }

  async close(): Promise<void> {
    await this.server.end();
    await this.telegram.close();
  }

  async call(token: string, method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const response = await fetch(`${this.server.base}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...headers },
      body: body ? JSON.stringify(body) : null,
    });
    // biome-ignore lint/suspicious/noExplicitAny: whatever is expected of it
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  }

  api(method: string, path: string, body?: object, headers?: Record<string, string>) {
    return this.call(this.told.secret, method, `/api/v1${path}`, body, headers);
  }

  admin(method: string, path: string, body?: object) {
    return this.call(this.server.adminToken, method, `/admin/v1${path}`, body);
  }

  /** The texts that Telegram took for a contact. */
  heard(address: string): string[] {
    const calls = this.telegram.calls.filter(({ answered, body }) => answered === 200 && body.chat_id === address);
    return calls.map(({ body }) => String(body.text));
  }
}

describe.each(VERSIONS)("on data of the version `%s`", (version) => {
  let at: Upgraded;
  beforeAll(async () => {
    at = await Upgraded.open(version);
  }, 120_000);
  afterAll(() => at?.close());

  test("lists, pages and cursors are what they were", async () => {
    for (const { path, answer } of at.told.answers) {
      const now = await at.api("GET", path);
      expect([path, now.status]).toEqual([path, 200]);
      expect(now.body, path).toMatchObject(answer);
    }
    const { chats, pagination } = (await at.api("GET", "/chats")).body;
    const known = [at.told.siteChat, ...Object.values(at.told.chats)];
    expect(chats.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(known));
    expect(pagination.total).toBe(known.length + Number(at.told.isHeard));
  });

  test("keys are admitted with what they have used, and those that were revoked are not", async () => {
    const { status, body } = await at.api("GET", "/key");
    expect(status).toBe(200);
    if (body.usage.month === at.told.usage.month) expect(body.usage.used).toBeGreaterThan(at.told.usage.used);
    expect((await at.call(at.told.revoked, "GET", "/api/v1/key")).status).toBe(401);
  });

  test("an idempotency key answers with its message", async () => {
    const { body, message } = at.told.keyed;
    const path = `/chats/${at.told.siteChat}/messages`;
    const again = await at.api("POST", path, body, { "Idempotency-Key": "once" });
    expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([201, "true"]);
    expect(again.body.message).toMatchObject(message);
    const other = await at.api("POST", path, { content: "Another" }, { "Idempotency-Key": "once" });
    expect(other.status).toBe(422);
  });

  // The first version did not deliver: what waited in it goes with the next message.
  test("what waits is delivered once and in order, what was sent is not sent again, and a new message comes next", async () => {
    const { chats, line } = at.told;
    const wasSent = line.find(({ chatId }) => chatId === chats[ADDRESSES.sent])?.status === "SENT";
    const heard = {
      [ADDRESSES.sent]: [...(wasSent ? [] : [`First to ${ADDRESSES.sent}`]), "New"],
      [ADDRESSES.waits]: [`First to ${ADDRESSES.waits}`, `Second to ${ADDRESSES.waits}`, "New"],
    };
    for (const [address, texts] of Object.entries(heard)) {
      const path = `/chats/${chats[address]}/messages`;
      const sent = await at.api("POST", path, { content: "New" });
      const { length } = line.filter(({ chatId }) => chatId === chats[address]);
      expect([sent.status, sent.body.message.seq]).toEqual([201, length + 1]);
      await until(async () => at.heard(address).length >= texts.length, PATIENCE_MS);
      expect(at.heard(address)).toEqual(texts);
      const isSent = async () => (await at.api("GET", path)).body.messages.every(hasLeft);
      expect(await until(isSent, PATIENCE_MS)).toBe(true);
    }
  });

  test("a channel that its network refuses sends what waited once it has other credentials", async () => {
    const { chats, refusedId } = at.told;
    await at.api("POST", `/chats/${chats[ADDRESSES.refused]}/messages`, { content: "New" });
    const isBroken = async () =>
      (await at.admin("GET", `/channels/${refusedId}`)).body.channel.health.state === "broken";
    expect(await until(isBroken, PATIENCE_MS)).toBe(true);
    const patch = { credentials: { botToken: BOT_TOKEN } };
    expect((await at.admin("PATCH", `/channels/${refusedId}`, patch)).status).toBe(200);
    await until(async () => at.heard(ADDRESSES.refused).length > 1, PATIENCE_MS);
    expect(at.heard(ADDRESSES.refused)).toEqual([`First to ${ADDRESSES.refused}`, "New"]);
  });

  test("what a contact wrote is one message, though the network tells of it again", async () => {
    const { webhook } = (await at.admin("GET", `/channels/${at.told.botId}`)).body.channel;
    const { pathname } = new URL(webhook.url);
    at.telegram.webhook = { url: `${at.server.base}${pathname}`, secret: webhook.verifyToken };
    expect(await at.telegram.deliver(INBOUND)).toBe(200);
    const { chats } = (await at.api("GET", `/chats?contact=${INBOUND.chat.id}`)).body;
    const { messages } = (await at.api("GET", `/chats/${chats[0].id}/messages`)).body;
    expect(messages.map(({ content }: { content: string }) => content)).toEqual([INBOUND.text]);
  });

  test("alarms that were set ring: the last activity reaches the list of chats", async () => {
    const { siteChat, answers } = at.told;
    const told = answers.find(({ path }) => path === `/chats/${siteChat}`)?.answer as {
      chat: { lastMessageAt: string };
    };
    const isListed = async () => {
      const { chats } = (await at.api("GET", `/chats?contact=grace`)).body;
      return chats[0].lastMessageAt === told.chat.lastMessageAt;
    };
    expect(await until(isListed, PATIENCE_MS)).toBe(true);
  });

  test("the schema is that of data which begins today, column by column", async () => {
    const { organizationId, siteChat, webId, keyId } = at.told;
    const of = `/organizations/${organizationId}`;
    const { channel } = (await at.admin("POST", `${of}/channels`, { kind: "web", name: "New" })).body;
    const { key, secret } = (await at.admin("POST", `${of}/keys`, { name: "New" })).body;
    const contact = { address: "new" };
    const { chat } = (await at.call(secret, "POST", "/api/v1/chats", { channelId: channel.id, contact })).body;
    await at.call(secret, "POST", `/api/v1/chats/${chat.id}/messages`, { content: "New" });
    const { state } = at.server;
    const shapeOfObject = async (name: string) => shapeOf(await fileOfObject(state, name));
    const hasHeard = async () => "activity" in (await shapeOfObject(channel.id).catch(() => ({})));
    expect(await until(hasHeard, PATIENCE_MS)).toBe(true);
    expect(await shapeOfObject(siteChat)).toEqual(await shapeOfObject(chat.id));
    expect(await shapeOfObject(webId)).toEqual(await shapeOfObject(channel.id));
    expect(await shapeOfObject(keyId)).toEqual(await shapeOfObject(key.id));
    expect(shapeOf(await directoryOf(state))).toEqual(migrated());
    // Who changes the schema adds a version to those whose data is kept.
    const kept = await mkdtemp(join(tmpdir(), "parley-kept-"));
    onTestFinished(() => rm(kept, { recursive: true }));
    await restoreAll(folderOf(NEWEST), kept);
    expect(shapeOf(await fileOfObject(kept, toldBy(NEWEST).siteChat))).toEqual(await shapeOfObject(chat.id));
    expect(shapeOf(await directoryOf(kept))).toEqual(migrated());
  });
});

const hasLeft = ({ status }: { status: string }) => status === "SENT";

async function directoryOf(state: string): Promise<string> {
  const path = (await databases(state)).find((each) => each.includes("/d1/") && !each.includes("metadata"));
  if (!path) throw new Error("There is no directory");
  return join(state, path);
}

/** The directory as the migrations make it. */
function migrated() {
  const folder = `${root}migrations/`;
  const database = new DatabaseSync(":memory:");
  for (const name of readdirSync(folder)
    .filter((each) => each.endsWith(".sql"))
    .sort()) {
    database.exec(readFileSync(`${folder}${name}`, "utf8"));
  }
  return shapeOf(database);
}
