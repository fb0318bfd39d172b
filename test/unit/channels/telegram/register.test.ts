import type { ApiMethods } from "@grammyjs/types";
import { expect, test } from "vitest";
import { registerWebhook } from "../../../../src/channels/telegram/register.ts";
import { fakeNetwork } from "../fake-network.ts";
import { credentials, network, ok, refused, TOKEN } from "./network.ts";

const URL = "https://parley.example/hooks/telegram/chn_g0123456789ABCDE";

function register() {
  return registerWebhook(URL, "verify-token", credentials, network);
}

test("registering tells Telegram the address, the secret and the kinds of updates that are wanted", async () => {
  const sent = fakeNetwork(ok(true, "Webhook was set"));
  expect(await register()).toEqual({ ok: true, code: null, description: "Webhook was set" });
  expect(sent).toEqual([
    {
      url: `https://telegram.test/bot${TOKEN}/setWebhook`,
      method: "POST",
      headers: { "content-type": "application/json" },
      redirect: "manual",
      body: {
        url: URL,
        secret_token: "verify-token",
        allowed_updates: ["message", "edited_message", "callback_query", "message_reaction", "my_chat_member"],
      } satisfies Parameters<ApiMethods<string>["setWebhook"]>[0],
    },
  ]);
});

test.each([
  [400, "Bad Request: bad webhook: HTTPS url must be provided for webhook"],
  [401, "Unauthorized"],
  [404, "Not Found"],
  [429, "Too Many Requests: retry after 1"],
])("a refusal with %i is told in Telegram's own words", async (code, description) => {
  fakeNetwork(refused(code, description));
  expect(await register()).toEqual({ ok: false, code, description });
});

test("no answer is told as one, and nothing is thrown", async () => {
  fakeNetwork(() => Promise.reject(new Error(`https://telegram.test/bot${TOKEN}/setWebhook`)));
  expect(await register()).toEqual({ ok: false, code: null, description: "The connection to Telegram failed" });
});

test.each([ok(true, `Webhook was set for ${TOKEN}`), refused(400, `Bad Request: ${TOKEN}`)])(
  "answer %#, which holds the token, is told without it",
  async (reply) => {
    fakeNetwork(reply);
    expect(JSON.stringify(await register())).not.toContain("secret_part");
  },
);
