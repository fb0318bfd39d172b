import { expect, test } from "vitest";
import { created, newChat, newOrganization, send } from "../../support/harness.ts";
import { accept, fakeNetworks } from "../../support/networks.ts";
import { fromMeta, fromTelegram, taken, telegramText, whatsappText } from "../inbound/webhook-calls.ts";
import { chatOf, newNetworkChannel, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

/** Places that nobody may make the service call. */
const INNER = [
  "https://169.254.169.254/latest/meta-data/",
  "https://localhost:8787/admin/v1/organizations",
  "https://[::ffff:127.0.0.1]/",
  "https://0x7f000001/a.png",
  "https://metadata.google.internal/a.png",
  "https://parley.test/api/v1/key",
];

/** One send for each kind of place and of message that could make us fetch. */
const SENDS = INNER.flatMap((mediaUrl) => [
  { content: "Look", type: "IMAGE", mediaUrl },
  { content: mediaUrl, type: "DOCUMENT" },
  { content: mediaUrl, metadata: { avatar: mediaUrl } },
]);

test("whatever link is sent or received, the networks alone are called, and each with its own token alone", async () => {
  const calls = fakeNetworks(accept);
  const organization = await newOrganization();
  const { api, channelId, organizationId } = organization;
  const telegram = await newNetworkChannel(organizationId, "telegram");
  const whatsapp = await newNetworkChannel(organizationId, "whatsapp");
  const chats = [await chatOf(organization, telegram.id), await chatOf(organization, whatsapp.id)];
  const web = await newChat(api, channelId);
  for (const body of SENDS) {
    for (const id of [...chats.map(({ chatId }) => chatId), web.id])
      created(await api("POST", `/chats/${id}/messages`, body));
  }
  for (const { run } of chats) await run();
  for (const url of INNER) {
    const link = { entities: [{ type: "text_link", offset: 0, length: 1, url }], link_preview_options: { url } };
    taken(await fromTelegram(telegram, telegramText("4711", url, link)));
    const value = whatsappText({ wa_id: "4917600002" }, url, { name: url });
    taken(await fromMeta(whatsapp, [{ ...value, messages: [{ ...value.messages[0], preview_url: url, media: url }] }]));
  }
  expect(calls.length).toBeGreaterThanOrEqual(2 * SENDS.length);
  expect(new Set(calls.map(({ network, url }) => `${network} ${new URL(url).host}`))).toEqual(
    new Set(["telegram api.telegram.org", "whatsapp graph.facebook.com"]),
  );
  const [ofTelegram, ofWhatsapp] = ["telegram", "whatsapp"].map(
    (network) => new Set(calls.filter((call) => call.network === network).map(({ token }) => token)),
  );
  expect([ofTelegram?.size, ofWhatsapp?.size]).toEqual([1, 1]);
});

test.each([
  ["whatsapp", "IMAGE", { link: "https://example.com/a" }],
  ["whatsapp", "AUDIO", { link: "https://example.com/a" }],
  ["telegram", "IMAGE", { photo: "https://example.com/a" }],
  ["telegram", "VIDEO", { video: "https://example.com/a" }],
] as const)(
  "%s gets the link of an %s message whose content repeats it once, without a caption",
  async (kind, type, media) => {
    const calls = fakeNetworks(accept);
    const organization = await newOrganization();
    const channel = await newNetworkChannel(organization.organizationId, kind);
    const chat = await chatOf(organization, channel.id);
    for (const content of ["https://example.com/a", " https://example.com/a\n"]) {
      await send(organization.api, chat.chatId, { type, content, mediaUrl: "https://example.com/a" });
    }
    await chat.run();
    expect(calls.map(({ body }) => (kind === "whatsapp" ? body[body.type] : body))).toEqual(
      Array(2).fill(kind === "whatsapp" ? media : { chat_id: chat.address, ...media }),
    );
    expect((await chat.messages()).map(({ status }) => status)).toEqual(["SENT", "SENT"]);
  },
);
