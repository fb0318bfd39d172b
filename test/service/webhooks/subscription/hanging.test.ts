import { expect, test, vi } from "vitest";
import { ringAlarm } from "../../../support/alarms.ts";
import { send } from "../../../support/harness.ts";
import { gate, until, untilLength } from "../../../support/until.ts";
import { addWebhook, chatWithWebhook, fakeReceiver } from "../receiver.ts";

/** How many connections of an object may wait for an answer at a time. A further one waits for its turn. */
const SLOTS = 6;
const WEBHOOKS = 10;

/** Gives `fetch` the platform's limit, which the local runtime does not have. All calls must come from one object. */
function limitConnections(): void {
  const unlimited = globalThis.fetch;
  let open = 0;
  vi.stubGlobal("fetch", async (...given: Parameters<typeof fetch>) => {
    await until(
      "a connection is free",
      () => open,
      (count) => count < SLOTS,
    );
    open++;
    try {
      return await unlimited(...given);
    } finally {
      open--;
    }
  });
}

test("while all webhooks of a chat hang, its messages leave, and no more than three calls of webhooks are under way", async () => {
  const held = gate("the webhook's answer");
  let under = 0;
  const texts: string[] = [];
  const calls = fakeReceiver(
    async () => {
      under++;
      await held.pass();
      under--;
      return new Response("ok");
    },
    async () => {
      texts.push(`beside ${under} calls`);
      return Response.json({ ok: true, result: { message_id: texts.length } });
    },
  );
  limitConnections();
  const settings = { types: ["message.created"] };
  const { api, organizationId, chatId, object, settled, webhookId } = await chatWithWebhook(settings, "telegram");
  for (let n = 1; n < WEBHOOKS; n++) await addWebhook(organizationId, settings);
  // The chat learns of the others with its next report.
  await send(api, chatId);
  await untilLength(texts, 1);
  await ringAlarm(object());
  await until(
    "three calls are under way",
    () => under,
    (count) => count === 3,
  );

  for (let n = 2; n <= 4; n++) {
    await send(api, chatId);
    await untilLength(texts, n);
  }
  expect(texts.slice(1)).toEqual(Array(3).fill("beside 3 calls"));
  expect(calls).toHaveLength(3);

  held.open();
  await settled(4, webhookId);
});
