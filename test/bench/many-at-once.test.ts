import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildScripts } from "./build.ts";
import { Place } from "./place.ts";
import { type Server, startServer } from "./server.ts";

// Requests share calls only where one may wait for another's promise: so in the runtime as it is deployed, not in the
// one of the other tests, and without the proxy of `wrangler dev`, which loses connections of its own in such crowds.

type Call = (method: string, path: string, body?: object, signal?: AbortSignal) => Promise<Response>;

let folder: string;
let server: Server;
let adminToken: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-many-"));
  await mkdir(join(folder, "data"));
  const secret = () => randomBytes(32).toString("base64");
  adminToken = secret();
  const secrets = { ADMIN_TOKEN: adminToken, KEY_SECRET: secret(), CREDENTIALS_KEY: secret() };
  const setup = { folder, scripts: await buildScripts(folder), secrets };
  server = await startServer(setup, { counted: false, heard: false });
  await new Place(server, adminToken).migrate();
}, 120_000);
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

function caller(prefix: string, token: string): Call {
  return (method, path, body, signal) =>
    fetch(new URL(`${prefix}${path}`, server.url("parley")), {
      method,
      headers: { Authorization: `Bearer ${token}` },
      body: body ? JSON.stringify(body) : null,
      signal: signal ?? null,
    });
}

// biome-ignore lint/suspicious/noExplicitAny: what a client reads out of an answer is what the test is about
function bodyOf(response: Response): Promise<any> {
  return response.json();
}

/** An organization with a chat, and a client with a key of these limits. */
async function company(limits: object) {
  const operator = caller("/admin/v1", adminToken);
  const made = async (path: string, body: object) => bodyOf(await operator("POST", path, body));
  const { organization } = await made("/organizations", { name: "Acme", owner: { name: "Ann" } });
  const of = `/organizations/${organization.id}`;
  const { channel } = await made(`${of}/channels`, { kind: "web", name: "Web", settings: { allowedOrigins: [] } });
  const { secret: first } = await made(`${of}/keys`, { name: "First" });
  const opened = await caller("/api/v1", first)("POST", "/chats", {
    channelId: channel.id,
    contact: { address: "user" },
  });
  const { chat } = await bodyOf(opened);
  const { key, secret } = await made(`${of}/keys`, { name: "Busy", ...limits });
  const revoke = () => operator("DELETE", `/keys/${key.id}`);
  return { client: caller("/api/v1", secret), at: `/chats/${chat.id}/messages`, revoke };
}

function tally(values: (number | string)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

test("of 300 requests at once on a window of 100 exactly 100 pass, each with a remainder of its own", {
  timeout: 30_000,
}, async () => {
  const { client } = await company({ rateLimit: { limit: 100, windowSeconds: 3_600 } });
  const answers = await Promise.all(Array.from({ length: 300 }, () => client("GET", "/key")));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 100, 429: 200 });
  const passed = answers.filter(({ status }) => status === 200);
  const remainders = passed.map(({ headers }) => Number(headers.get("X-RateLimit-Remaining")));
  expect(remainders.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, left) => left));
});

test("of 200 requests at once on the last units of a quota exactly as many pass", { timeout: 30_000 }, async () => {
  const { client } = await company({ monthlyQuota: 7 });
  const answers = await Promise.all(Array.from({ length: 200 }, () => client("GET", "/key")));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 7, 403: 193 });
});

test("200 sends at once are stored once each, and each is answered its own message", { timeout: 30_000 }, async () => {
  const { client, at } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const { message } = await bodyOf(await client("POST", at, { content: `No. ${n}` }));
      return { n, message };
    }),
  );
  for (const { n, message } of answers) expect(message.content).toBe(`No. ${n}`);
  const numbers = answers.map(({ message }) => message.seq).toSorted((one, other) => one - other);
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
});

test("clients that hang up cost those that wait beside them nothing", { timeout: 30_000 }, async () => {
  const { client, at } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  const hanging = new AbortController();
  const requests = Array.from({ length: 150 }, (_, n) => {
    const hangsUp = n % 3 === 0;
    const answer = client("POST", at, { content: `No. ${n}` }, hangsUp ? hanging.signal : undefined);
    return answer.then(({ status }) => status).catch(() => "hung up");
  });
  // The first answer says that they are under way.
  await Promise.race(requests);
  hanging.abort();
  const statuses = await Promise.all(requests);
  expect(statuses.filter((_, n) => n % 3 !== 0)).toEqual(Array(100).fill(201));
  const { messages, pagination } = await bodyOf(await client("GET", `${at}?limit=100`));
  expect(pagination.total).toBeGreaterThanOrEqual(100);
  expect(messages.map(({ seq }: { seq: number }) => pagination.total - seq)).toEqual(
    Array.from({ length: Math.min(100, pagination.total) }, (_, n) => n),
  );
});

test("a list that is read with others shows each send that was answered before it was asked for", {
  timeout: 30_000,
}, async () => {
  const { client, at } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  await client("GET", at);
  const walks = Array.from({ length: 8 }, async (_, walker) => {
    for (let n = 0; n < 10; n++) {
      const { message } = await bodyOf(await client("POST", at, { content: `${walker}.${n}` }));
      const { messages } = await bodyOf(await client("GET", `${at}?limit=100`));
      expect(messages.map(({ id }: { id: string }) => id)).toContain(message.id);
    }
  });
  await Promise.all(walks);
});

test("no request that begins after a revocation was answered is let in, however many are under way", {
  timeout: 30_000,
}, async () => {
  const { client, at, revoke } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  await client("GET", at);
  let revoked = false;
  const late: number[] = [];
  const busy = Array.from({ length: 8 }, async () => {
    for (let status = 200; status === 200; ) {
      const isLate = revoked;
      ({ status } = await client("GET", at));
      if (isLate) late.push(status);
    }
  });
  await client("GET", at);
  expect((await revoke()).status).toBe(200);
  revoked = true;
  late.push((await client("GET", at)).status);
  await Promise.all(busy);
  expect(new Set(late)).toEqual(new Set([401]));
});
