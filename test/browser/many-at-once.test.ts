import { expect, inject, test } from "vitest";

// Requests share calls only where one may wait for another's promise: the service as `npm start` runs it, not the
// runtime of the other tests.

type Call = (method: string, path: string, body?: object, signal?: AbortSignal) => Promise<Response>;

function caller(prefix: string, token: string): Call {
  const { base } = inject("server");
  return (method, path, body, signal) =>
    fetch(`${base}${prefix}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}` },
      body: body ? JSON.stringify(body) : null,
      signal: signal ?? null,
    });
}

/** An organization with a chat, and a client with a key of these limits. */
async function company(limits: object) {
  const operator = caller("/admin/v1", inject("server").adminToken);
  const made = async (path: string, body: object) => (await operator("POST", path, body)).json();
  const { organization } = await made("/organizations", { name: "Acme", owner: { name: "Ann" } });
  const of = `/organizations/${organization.id}`;
  const { channel } = await made(`${of}/channels`, { kind: "web", name: "Web", settings: { allowedOrigins: [] } });
  const { secret: first } = await made(`${of}/keys`, { name: "First" });
  const opened = await caller("/api/v1", first)("POST", "/chats", {
    channelId: channel.id,
    contact: { address: "user" },
  });
  const { chat } = await opened.json();
  const { key, secret } = await made(`${of}/keys`, { name: "Busy", ...limits });
  const revoke = () => operator("DELETE", `/keys/${key.id}`);
  return { client: caller("/api/v1", secret), at: `/chats/${chat.id}/messages`, revoke };
}

function tally(values: (number | string)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

test("of 300 requests at once on a window of 100 exactly 100 pass, each with a remainder of its own", async () => {
  const { client } = await company({ rateLimit: { limit: 100, windowSeconds: 3_600 } });
  const answers = await Promise.all(Array.from({ length: 300 }, () => client("GET", "/key")));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 100, 429: 200 });
  const passed = answers.filter(({ status }) => status === 200);
  const remainders = passed.map(({ headers }) => Number(headers.get("X-RateLimit-Remaining")));
  expect(remainders.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, left) => left));
});

test("of 200 requests at once on the last units of a quota exactly as many pass", async () => {
  const { client } = await company({ monthlyQuota: 7 });
  const answers = await Promise.all(Array.from({ length: 200 }, () => client("GET", "/key")));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 7, 403: 193 });
});

test("200 sends at once are stored once each, and each is answered its own message", async () => {
  const { client, at } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const { message } = await (await client("POST", at, { content: `No. ${n}` })).json();
      return { n, message };
    }),
  );
  for (const { n, message } of answers) expect(message.content).toBe(`No. ${n}`);
  const numbers = answers.map(({ message }) => message.seq).toSorted((one, other) => one - other);
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
});

test("clients that hang up cost those that wait beside them nothing", async () => {
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
  const { messages, pagination } = await (await client("GET", `${at}?limit=100`)).json();
  expect(pagination.total).toBeGreaterThanOrEqual(100);
  expect(messages.map(({ seq }: { seq: number }) => pagination.total - seq)).toEqual(
    Array.from({ length: Math.min(100, pagination.total) }, (_, n) => n),
  );
});

test("a list that is read with others shows each send that was answered before it was asked for", async () => {
  const { client, at } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  await client("GET", at);
  const walks = Array.from({ length: 8 }, async (_, walker) => {
    for (let n = 0; n < 10; n++) {
      const { message } = await (await client("POST", at, { content: `${walker}.${n}` })).json();
      const { messages } = await (await client("GET", `${at}?limit=100`)).json();
      expect(messages.map(({ id }: { id: string }) => id)).toContain(message.id);
    }
  });
  await Promise.all(walks);
});

test("no request that begins after a revocation was answered is let in, however many are under way", async () => {
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
