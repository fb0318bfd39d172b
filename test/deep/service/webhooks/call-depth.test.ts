import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { addWebhook, fakeReceiver } from "../../../service/webhooks/receiver.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { countDepth } from "../../../support/call-depth.ts";
import { newChat, newOrganization, send } from "../../../support/harness.ts";
import { until } from "../../../support/until.ts";

const CHATS = 100;
const PATIENCE_MS = 120_000;
/** Far below the platform's limit, which is about 16: eight, the wake-up, and what a woken chat calls. */
const MOST = 11;

/** Many chats that know a webhook. */
async function manyChats(settings: { perSecond?: number; concurrency?: number } = {}) {
  const { api, organizationId, channelId } = await newOrganization();
  const webhookId = await addWebhook(organizationId, { types: ["message.created"], ...settings });
  const ids: string[] = [];
  for (let chat = 0; chat < CHATS; chat++) {
    const { id } = await newChat(api, channelId);
    // It learns of the webhook with its first report.
    await runAlarm(env.CHATS.getByName(id));
    ids.push(id);
  }
  const burst = () => Promise.all(ids.map((id) => send(api, id)));
  return { webhook: () => env.WEBHOOKS.getByName(webhookId), webhookId, burst };
}

test.for([
  ["that is fast", {}],
  ["with one call at a time", { concurrency: 1 }],
  ["with 40 calls a second", { perSecond: 40 }],
] as const)("in a burst of many chats to a webhook %s, calls of objects are never deep", async ([, settings]) => {
  const { burst } = await manyChats(settings);
  const calls = fakeReceiver();
  const seen = countDepth();
  await burst();
  await until(
    "each event has arrived",
    () => calls.length,
    (count) => count >= CHATS,
    PATIENCE_MS,
  );
  expect(seen.deepest.length, seen.deepest.join(" > ")).toBeLessThanOrEqual(MOST);
});

test("after an outage of the receiver, calls of objects are never deep", async () => {
  const { burst, webhook, webhookId } = await manyChats();
  let isOut = true;
  const calls = fakeReceiver(() => new Response(null, { status: isOut ? 503 : 200 }));
  const seen = countDepth();
  await burst();
  const waiting = async () => (await webhook().describe(webhookId))?.waitingChats;
  await until("each chat waits for the webhook", waiting, (count) => count === CHATS, PATIENCE_MS);
  isOut = false;
  const failed = calls.length;
  await webhook().retry(webhookId);
  await until(
    "each event has arrived",
    () => calls.length - failed,
    (count) => count >= CHATS,
    PATIENCE_MS,
  );
  // A chat has its answer before the webhook's object has its report.
  await until("no chat waits for the webhook", waiting, (count) => count === 0, PATIENCE_MS);
  expect(seen.deepest.length, seen.deepest.join(" > ")).toBeLessThanOrEqual(MOST);
});
