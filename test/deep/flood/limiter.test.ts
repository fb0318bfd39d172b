import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hashOf, newKeyText } from "../../../src/keys/key-text.ts";
import type { KeyObject } from "../../../src/keys/object/key-object.ts";
import type { Admission } from "../../../src/keys/rpc.ts";
import type { WellFormedKey } from "../../../src/keys/well-formed-key.ts";
import { type Answer, admin, client, newKey, newOrganization } from "../../support/harness.ts";
import { Random } from "../storm/random.ts";

const SEED = Number(env.TEST_SEED || Math.trunc(Math.random() * 2 ** 31));
const FULL = env.TEST_REQUESTS !== "";
const WINDOWS = FULL ? 10 : 2;
const SECONDS = [1, 10, 60, 300, 3_600];
const LOADS = [0.9, 1, 1.5, 10];
/** The smallest, the largest, and some between: 100 combinations. */
const LIMITS = FULL ? [1, 7, 100, 999, 1_000] : [1, 20, 1_000];
/** The maximum number of requests in a window. Larger loads come in groups of units. */
const ASKS = FULL ? 200 : 40;
/** The share of the limit that an eviction can cost. */
const BLOCK = 0.05;

const random = new Random(SEED);
const CELLS = SECONDS.flatMap((seconds) =>
  LIMITS.flatMap((limit) => LOADS.map((load) => ({ seconds, load, limit: limit === 1_000 ? limit * seconds : limit }))),
);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-02T00:00:00.000Z") });
  vi.spyOn(console, "log").mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The combinations whose response headers are all compared. */
const HEADED: Cell[] = [
  { limit: 1, seconds: 1, load: 3 },
  { limit: 10, seconds: 10, load: 0.9 },
  { limit: 9, seconds: 60, load: 2 },
  { limit: 21, seconds: 3_600, load: 1.1 },
];

interface Cell {
  limit: number;
  seconds: number;
  load: number;
}

/** Asks a key's object directly for this many units at each of these times, one after the other. */
function askAll(
  object: DurableObjectStub<KeyObject>,
  { id, hash }: WellFormedKey,
  asks: { at: number; units: number }[],
) {
  return runInDurableObject(object, async (key) => {
    const answers: Admission[] = [];
    for (const { at, units } of asks) {
      vi.setSystemTime(at);
      answers.push(await key.admit(id, { call: crypto.randomUUID(), hash, address: null, permission: null, units }));
    }
    return answers;
  });
}

/** How much a window accepts under an even load, and how often its object lost its memory in it. */
async function windowOf(key: WellFormedKey, { limit, seconds, load }: Cell, isEvicted: boolean) {
  const object = () => env.KEYS.getByName(key.id);
  const begun = Date.now();
  const asked = Math.ceil(limit * load);
  const units = Math.ceil(asked / ASKS);
  const asks = Array.from({ length: Math.ceil(asked / units) }, (_, nth) => ({
    at: begun + Math.floor((nth * units * seconds * 1_000) / asked),
    units: Math.min(units, asked - nth * units),
  }));
  let [admitted, evictions, from] = [0, 0, 0];
  while (from < asks.length) {
    const until = isEvicted ? from + random.between(1, asks.length) : asks.length;
    for (const answer of await askAll(object(), key, asks.slice(from, until))) {
      if (answer.outcome === "admitted") admitted += answer.granted;
      expect(answer.window).toMatchObject({ limit, windowSeconds: seconds, reset: begun + seconds * 1_000 });
      if (answer.outcome === "refused") expect([answer.reason, answer.window?.remaining]).toEqual(["rate_limited", 0]);
      else if (evictions === 0) expect(answer.window.remaining).toBe(limit - admitted);
    }
    from = until;
    if (from >= asks.length) break;
    await evictDurableObject(object());
    evictions++;
  }
  vi.setSystemTime(begun + seconds * 1_000 + random.pick([0, 0, 1, 700]));
  return { asked, admitted, evictions };
}

test.each(SECONDS)(
  "windows of %i s accept exactly the load or the limit, whichever is less",
  { timeout: 600_000 },
  async (seconds) => {
    const { organizationId } = await newOrganization();
    for (const cell of CELLS.filter((each) => each.seconds === seconds)) {
      const { key, secret } = await newKey(organizationId, {
        rateLimit: { limit: cell.limit, windowSeconds: seconds },
      });
      const known = { id: key.id, hash: await hashOf(secret) };
      for (let nth = 0; nth < WINDOWS; nth++) {
        const { asked, admitted, evictions } = await windowOf(known, cell, nth % 2 > 0);
        const due = Math.min(asked, cell.limit);
        const what = `${JSON.stringify(cell)}, window ${nth}, ${evictions} evictions, SEED=${SEED}`;
        expect(admitted, what).toBeLessThanOrEqual(due);
        expect(admitted, what).toBeGreaterThanOrEqual(due - evictions * Math.floor(cell.limit * BLOCK));
      }
    }
  },
);

test("the five headers of the limit agree and are correct, whatever other refusals come between", {
  timeout: 600_000,
}, async () => {
  for (const cell of HEADED) {
    const { limit, seconds, load } = cell;
    const { organizationId } = await newOrganization();
    const body = {
      rateLimit: { limit, windowSeconds: seconds },
      permissions: ["chats:read"],
      ipAllowlist: ["192.0.2.1"],
    };
    const { key, secret } = await newKey(organizationId, body);
    const from = (address: string) => ({ "CF-Connecting-IP": address });
    const other = await newKeyText(key.id, Uint8Array.fromBase64(env.KEY_SECRET));
    const wrong: (() => Promise<Answer>)[] = [
      () => client(other)("GET", "/chats", undefined, from("192.0.2.1")),
      () => client(secret)("GET", "/chats", undefined, from("192.0.2.2")),
      () => client(secret)("POST", "/chats", {}, from("192.0.2.1")),
    ];
    let total = 0;
    for (let nth = 0; nth < WINDOWS; nth++) {
      const begun = Date.now();
      const asked = Math.ceil(limit * load);
      for (let sent = 0; sent < asked; sent++) {
        vi.setSystemTime(begun + Math.floor((sent * seconds * 1_000) / asked));
        // The first accepted request starts the window. A refusal before it must not.
        if (sent > 0 || nth === 0) expect([401, 403]).toContain((await random.pick(wrong)()).status);
        const answer = await client(secret)("GET", "/chats", undefined, from("192.0.2.1"));
        expect(answer.status, answer.text).toBe(sent < limit ? 200 : 429);
        if (answer.status === 200) total++;
        expectHeaders(answer, {
          limit,
          seconds,
          remaining: Math.max(0, limit - sent - 1),
          ends: begun + seconds * 1_000,
        });
      }
      vi.setSystemTime(begun + seconds * 1_000 + random.pick([0, 1, 1_500]));
    }
    expect((await admin("GET", `/keys/${key.id}/usage`)).body.usage.used).toBe(total);
  }
});

function expectHeaders({ status, headers }: Answer, { limit, seconds, remaining, ends }: Record<string, number>): void {
  const left = Math.max(1, Math.ceil(((ends ?? 0) - Date.now()) / 1_000));
  const told = Object.fromEntries([...headers].filter(([name]) => /limit|retry/.test(name)));
  expect(told).toEqual({
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(Math.ceil((ends ?? 0) / 1_000)),
    "ratelimit-policy": `"default";q=${limit};w=${seconds}`,
    ratelimit: `"default";r=${remaining};t=${left}`,
    ...(status === 429 && { "retry-after": String(left) }),
  });
}

test("a refusal lasts at most a second too long, also after the limit was raised or a window began", async () => {
  const { organizationId } = await newOrganization();
  for (let nth = 0; nth < 10; nth++) {
    const { key, secret } = await newKey(organizationId, { rateLimit: { limit: 1, windowSeconds: 10 } });
    const begun = Date.now();
    const ask = async (at: number) => {
      vi.setSystemTime(begun + at);
      return (await client(secret)("GET", "/key")).status;
    };
    expect(await ask(0)).toBe(200);
    const refused = random.between(1, 8_000);
    expect(await ask(refused)).toBe(429);
    if (nth % 2 > 0) {
      await admin("PATCH", `/keys/${key.id}`, { rateLimit: { limit: 2, windowSeconds: 10 } });
      expect(await ask(refused + 1_000)).toBe(200);
    }
    const last = random.between(9_001, 9_999);
    expect([await ask(last), await ask(9_999), await ask(10_000)]).toEqual([429, 429, 200]);
    vi.setSystemTime(begun + 60_000);
  }
});
