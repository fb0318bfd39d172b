import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { open } from "../../../src/secrets/sealing.ts";
import { directoryText } from "../../support/canaries.ts";
import { admin, type Client, created, expectFaults } from "../../support/harness.ts";
import { newConfigurer, webhookRow } from "./configured.ts";

const bytesOf = (base64: string) => Uint8Array.fromBase64(base64);
const newSealingKey = () => crypto.getRandomValues(new Uint8Array(32)).toBase64();

/** The secrets that the directory has of a webhook, opened: the current one, and the previous one or null. */
async function secretsOf(id: string, sealingKey = env.CREDENTIALS_KEY): Promise<(string | null)[]> {
  const row = await webhookRow(id);
  const keys = { current: bytesOf(sealingKey), previous: undefined };
  const cells = [
    ["secret", row?.secret],
    ["previous_secret", row?.previous_secret],
  ] as const;
  return Promise.all(
    cells.map(async ([column, text]) => (typeof text === "string" ? open(keys, { id, column }, text) : null)),
  );
}

/** A webhook, and a function that rotates its secret and returns the new one. */
async function newRotated() {
  const { api, newWebhook } = await newConfigurer();
  const { webhook, secret } = await newWebhook();
  const rotate = async (overlapSeconds?: number) => {
    const body = overlapSeconds === undefined ? undefined : { overlapSeconds };
    return created(await api("POST", `/webhooks/${webhook.id}/rotate`, body));
  };
  return { api: api as Client, id: webhook.id as string, secret, rotate };
}

test("the directory has secrets only sealed, each for its row and column", async () => {
  const { id, secret, rotate } = await newRotated();
  const rotated = (await rotate()).secret as string;
  const stored = await directoryText();
  for (const each of [secret, rotated]) {
    expect(stored).not.toContain(each.slice(6));
    expect(stored).not.toContain(btoa(each).slice(0, 30));
  }
  expect(await secretsOf(id)).toEqual([rotated, secret]);
});

test("a rotation has a new secret, and the old one signs for a day unless another overlap is given", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const now = Date.now();
  const { api, id, rotate } = await newRotated();
  const { webhook, secret } = await rotate();
  expect(secret).toMatch(/^whsec_/);
  expect(webhook.previousSecretExpiresAt).toBe(new Date(now + 86_400_000).toISOString());
  vi.setSystemTime(now + 86_400_000);
  expect((await api("GET", `/webhooks/${id}`)).body.webhook.previousSecretExpiresAt).toBeNull();
  expect((await rotate(60)).webhook.previousSecretExpiresAt).toBe(new Date(now + 86_460_000).toISOString());
});

test("with an overlap of 0 only the new secret is left", async () => {
  const { id, rotate } = await newRotated();
  await rotate();
  const { webhook, secret } = await rotate(0);
  expect(webhook.previousSecretExpiresAt).toBeNull();
  expect(await secretsOf(id)).toEqual([secret, null]);
});

test("a rotation whose response was lost can be repeated: the secret that the receiver has keeps its end", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { id, secret, rotate } = await newRotated();
  const lost = await rotate(600);
  vi.setSystemTime(Date.now() + 60_000);
  const repeated = await rotate(600);
  expect(repeated.secret).not.toBe(lost.secret);
  expect(repeated.webhook.previousSecretExpiresAt).toBe(lost.webhook.previousSecretExpiresAt);
  expect(await secretsOf(id)).toEqual([repeated.secret, secret]);
});

test("a repeated rotation with a shorter overlap ends the old secret earlier", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { rotate } = await newRotated();
  await rotate(600);
  const { webhook } = await rotate(30);
  expect(webhook.previousSecretExpiresAt).toBe(new Date(Date.now() + 30_000).toISOString());
});

test("after the overlap, a rotation keeps the current secret as the previous one", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { id, rotate } = await newRotated();
  const first = (await rotate(600)).secret;
  vi.setSystemTime(Date.now() + 600_000);
  const second = (await rotate(600)).secret;
  expect(await secretsOf(id)).toEqual([second, first]);
});

test.each([-1, 1.5, "60", 7 * 86_400 + 1])("an overlap of %j seconds is a 400 and changes nothing", async (seconds) => {
  const { api, id } = await newRotated();
  const before = await webhookRow(id);
  expectFaults(await api("POST", `/webhooks/${id}/rotate`, { overlapSeconds: seconds }), "overlapSeconds");
  expect(await webhookRow(id)).toEqual(before);
});

test("a rotation does not change the version, which belongs to the filter", async () => {
  const { id, rotate } = await newRotated();
  await rotate();
  expect((await webhookRow(id))?.version).toBe(1);
});

test("after a reseal, both secrets open without the previous key, and are the same", async () => {
  await env.DB.batch(["webhooks", "channels"].map((table) => env.DB.prepare(`delete from ${table}`)));
  const { id, secret, rotate } = await newRotated();
  const rotated = (await rotate()).secret;
  const keys = { CREDENTIALS_KEY: newSealingKey(), CREDENTIALS_KEY_PREVIOUS: env.CREDENTIALS_KEY };
  const answer = await admin("POST", "/reseal", undefined, keys);
  // The webhook, and the web channel of its organization.
  expect(answer.body).toEqual({ resealed: 2, unreadable: [] });
  expect(await secretsOf(id, keys.CREDENTIALS_KEY)).toEqual([rotated, secret]);
  await expect(secretsOf(id)).rejects.toThrow("can be opened with neither");
});

test("a webhook whose secret no key opens is named by a reseal, can be read and rotated without an overlap", async () => {
  const { id, api, rotate } = await newRotated();
  await env.DB.prepare("update webhooks set secret = ? where id = ?").bind(btoa("\u0001damaged-and-long"), id).run();
  expect((await admin("POST", "/reseal")).body.unreadable).toContain(id);
  expect((await api("GET", `/webhooks/${id}`)).status).toBe(200);
  expect((await api("POST", `/webhooks/${id}/rotate`)).status).toBe(503);
  const { secret } = await rotate(0);
  expect(await secretsOf(id)).toEqual([secret, null]);
});
