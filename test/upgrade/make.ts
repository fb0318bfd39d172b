// Makes a fixture: runs the service as it was at a commit, has it store a little of everything, and dumps its data.
//   node --no-warnings test/upgrade/make.ts <commit> <name>
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../src/cli/local/port.ts";
import { answers as healthy } from "../../src/cli/wrangler.ts";
import { telegramServer } from "../fakes/telegram-server.ts";
import { databases, dumpOf, fileOf } from "./dump.ts";
import { ADDRESSES, BOT_TOKEN, INBOUND } from "./told.ts";

const root = new URL("../..", import.meta.url).pathname;

const [commit, name] = process.argv.slice(2);
if (!commit || !name) throw new TypeError("make.ts <commit> <name>");
const folder = await mkdtemp(join(tmpdir(), "parley-upgrade-"));
const state = join(folder, "data");
const telegram = await telegramServer({ token: BOT_TOKEN });
const secret = () => randomBytes(32).toString("base64");
const vars: Record<string, string> = { ADMIN_TOKEN: secret(), KEY_SECRET: secret(), CREDENTIALS_KEY: secret() };
const port = await freePort(0, "127.0.0.1");
const base = `http://127.0.0.1:${port}`;

async function call(token: string, method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...headers },
    body: body ? JSON.stringify(body) : null,
  });
  const told = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(told)}`);
  // biome-ignore lint/suspicious/noExplicitAny: whatever that version answered
  return told as any;
}

/** Has the old version store what every later one must be able to go on with; what it answered is what must hold. */
async function fill() {
  const admin = (method: string, path: string, body?: object) =>
    call(vars.ADMIN_TOKEN ?? "", method, `/admin/v1${path}`, body);
  const { organization, member } = await admin("POST", "/organizations", { name: "Acme", owner: { name: "Ada" } });
  const of = `/organizations/${organization.id}`;
  const { channel: web } = await admin("POST", `${of}/channels`, { kind: "web", name: "Site" });
  const telegramOf = (botToken: string) => ({ kind: "telegram", name: "Bot", credentials: { botToken } });
  const { channel: bot } = await admin("POST", `${of}/channels`, telegramOf(BOT_TOKEN));
  const { channel: refused } = await admin(
    "POST",
    `${of}/channels`,
    telegramOf("123456:refused-refused-refused-refused-ref"),
  );
  const template = { name: "order", language: "en", body: "Order {{number}} is on its way" };
  const { template: order } = await admin("POST", `${of}/templates`, template);
  const { key, secret } = await admin("POST", `${of}/keys`, { name: "Shop", monthlyQuota: 1_000 });
  const revoked = await admin("POST", `${of}/keys`, { name: "Old" });
  await admin("DELETE", `/keys/${revoked.key.id}`);
  const api = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
    call(secret, method, `/api/v1${path}`, body, headers);
  const chatOf = async (channelId: string, address: string): Promise<string> =>
    (await api("POST", "/chats", { channelId, contact: { address, name: "Grace" }, metadata: { plan: "gold" } })).chat
      .id;
  const send = async (chatId: string, content: string): Promise<string> =>
    (await api("POST", `/chats/${chatId}/messages`, { content })).message.id;

  const siteChat = await chatOf(web.id, "grace");
  const messages = `/chats/${siteChat}/messages`;
  for (let n = 1; n <= 6; n++) await send(siteChat, `Message ${n}`);
  const keyed = { content: "Order", templateId: order.id, variables: { number: 7 } };
  const first = await api("POST", messages, keyed, { "Idempotency-Key": "once" });
  await admin("POST", `${messages}/${await send(siteChat, "A secret")}/redact`);

  // One that went out, where this version delivers; two that the network is too busy for; one that it refuses.
  const chats: Record<string, string> = {};
  for (const [address, channelId] of [
    [ADDRESSES.sent, bot.id],
    [ADDRESSES.waits, bot.id],
    [ADDRESSES.refused, refused.id],
  ] as const) {
    chats[address] = await chatOf(channelId, address);
    await send(chats[address], `First to ${address}`);
    if (address === ADDRESSES.sent) await delay(1_000);
    telegram.weather = async ({ body }) => (body.chat_id === ADDRESSES.refused ? undefined : { status: 502 });
  }
  await send(chats[ADDRESSES.waits] ?? "", `Second to ${ADDRESSES.waits}`);
  if (bot.webhook) telegram.webhook = { url: bot.webhook.url, secret: bot.webhook.verifyToken };
  const isHeard = bot.webhook ? (await telegram.deliver(INBOUND)) === 200 : false;

  // The channels' objects have heard of it. Of what comes then they hear no more: the chats' own alarms stand.
  while ((await databases(state)).filter((path) => path.includes("ChannelObject")).length < 4) await delay(50);
  await send(siteChat, "The last");
  const pages = [
    `${messages}?limit=3`,
    `${messages}?limit=3&page=2`,
    `${messages}?limit=2&before=${first.message.id}`,
    `${messages}?limit=2&after=${first.message.id}`,
    `${messages}/${first.message.id}`,
    `/chats/${siteChat}`,
  ];
  const answers = await Promise.all(pages.map(async (path) => ({ path, answer: await api("GET", path) })));
  const line = await Promise.all(Object.values(chats).map((id) => api("GET", `/chats/${id}/messages`)));
  const { usage } = await api("GET", "/key");
  return {
    organizationId: organization.id,
    ownerId: member.id,
    webId: web.id,
    botId: bot.id,
    refusedId: refused.id,
    keyId: key.id,
    secret,
    revoked: revoked.secret,
    siteChat,
    chats,
    keyed: { body: keyed, message: first.message },
    answers,
    line: line.flatMap((page) => page.messages),
    isHeard,
    usage,
  };
}

let child: ChildProcess | null = null;
try {
  execFileSync("sh", ["-c", `git archive ${commit} | tar -x -C ${folder}`], { cwd: root });
  // The visitors' page stores nothing: it need not be built, with packages that are there no more.
  const config = await readFile(join(folder, "wrangler.toml"), "utf8");
  await writeFile(join(folder, "wrangler.toml"), config.replace(/^command = .*/m, 'command = "mkdir -p dist/web"'));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const place = { config: join(folder, "wrangler.toml"), state };
  const order = { place, port, vars: { ...vars, TELEGRAM_API_BASE: telegram.base }, migrates: true };
  const script = join(root, "test/storm/server-process.ts");
  const args = ["--no-warnings", script, JSON.stringify(order)];
  child = spawn(process.execPath, args, { cwd: folder, detached: true, stdio: ["pipe", "inherit", "inherit"] });
  await started(child);
  const told = await fill();
  process.kill(-(child.pid ?? 0), "SIGKILL");
  await once(child, "exit");
  child = null;
  const target = new URL(`fixtures/${name}/`, import.meta.url).pathname;
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  for (const path of await databases(state)) await writeFile(join(target, fileOf(path)), dumpOf(join(state, path)));
  await writeFile(join(target, "told.json"), `${JSON.stringify({ commit, vars, ...told }, null, 1)}\n`);
} finally {
  if (child?.pid) process.kill(-child.pid, "SIGKILL");
  await telegram.close();
  await rm(folder, { recursive: true, force: true });
}

/** Waits until it answers. */
async function started(server: ChildProcess): Promise<void> {
  const died = once(server, "exit").then(() => Promise.reject(new Error("The server ended")));
  await Promise.race([healthy(base, AbortSignal.timeout(120_000)), died]);
  died.catch(() => {});
}
