import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { runAlarm } from "../../../support/alarms.ts";
import { directoryText } from "../../../support/canaries.ts";
import {
  type Answer,
  admin,
  call,
  client,
  created,
  newChannel,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../../support/harness.ts";
import { acceptAs, fakeNetworks, refuse } from "../../../support/networks.ts";
import { countRowsWritten } from "../../../support/rows-written.ts";
import { visit } from "../../../support/sockets.ts";
import { storedBy } from "../../../support/stored.ts";
import { newNetworkChannel, pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { newContact } from "../../inbound/fixtures.ts";
import {
  fromMeta,
  fromTelegram,
  taken,
  telegramText,
  whatsappStatus,
  whatsappText,
} from "../../inbound/webhook-calls.ts";

stopTheClock();

beforeEach(() => {
  for (const level of ["log", "warn"] as const) vi.spyOn(console, level).mockReturnValue();
});

type Organization = Awaited<ReturnType<typeof newOrganization>>;

/** Rings the alarms of all objects that traffic has left work for. */
async function ringAll({ organizationId, keyId }: Organization, channelIds: string[], chatIds: string[]) {
  for (let minutes = 0; minutes < 2; minutes++) {
    pass(60_000);
    for (const id of chatIds) await runAlarm(env.CHATS.getByName(id));
    for (const id of channelIds) await runAlarm(env.CHANNELS.getByName(id));
    await runAlarm(env.KEYS.getByName(keyId));
    await runAlarm(env.ORGANIZATIONS.getByName(organizationId));
  }
}

async function chatIdsOf({ api }: Organization): Promise<string[]> {
  const { chats } = (await api("GET", "/chats?limit=100")).body;
  return chats.map(({ id }: { id: string }) => id);
}

test("names, addresses, metadata and texts of an eu organization are in its objects and in no row of D1", async () => {
  fakeNetworks();
  const canary = "canary5b91";
  const number = "4915197531864";
  const organization = await newOrganization({ jurisdiction: "eu" });
  const { organizationId, channelId, api } = organization;
  const channel = await newNetworkChannel(organizationId, "whatsapp");
  const contact = { address: `${canary}@shop.test`, name: `Ada ${canary}` };
  const { chat } = created(await api("POST", "/chats", { channelId, contact, metadata: { order: canary } }));
  await send(api, chat.id, { content: `Hello ${canary}`, metadata: { ticket: canary } });
  taken(await fromMeta(channel, [whatsappText({ wa_id: number }, `Hi ${canary}`, { name: canary })]));
  const known = (await api("GET", `/chats?contact=${number}`)).body.chats[0];
  await send(api, known.id, { content: `Answer ${canary}` });
  const { page } = await visit(channelId);
  await page.write("first", canary);
  await ringAll(organization, [channelId, channel.id], await chatIdsOf(organization));

  const inObject = await storedBy(env.ORGANIZATIONS.getByName(organizationId));
  for (const text of [contact.address, contact.name, `order\\":\\"${canary}`, `Hello ${canary}`, number]) {
    expect(inObject).toContain(text);
  }
  const inDirectory = await directoryText();
  expect(inDirectory).toContain(organizationId);
  expect(inDirectory).not.toContain(canary);
  expect(inDirectory).not.toContain(number);
});

const refused = (answer: Answer, status: number) => expect(answer.status, answer.text).toBe(status);

test("sends, messages of new and known contacts, statuses, refusals, new chats and visitors write no row to D1", async () => {
  fakeNetworks(acceptAs("wamid.9"));
  const organization = await newOrganization();
  const { organizationId, channelId, api } = organization;
  const whatsapp = await newNetworkChannel(organizationId, "whatsapp");
  const telegram = await newNetworkChannel(organizationId, "telegram");
  const limited = await newKey(organizationId, {
    rateLimit: { limit: 1, windowSeconds: 60 },
    permissions: ["chats:read"],
  });
  const written = countRowsWritten();

  await send(api, (await newChat(api, channelId)).id);
  const wa_id = newContact();
  const chat = await newChat(api, whatsapp.id, wa_id);
  const { id } = await send(api, chat.id);
  await runAlarm(env.CHATS.getByName(chat.id));
  for (const status of ["sent", "delivered", "read"]) {
    const ours = { recipient_id: wa_id, biz_opaque_callback_data: `${chat.id}.${id}` };
    taken(await fromMeta(whatsapp, [whatsappStatus(status, { id: "wamid.9", ...ours })]));
  }
  taken(await fromMeta(whatsapp, [whatsappText({ wa_id, user_id: "DE.9" }, "Known")]));
  for (let contacts = 0; contacts < 3; contacts++) {
    taken(await fromMeta(whatsapp, [whatsappText({ wa_id: newContact() }, "New")]));
    taken(await fromTelegram(telegram, telegramText(newContact(), "New")));
  }
  const { page } = await visit(channelId);
  expect(await page.write("a", "Hi")).toMatchObject({ type: "stored" });
  const one = client(limited.secret);
  refused(await one("POST", "/chats", { channelId, contact: { address: "x" } }), 403);
  refused(await one("GET", "/chats"), 200);
  refused(await one("GET", "/chats"), 429);
  refused(await call("GET", "/api/v1/chats", { headers: { Authorization: `Bearer ${limited.secret}x` } }), 401);
  // The channel breaks, which is its own change of health.
  fakeNetworks(refuse(401, "Unauthorized"));
  const broken = (await api("GET", `/chats?channel=${telegram.id}`)).body.chats[0].id;
  await send(api, broken);
  await ringAll(organization, [channelId, whatsapp.id, telegram.id], await chatIdsOf(organization));
  expect((await admin("GET", `/channels/${telegram.id}`)).body.channel.health.state).toBe("broken");

  expect(await written()).toBe(0);
  // The count notices a write.
  await newChannel(organizationId, "web");
  expect(await written()).toBeGreaterThan(0);
});
