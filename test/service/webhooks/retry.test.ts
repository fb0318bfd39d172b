import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { admin, client, newChat, newKey, send } from "../../support/harness.ts";
import { until, untilLength } from "../../support/until.ts";
import { WRITER } from "./configured.ts";
import { chatWithWebhook, fakeReceiver } from "./receiver.ts";

/** Two chats that know a webhook. The receiver answers the first one's events with `answer`, and accepts the others. */
async function twoChats(answer: () => Response) {
  const first: { id?: string } = {};
  const calls = fakeReceiver(({ event }) =>
    event.chatId === first.id ? answer() : new Response(null, { status: 204 }),
  );
  const known = await chatWithWebhook({ types: ["message.created"] });
  const { api, channelId, webhookId, organizationId } = known;
  const { id: other } = await newChat(api, channelId);
  await runAlarm(env.CHATS.getByName(other));
  await send(api, other);
  await untilLength(calls, 1);
  first.id = known.chatId;
  calls.length = 0;
  const { secret } = await newKey(organizationId, { permissions: WRITER });
  const configurer = client(secret);
  const shown = async () => (await admin("GET", `/webhooks/${webhookId}`)).body.webhook;
  const chatsOfCalls = () => calls.map(({ event }) => event.chatId);
  return { ...known, other, configurer, shown, chatsOfCalls, path: `/webhooks/${webhookId}` };
}

const tooMany = () => new Response(null, { status: 429, headers: { "Retry-After": "86400" } });

test.for(["enable", "retry"])("%s ends a pause also for a chat whose event came during it", async (act) => {
  let answer = tooMany;
  const { api, chatId, other, configurer, shown, chatsOfCalls, path } = await twoChats(() => answer());
  await send(api, chatId);
  await until("the webhook is paused", shown, ({ pausedUntil }) => pausedUntil);
  await send(api, other);
  await until("both chats wait", shown, ({ waitingChats }) => waitingChats === 2);
  expect(chatsOfCalls()).toEqual([chatId]);
  // Another 429 would begin another pause.
  answer = () => new Response(null, { status: 204 });
  const { status, body } = await configurer("POST", `${path}/${act}`);
  expect(status).toBe(200);
  expect(body.webhook).toMatchObject({ id: path.split("/").at(-1), pausedUntil: null });
  await until("the other chat's event is sent", chatsOfCalls, (chats) => chats.includes(other));
});

test("a retry tries an event that waits for its next try, and that of no disabled webhook", async () => {
  let status = 500;
  const { api, chatId, configurer, shown, chatsOfCalls, settled, path } = await twoChats(
    () => new Response(null, { status }),
  );
  await send(api, chatId);
  await settled(1);
  await configurer("POST", `${path}/disable`);
  const refused = await configurer("POST", `${path}/retry`);
  expect([refused.status, refused.body.code]).toEqual([409, "webhook_disabled"]);
  await configurer("POST", `${path}/enable`);
  await settled(2);
  expect((await configurer("POST", `${path}/retry`)).body.webhook).toMatchObject({ state: "trial" });
  await settled(3);
  status = 204;
  expect((await admin("POST", `${path}/retry`)).status).toBe(200);
  await settled(4);
  await until("no chat waits", shown, ({ waitingChats }) => waitingChats === 0);
  expect(new Set(chatsOfCalls())).toEqual(new Set([chatId]));
});
