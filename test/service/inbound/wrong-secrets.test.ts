import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { seal } from "../../../src/secrets/sealing.ts";
import { admin, call, expectError, newKey, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { conversation, runNext, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { telegramText } from "./webhook-calls.ts";

stopTheClock();

const another = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));

const WRONG = [
  { what: "the two keys exchanged", bindings: { KEY_SECRET: env.CREDENTIALS_KEY, CREDENTIALS_KEY: env.KEY_SECRET } },
  { what: "another CREDENTIALS_KEY", bindings: { CREDENTIALS_KEY: another } },
  { what: "another KEY_SECRET", bindings: { KEY_SECRET: another } },
];

test.each(WRONG)(
  "with $what, nothing unreadable is accepted, and everything works again with the right ones",
  async ({ bindings }) => {
    const { organizationId, chatId, address, channelId, channel, messages } = await conversation("telegram");
    const { secret } = await newKey(organizationId);
    const update = telegramText(address, "Hello");
    const ask = (given: Partial<Env> = {}) => ({
      key: call("GET", `/api/v1/chats/${chatId}`, { headers: { Authorization: `Bearer ${secret}` }, bindings: given }),
      hook: call("POST", `/hooks/telegram/${channelId}`, {
        body: update,
        headers: { "X-Telegram-Bot-Api-Secret-Token": channel.webhook.verifyToken },
        bindings: given,
      }),
    });
    const row = () => env.DB.prepare("select * from channels where id = ?").bind(channelId).first();
    const before = await row();

    const { key, hook } = ask(bindings);
    if ("KEY_SECRET" in bindings) expectError(await key, 401, "invalid_api_key");
    else expect((await key).status).toBe(200);
    if ("CREDENTIALS_KEY" in bindings) {
      const errors = vi.spyOn(console, "error");
      expectError(await hook, 503, "unavailable");
      const shown = await admin("GET", `/channels/${channelId}`, undefined, bindings);
      expect(shown.body.channel.webhook.verifyToken).toBeNull();
      expect((await admin("POST", "/reseal", undefined, bindings)).body.unreadable).toContain(channelId);
      const lines = errors.mock.calls.map((line) => JSON.stringify(line));
      for (const line of lines)
        expect(line).toContain("can be opened with neither CREDENTIALS_KEY nor CREDENTIALS_KEY_PREVIOUS");
      expect(lines.length).toBeGreaterThanOrEqual(3);
      expect(await messages()).toEqual([]);
    } else expect((await hook).status).toBe(200);

    expect(await row()).toEqual(before);
    const again = ask();
    expect([(await again.key).status, (await again.hook).status]).toEqual([200, 200]);
    expect((await messages()).map(({ text }) => text)).toEqual(["Hello"]);
  },
);

/** Encrypts a channel's secrets with a key that is lost. */
async function loseSecrets(id: string): Promise<void> {
  const lost = { current: Uint8Array.from(atob(another), (char) => char.charCodeAt(0)), previous: undefined };
  const credentials = await seal(lost, { id, column: "credentials" }, "{}");
  const verifyToken = await seal(lost, { id, column: "verify_token" }, "token");
  const statement = env.DB.prepare("update channels set credentials = ?, verify_token = ? where id = ?");
  await statement.bind(credentials, verifyToken, id).run();
}

test.each([
  ["telegram", { botToken: "123456:AAH-another-bot-token" }],
  ["whatsapp", { phoneNumberId: "1555", accessToken: "EAA-another-access-token", appSecret: "another-app-secret" }],
] as const)(
  "a %s channel whose CREDENTIALS_KEY was lost works again after all its secrets are set",
  async (kind, all) => {
    const calls = fakeNetworks();
    const chat = await conversation(kind);
    await loseSecrets(chat.channelId);
    const path = `/channels/${chat.channelId}`;
    const { webhook } = (await admin("PATCH", path, { credentials: all })).body.channel;
    expect(webhook.verifyToken).toMatch(/^\w{32}$/);
    expect(webhook.verifyToken).not.toBe(chat.channel.webhook.verifyToken);
    expect((await admin("GET", path)).body.channel.webhook).toEqual(webhook);
    await send(chat.api, chat.chatId);
    await chat.run();
    expect(calls.map(({ token }) => token)).toEqual([kind === "telegram" ? all.botToken : all.accessToken]);
  },
);

test("setting only some of the secrets is a 503 and changes nothing, because the others can't be read", async () => {
  const { channelId } = await conversation("whatsapp");
  await loseSecrets(channelId);
  const row = () => env.DB.prepare("select * from channels where id = ?").bind(channelId).first();
  const before = await row();
  const patch = { credentials: { accessToken: "EAA-another-access-token" } };
  expectError(await admin("PATCH", `/channels/${channelId}`, patch), 503, "unavailable");
  expect(await row()).toEqual(before);
});

test("setting all secrets keeps the webhook's token if it can be decrypted", async () => {
  const { channelId, channel } = await conversation("telegram");
  const patch = { credentials: { botToken: "123456:AAH-another-bot-token" } };
  const changed = (await admin("PATCH", `/channels/${channelId}`, patch)).body.channel;
  expect(changed.webhook).toEqual(channel.webhook);
});

test("a message waits while its channel's secrets can't be decrypted, and is sent when they can", async () => {
  const calls = fakeNetworks();
  const chat = await conversation("telegram");
  const { channelId } = chat;
  const sealed = await env.DB.prepare("select credentials from channels where id = ?")
    .bind(channelId)
    .first("credentials");
  const put = (text: unknown) =>
    env.DB.prepare("update channels set credentials = ? where id = ?").bind(text, channelId).run();
  const current = Uint8Array.from(atob(another), (char) => char.charCodeAt(0));
  await put(await seal({ current, previous: undefined }, { id: channelId, column: "credentials" }, "{}"));

  const { id } = await send(chat.api, chat.chatId);
  await chat.run();
  expect([(await chat.message(id)).status, calls.length]).toEqual(["QUEUED", 0]);
  expect((await chat.queue()).nextAttemptAt).not.toBeNull();

  await put(sealed);
  await runNext(chat);
  expect([(await chat.message(id)).status, calls.length]).toEqual(["SENT", 1]);
});
