import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { webhooks } from "../../../src/db/schema.ts";
import { runAlarm } from "../../support/alarms.ts";
import { asOwner } from "../../support/as-owner.ts";
import { newChannel, newChat, newOrganization } from "../../support/harness.ts";
import { isOfEarlierTest } from "../../support/running-test.ts";
import { until } from "../../support/until.ts";
import { insertWebhook } from "./object/fixtures.ts";

/** A call that reached a webhook. */
export interface Received {
  url: string;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the type of its events
  event: any;
  /** When it arrived, by the test's clock. */
  at: number;
}

export type Reply = (call: Received, number: number) => Response | Promise<Response>;

/**
 * Replaces `fetch` for this test: calls of webhooks are recorded and answered by `reply`, those of networks by
 * `network`.
 */
export function fakeReceiver(
  reply: Reply = () => new Response("ok"),
  network?: (url: string, init: RequestInit) => Promise<Response>,
) {
  const calls: Received[] = [];
  vi.stubGlobal("fetch", async (input: string, init: RequestInit = {}) => {
    if (!input.includes("customer.test"))
      return network ? network(input, init) : Promise.reject(new Error("no network"));
    const text = String(init.body as string);
    const call = { url: input, headers: new Headers(init.headers), text, event: JSON.parse(text), at: Date.now() };
    if (isOfEarlierTest(call.event.organizationId)) return new Response("ok");
    calls.push(call);
    return reply(call, calls.length);
  });
  return calls;
}

type Settings = Partial<typeof webhooks.$inferInsert>;

/** An organization with a webhook that one chat knows. */
export async function chatWithWebhook(settings: Settings = {}, kind: "web" | "telegram" = "web") {
  const organization = await newOrganization();
  const { api, organizationId } = organization;
  const webhookId = await addWebhook(organizationId, settings);
  const channelId = kind === "web" ? organization.channelId : await newChannel(organizationId, kind);
  const chat = await newChat(api, channelId, kind === "web" ? undefined : "4711");
  const object = () => env.CHATS.getByName(chat.id);
  const ring = () => runAlarm(object());
  const subscription = async (of = webhookId) => {
    const answer = await object().webhookLine(asOwner(organizationId), of);
    return answer.outcome === "ok" ? answer.line : null;
  };
  /**
   * Resolves when this many attempts are over, also for the webhook's object: the last thing that a subscription tells
   * it.
   */
  const settled = async (attempts: number, of = webhookId) => {
    const logged = async () => {
      const page = await env.WEBHOOKS.getByName(of).attempts({ lineId: chat.id }, { before: null, limit: attempts });
      return page.attempts.length;
    };
    await until(`${attempts} attempts are over`, logged, (count) => count === attempts);
  };
  // The chat learns of the webhook with its first report.
  await ring();
  return { ...organization, webhookId, channelId, chat, chatId: chat.id, object, ring, subscription, settled };
}

/** Adds a webhook to the directory, as `POST /webhooks` does. */
export async function addWebhook(organizationId: string, settings: Settings = {}): Promise<string> {
  const id = await insertWebhook(organizationId, settings);
  await env.ORGANIZATIONS.getByName(organizationId).refreshWebhooks(organizationId);
  return id;
}
