import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { newIsolate } from "../../deep/models/isolates.ts";
import { type Answer, admin, newKey, newOrganization } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { stopWaits } from "../../support/waits.ts";

const HOUR = { limit: 1_000, windowSeconds: 3_600 };

/** A key whose object has been awake for a second, and an isolate that calls it. */
export async function awakeKey(body: object = {}) {
  const waits = stopWaits();
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, { rateLimit: HOUR, ...body });
  const id: string = key.id;
  const ask = newIsolate();
  const get = (headers: Record<string, string> = {}) => ask(secret, "GET", "/api/v1/chats", { headers });
  expect((await get()).status).toBe(200);
  await waits.pass(2_000);
  const usage = async () => (await admin("GET", `/keys/${id}/usage`)).body.usage;
  const stored = () => runInDurableObject(env.KEYS.getByName(id), (_key, { storage }) => storage.kv.get("counters"));
  return { id, organizationId, secret, ask, get, usage, waits, stored, object: () => env.KEYS.getByName(id) };
}

export type AwakeKey = Awaited<ReturnType<typeof awakeKey>>;

/** Waits until this many units of a key are used. */
export async function untilUsed({ usage }: Pick<AwakeKey, "usage">, units: number): Promise<void> {
  await until(`${units} units are used`, usage, ({ used }) => used === units);
}

export const remaining = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));

/** Three requests at once: the third one brings three units. */
export async function getGrant({ get }: Pick<AwakeKey, "get">): Promise<number> {
  let last = 0;
  for (let n = 0; n < 3; n++) {
    const answer = await get();
    expect(answer.status, answer.text).toBe(200);
    last = remaining(answer);
  }
  return last;
}
