import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { randomBase62 } from "../../../../../src/model/id.ts";
import { directoryText, plant, secretIn } from "../../../../support/canaries.ts";
import { breakDirectory, breakObjects, OUTAGES } from "../../../../support/faults.ts";
import {
  type Answer,
  admin,
  call,
  client,
  created,
  newChat,
  newKey,
  newTemplate,
  send,
} from "../../../../support/harness.ts";
import { fakeNetworks, inTurn, lost, refuse, type Script, status } from "../../../../support/networks.ts";
import { asUser, connect, newSite, newToken, signUser, visit } from "../../../../support/sockets.ts";
import { storedBy } from "../../../../support/stored.ts";
import { newContact, place } from "../../../inbound/fixtures.ts";
import {
  fromMeta,
  fromTelegram,
  metadata,
  signed,
  taken,
  telegramText,
  whatsappText,
} from "../../../inbound/webhook-calls.ts";
import {
  ACCESS_TOKEN,
  APP_SECRET,
  BOT_TOKEN,
  chatOf,
  conversation,
  newNetworkChannel,
  runNext,
  stopTheClock,
} from "./conversation.ts";

stopTheClock();

/** A text that stands nowhere else. */
const canary = (what: string) => `canary-${what}-${randomBase62(12)}`;

/** A refusal that quotes what it was called with, token and all. */
const echo: Script = ({ network, token, text, url }) => {
  const words = `No: ${token} ${text} ${url}`;
  return network === "telegram"
    ? Response.json({ ok: false, error_code: 400, description: words }, { status: 400 })
    : Response.json({ error: { code: 131026, message: words } }, { status: 400 });
};

test("a whole life leaves no secret in log, answers, directory or objects, and no word or address in the log", async () => {
  const heard: unknown[] = [];
  for (const level of ["log", "warn", "error", "info", "debug"] as const) {
    vi.spyOn(console, level).mockImplementation((...line) => void heard.push(line));
  }
  const errors: Answer[] = [];
  const meet = async (answer: Promise<Answer>) => {
    const met = await answer;
    expect(met.status, met.text).toBeGreaterThanOrEqual(400);
    errors.push(met);
  };
  const credentials = {
    telegram: { botToken: `4711:${canary("bot")}` },
    whatsapp: { accessToken: canary("access"), appSecret: canary("app") },
  };
  const words = { content: canary("content"), variable: canary("variable"), name: canary("name"), key: canary("key") };
  const address = "198.51.100.77";
  const contact = "4915799887766";
  for (const secret of Object.values({ ...credentials.telegram, ...credentials.whatsapp })) plant(secret);

  const site = await newSite();
  const { api, organizationId } = site;
  const templateId = await newTemplate(organizationId, "Dear {{name}}");
  const narrow = await newKey(organizationId, { permissions: [], ipAllowlist: [address] });
  const message = {
    ...{ content: words.content, templateId, variables: { name: words.variable } },
    ...{ mediaUrl: `https://${words.name}.test/a.png`, metadata: { note: words.content } },
  };
  for (const kind of ["telegram", "whatsapp"] as const) {
    const calls = fakeNetworks(inTurn(lost, status(302, { Location: "https://evil.test" }), echo, echo));
    const channel = await newNetworkChannel(organizationId, kind, { credentials: credentials[kind] });
    const chat = await chatOf(site, channel.id, contact);
    const path = `/chats/${chat.chatId}/messages`;
    created(await api("POST", path, message, { "Idempotency-Key": words.key }));
    await meet(api("POST", path, { content: words.variable }, { "Idempotency-Key": words.key }));
    await chat.run();
    while ((await chat.queue()).nextAttemptAt !== null) await runNext(chat);
    expect(calls.map(({ token }) => token)).toContain(Object.values(credentials[kind])[0]);
    expect((await chat.messages())[0]).toMatchObject({ status: "FAILED" });

    const forged = kind === "telegram" ? fromTelegram(channel, words, {}) : signed(channel, words.content, "wrong");
    await meet(forged);
    const update = telegramText(contact, words.content);
    const value = whatsappText({ wa_id: contact }, words.content);
    const secret = { secret: credentials.whatsapp.appSecret };
    taken(await (kind === "telegram" ? fromTelegram(channel, update) : fromMeta(channel, [value], secret)));
    await meet(call("GET", `/hooks/whatsapp/${channel.id}?hub.verify_token=${words.key}&hub.challenge=${words.key}`));
    await meet(admin("PATCH", `/channels/${channel.id}`, { credentials: { botToken: 5, accessToken: 5 } }));
    await admin("POST", `/channels/${channel.id}/webhook`);
    await admin("GET", `/channels/${channel.id}`);
  }

  const token = newToken();
  const { page } = await visit(site.channelId, { token, from: address });
  await page.write(words.key, words.content);
  await page.close();
  expect(await (await connect(site.channelId, { protocols: asUser(words.name, "0".repeat(64)) })).closed).toBe(4401);
  await visit(site.channelId, { protocols: asUser(words.name, await signUser(words.name, site.secret)) });

  const chat = await newChat(api, site.channelId, words.name);
  const { id } = await send(api, chat.id, { content: words.content });
  const from = { "CF-Connecting-IP": address };
  await meet(client(narrow.secret)("GET", "/chats", undefined, from));
  await meet(client(`${narrow.secret.slice(0, -1)}_`)("GET", "/key"));
  await meet(
    call("GET", `/admin/v1/organizations?token=${env.ADMIN_TOKEN}`, { headers: { Authorization: "Bearer x" } }),
  );
  await meet(api("POST", `/chats/${chat.id}/messages`, `{"content":"${words.content}`));
  await meet(api("POST", `/chats/${words.name}/messages`, { content: words.content, type: words.variable }));
  await meet(api("GET", `/chats?contact=${words.name}&page=${words.key}`));
  await meet(call("GET", "/api/v1/key", { headers: { Authorization: `Basic ${narrow.secret}` } }));
  const rotated = created(await admin("POST", `/keys/${narrow.key.id}/rotate`, { overlapSeconds: 60 }));
  plant(rotated.secret);
  await admin("POST", `/channels/${site.channelId}/identity-secret`, { overlapSeconds: 60 });
  await admin("POST", "/reseal");
  await admin("POST", `/chats/${chat.id}/messages/${id}/redact`);
  await admin("DELETE", `/keys/${narrow.key.id}`);
  await meet(client(narrow.secret)("GET", "/key", undefined, from));

  const [directory, objects] = [await directoryText(), await objectsText()];
  expect(directory).toContain("Dear {{name}}");
  for (const word of [words.content, words.name]) expect(objects).toContain(word);
  expect([secretIn(directory), secretIn(objects)]).toEqual([null, null]);
  for (const word of [...Object.values(words), contact]) expect(directory).not.toContain(word);

  for (const outage of OUTAGES) {
    breakDirectory(outage);
    await meet(api("POST", `/chats/${chat.id}/messages`, { content: words.content, senderId: words.key }));
    await meet(admin("POST", `/organizations/${organizationId}/members`, { name: words.name }));
  }
  breakObjects("ORGANIZATIONS", "open");
  await meet(api("POST", "/chats", { channelId: site.channelId, contact: { address: words.key } }));
  breakObjects("CHATS", "send");
  await meet(api("POST", `/chats/${chat.id}/messages`, { content: words.content }));

  const log = JSON.stringify(heard);
  for (const event of ["request", "audit", "attempt", "webhook", "error"]) expect(log).toContain(event);
  expect(secretIn(log)).toBeNull();
  for (const word of [...Object.values(words), address, contact]) expect(log).not.toContain(word);
  expect(errors.map(({ text }) => secretIn(text)).filter((secret) => secret !== null)).toEqual([]);
});

/** All that the objects hold. */
async function objectsText(): Promise<string> {
  const held: string[] = [];
  for (const namespace of [env.ORGANIZATIONS, env.KEYS, env.CHATS, env.CHANNELS] as DurableObjectNamespace[]) {
    for (const id of await listDurableObjectIds(namespace)) held.push(await storedBy(namespace.get(id)));
  }
  return held.join("\n");
}

/** Hears all that is logged from here on, on any level. */
function listen() {
  const heard: unknown[] = [];
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((line) => void heard.push(line));
  }
  return {
    /** What the lines of one kind say. */
    of: (event: string) => (heard as Record<string, unknown>[]).filter((line) => line.event === event),
    text: () => JSON.stringify(heard),
  };
}

test.each(["telegram", "whatsapp"] as const)(
  "each attempt at %s leaves one line, with its outcome and nothing of the message or the contact",
  async (kind) => {
    const words = "Told by the network";
    const no = kind === "telegram" ? 400 : 131026;
    fakeNetworks(inTurn(lost, refuse(no, words)));
    const log = listen();
    const chat = await conversation(kind);
    const one = await send(chat.api, chat.chatId, { content: "A private word" });
    const two = await send(chat.api, chat.chatId, { content: "A private word" });
    await chat.run();
    await runNext(chat);
    const { chatId, channelId } = chat;
    const line = { event: "attempt", chatId, channelId, ms: expect.any(Number) };
    expect(log.of("attempt")).toEqual([
      { ...line, messageId: one.id, attempt: 1, outcome: "unknown", code: null },
      { ...line, messageId: one.id, attempt: 2, outcome: "failed", code: `network_${no}` },
      { ...line, messageId: two.id, attempt: 1, outcome: "sent", code: null },
    ]);
    for (const secret of ["private", words, chat.address, BOT_TOKEN, ACCESS_TOKEN]) {
      expect(log.text()).not.toContain(secret);
    }
  },
);

test("a webhook leaves a line for each thing that came, also for what is not stored, and nothing of its sender", async () => {
  const [telegram, whatsapp] = [await place("telegram"), await place("whatsapp")];
  const contact = newContact();
  const log = listen();
  const update = telegramText(contact, "A private word");
  taken(await fromTelegram(telegram.channel, update));
  taken(await fromTelegram(telegram.channel, update));
  taken(await fromTelegram(telegram.channel, { update_id: 1, edited_message: { text: "private" } }));
  taken(await fromTelegram(telegram.channel, "{ private"));
  const elsewhere = { ...whatsappText({ wa_id: contact }, "A private word"), ...metadata("555") };
  const stranger = { statuses: [{ id: "wamid.9", status: "sent", timestamp: "1", recipient_id: contact }] };
  taken(await fromMeta(whatsapp.channel, [elsewhere, stranger, { messages: [{ private: 1 }] }]));
  taken(await signed(whatsapp.channel, "{ private"));
  const said = (channelId: string) =>
    log
      .of("webhook")
      .filter((line) => line.channelId === channelId)
      .map(({ what }) => String(what));
  expect(said(telegram.channel.id)).toEqual([
    "message stored",
    "message repeated",
    "update not stored: edited_message",
    "body is not JSON",
  ]);
  expect(said(whatsapp.channel.id).sort()).toEqual([
    "body not understood",
    "message not understood",
    "status unknown_chat",
    "unknown_account, 1 items",
  ]);
  for (const secret of ["private", contact, BOT_TOKEN, APP_SECRET]) expect(log.text()).not.toContain(secret);
});
