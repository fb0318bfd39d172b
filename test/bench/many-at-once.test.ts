import { afterAll, beforeAll, expect, test } from "vitest";
import { createChannel, createChat, createKey, createOrganization } from "../support/world/factories.ts";
import { type Service, startService } from "../support/world/service.ts";

// Requests share calls only in the runtime as deployed. The other tests' runtime doesn't allow it, and the proxy of
// `wrangler dev` loses connections under this load.

let service: Service;
beforeAll(async () => {
  service = await startService({ objectsApart: true });
});
afterAll(() => service.stop());

/** An organization with a chat, and a client with a key with these limits. */
async function company(limits: object) {
  const { world } = service;
  const organization = await createOrganization(world);
  const chat = await createChat(await createChannel(organization));
  const { id, secret } = await createKey(organization, limits);
  return {
    client: (method: string, path: string, body?: object, sent?: Parameters<typeof world.call>[4]) =>
      world.call(secret, method, `/api/v1${path}`, body, sent),
    at: `/chats/${chat.id}/messages`,
    revoke: () => world.call(world.adminToken, "DELETE", `/admin/v1/keys/${id}`),
  };
}

function tally(values: (number | string)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

test("of 300 concurrent requests in a window of 100, exactly 100 pass, and no two get the same remainder", async () => {
  const { client } = await company({ rateLimit: { limit: 100, windowSeconds: 3_600 } });
  const answers = await Promise.all(Array.from({ length: 300 }, () => client("GET", "/key")));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 100, 429: 200 });
  const passed = answers.filter(({ status }) => status === 200);
  const remainders = passed.map(({ headers }) => Number(headers.get("X-RateLimit-Remaining")));
  expect(remainders.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, left) => left));
});

test("of 200 concurrent requests for the last units of a quota, exactly as many pass", async () => {
  const { client } = await company({ monthlyQuota: 7 });
  const answers = await Promise.all(Array.from({ length: 200 }, () => client("GET", "/key")));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 7, 403: 193 });
});

test("200 concurrent sends are each stored once, and each gets its own message", async () => {
  const { client, at } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const { message } = (await client("POST", at, { content: `No. ${n}` })).body;
      return { n, message };
    }),
  );
  for (const { n, message } of answers) expect(message.content).toBe(`No. ${n}`);
  const numbers = answers.map(({ message }) => message.seq).toSorted((one, other) => one - other);
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
});

test("of 200 concurrent sends with one Idempotency-Key, one stores a message, and the others are its replays", async () => {
  const { client, at } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  const headers = { "Idempotency-Key": "order-7" };
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => client("POST", at, { content: "Hello" }, { headers })),
  );
  expect(tally(answers.map(({ status }) => status))).toEqual({ 201: 200 });
  expect(tally(answers.map((answer) => String(answer.headers.get("Idempotent-Replayed"))))).toEqual({
    null: 1,
    true: 199,
  });
  expect(new Set(answers.map(({ body }) => body.message.id)).size).toBe(1);
  expect((await client("GET", at)).body.pagination.total).toBe(1);
});

test("clients that disconnect don't affect the ones that wait with them", async () => {
  const { client, at } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  const hanging = new AbortController();
  const requests = Array.from({ length: 150 }, (_, n) => {
    const hangsUp = n % 3 === 0;
    const answer = client("POST", at, { content: `No. ${n}` }, hangsUp ? { signal: hanging.signal } : {});
    return answer.then(({ status }) => status).catch(() => "hung up");
  });
  // The first response shows that they are in progress.
  await Promise.race(requests);
  hanging.abort();
  const statuses = await Promise.all(requests);
  expect(statuses.filter((_, n) => n % 3 !== 0)).toEqual(Array(100).fill(201));
  const { messages, pagination } = (await client("GET", `${at}?limit=100`)).body;
  expect(pagination.total).toBeGreaterThanOrEqual(100);
  expect(messages.map(({ seq }: { seq: number }) => pagination.total - seq)).toEqual(
    Array.from({ length: Math.min(100, pagination.total) }, (_, n) => n),
  );
});

test("a list that shares its read with others contains every send that was confirmed before it", async () => {
  const { client, at } = await company({ rateLimit: { limit: 10_000, windowSeconds: 60 } });
  await client("GET", at);
  const walks = Array.from({ length: 8 }, async (_, walker) => {
    for (let n = 0; n < 10; n++) {
      const { message } = (await client("POST", at, { content: `${walker}.${n}` })).body;
      const { messages } = (await client("GET", `${at}?limit=100`)).body;
      expect(messages.map(({ id }: { id: string }) => id)).toContain(message.id);
    }
  });
  await Promise.all(walks);
});

test("no request that starts after a confirmed revocation is accepted, however many are in progress", async () => {
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
