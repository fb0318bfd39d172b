import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { alarmAt } from "../../../support/alarms.ts";
import { aroundQueries } from "../../../support/faults.ts";
import { admin, newChannel, newOrganization, send } from "../../../support/harness.ts";
import { fakeNetworks } from "../../../support/networks.ts";
import { gate } from "../../../support/until.ts";
import { conversation, pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { held } from "../../management/erase-fixtures.ts";

stopTheClock();

const attempt = { probe: null, trial: null, epoch: 0 };

/** Asks to send, as a chat does. */
function ask(channelId: string) {
  const request = { channelId, chatId: "cht_1", reservedAt: null, brokenEpoch: null };
  return env.CHANNELS.getByName(channelId).permit(request);
}

test("calls that come after a channel was deleted get no permit and store nothing, though a cache still has it", async () => {
  fakeNetworks();
  const { channelId, api, chatId, run } = await conversation("telegram");
  await send(api, chatId);
  await run();
  const channel = () => env.CHANNELS.getByName(channelId);
  expect(await channel().storedRow()).not.toBeNull();
  expect((await admin("DELETE", `/channels/${channelId}`)).status).toBe(200);
  expect(await ask(channelId)).toMatchObject({ outcome: "later", broken: null });
  await channel().reportBroken({ channelId, chatId, reason: "It broke", ...attempt });
  await channel().reportProbe({ channelId, works: true, ...attempt });
  await channel().slowDown(60_000);
  await channel().takeNews(channelId, { warnings: [{ code: "alert", text: "Look" }], isAskWorthy: true });
  await channel().syncTemplatesSoon(channelId);
  await channel().refresh(channelId);
  expect(await channel().storedRow()).toBeNull();
  expect(await held([channel()])).toEqual([]);
  expect(await alarmAt(channel())).toBeNull();
});

test("a chat that waits for its start gets none once the channel is erased", async () => {
  fakeNetworks();
  const { channelId } = await conversation("telegram", { perSecond: 1 });
  expect(await ask(channelId)).toMatchObject({ outcome: "granted" });
  const waiting = ask(channelId);
  await env.CHANNELS.getByName(channelId).erase();
  expect(await waiting).toMatchObject({ outcome: "later", broken: null });
});

test("visitors who come after a web channel was deleted are not counted", async () => {
  const { organizationId } = await newOrganization();
  const id = await newChannel(organizationId, "web");
  const channel = () => env.CHANNELS.getByName(id);
  const upload = { id: "1", chatId: "cht_1", network: "192.0.2.1", bytes: 1 };
  expect(await channel().socketPolicy(id, { withFingerprints: false })).not.toBeNull();
  expect((await admin("DELETE", `/channels/${id}`)).status).toBe(200);
  expect(await channel().admitNewChat("192.0.2.1", "cht_1")).toEqual({ ok: true });
  expect(await channel().admitUpload(upload)).toEqual({ ok: true });
  await channel().endUpload(upload, true);
  expect(await channel().socketPolicy(id, { withFingerprints: false })).toBeNull();
  expect(await held([channel()])).toEqual([]);
});

test("a call that reads the channel while it is erased stores nothing", async () => {
  fakeNetworks();
  const { channelId } = await conversation("telegram");
  pass(60_000);
  const answer = gate("the directory's answer");
  aroundQueries(async (_, run) => {
    const found = await run();
    await answer.pass();
    return found;
  });
  const permit = ask(channelId);
  await answer.reached();
  await env.CHANNELS.getByName(channelId).erase();
  answer.open();
  expect(await permit).toMatchObject({ outcome: "later", broken: null });
  expect(await held([env.CHANNELS.getByName(channelId)])).toEqual([]);
});
