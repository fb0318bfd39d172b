import { createHmac } from "node:crypto";
import { PERMISSIONS } from "../../src/model/permission.ts";
import { type Channel, CREDENTIALS, createChannel, createKey, createTemplate } from "../support/world/factories.ts";
import type { Desk } from "./console.ts";

/** Names and texts that no layout expects: long words, scripts that run from right to left, and what can't be broken. */
export const GERMAN = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
const ARABIC = "محمد عبد الرحمن بن سليمان آل الشيخ الأنصاري";
const HEBREW = "חברת המשלוחים הבינלאומית של ירושלים";
const ADDRESS = `https://shop.example/orders/${"4711".repeat(30)}`;

/** More chats than the count of unanswered ones shows. */
const WAITING = 104;
const LINES = ["Hello?", "Are you there?", `My parcel has not come. ${ADDRESS}`, GERMAN, "مرحبا، أين طلبي؟"];

export interface Hostile {
  /** A chat with messages of every status, some in runs, a note, and one that is scheduled. */
  chatId: string;
  keyId: string;
  webhookId: string;
  templateId: string;
  /** The WhatsApp channel of all waiting chats. */
  channelId: string;
}

/** Fills an organization with what makes a layout break. */
export async function fillWithHostileData(desk: Pick<Desk, "organization" | "api" | "channel">, base: string) {
  const { organization, api } = desk;
  for (const [n, name] of [GERMAN, ARABIC, HEBREW, "Ånn", "A. ".repeat(60)].entries()) {
    await api("POST", "/members", { name, permissions: PERMISSIONS.slice(0, 3 + n) });
    await createChannel(organization, { name: n % 2 ? name : `${name} ${n}` });
  }
  const channel = await createChannel(organization, { kind: "whatsapp", name: `WhatsApp ${GERMAN}` });
  const names = [ARABIC, GERMAN, HEBREW, "Ann", "李小龍", "O’Brien-Featherstonehaugh, Cholmondeley"];
  for (let n = 0; n < WAITING; n++) {
    const name = n < names.length ? (names[n] ?? "") : `${names[n % names.length]} ${n}`;
    await hears(base, channel, `1555100${String(n).padStart(4, "0")}`, name, n < names.length ? LINES : ["Hello?"]);
  }
  const { chats } = await api("GET", "/chats?search=15551000000");
  const chatId: string = chats[0].id;
  const { members } = await api("GET", "/members");
  const metadata = { [GERMAN.slice(0, 40)]: ADDRESS, order: "A-17" };
  await api("PATCH", `/chats/${chatId}`, { assigneeId: members.at(-1).id, metadata });
  for (const content of ["Yes", "We look into it", `It is here: ${ADDRESS}`, GERMAN, "نعم، هو في الطريق"]) {
    await api("POST", `/chats/${chatId}/messages`, { content });
  }
  await api("POST", `/chats/${chatId}/notes`, { content: `Call back: ${GERMAN} ${ADDRESS}` });
  for (const [name, color] of [
    [GERMAN.slice(0, 40), "#c62828"],
    ["\u202Eevil <b>", null],
    ["ملصق عربي طويل", "#0d6b5e"],
  ]) {
    const { label } = await api("POST", "/labels", { name, color });
    await api("PUT", `/chats/${chatId}/labels/${label.id}`);
  }
  const scheduledAt = new Date(Date.now() + 26 * 3_600_000).toISOString();
  await api("POST", `/chats/${chatId}/messages`, { content: `Later: ${ADDRESS}`, scheduledAt });
  const key = await createKey(organization, { name: GERMAN, permissions: PERMISSIONS });
  await createKey(organization, { name: ARABIC, permissions: ["chats:read"], expiresAt: scheduledAt });
  const { webhook } = await api("POST", "/webhooks", {
    url: `https://shop.example/${"parley".repeat(12)}?of=${GERMAN.replaceAll("ä", "a")}`,
    description: `${GERMAN} ${ARABIC}`,
    types: ["message.received", "message.created", "message.status", "chat.*", "note.*", "webhook.*"],
  });
  const templateId = await createTemplate(organization, {
    name: `order_${"shipped_".repeat(8)}x`,
    body: `Hello {{name}}, ${GERMAN} {{${"tracking_number_".repeat(3)}x}} ${ADDRESS}`,
  });
  await createTemplate(organization, { name: "welcome", language: "ar", body: `${ARABIC} {{name}}` });
  return { chatId, keyId: key.id, webhookId: webhook.id, templateId, channelId: channel.id } satisfies Hostile;
}

/** A contact of a WhatsApp channel writes, as the network tells it. */
async function hears(base: string, { webhook }: Channel, from: string, name: string, texts: readonly string[]) {
  const { phoneNumberId, appSecret } = CREDENTIALS.whatsapp;
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const messages = texts.map((body, n) => ({
    id: `wamid.${from}.${n}`,
    from,
    timestamp,
    type: "text",
    text: { body },
  }));
  const contacts = [{ wa_id: from, profile: { name } }];
  const metadata = { phone_number_id: phoneNumberId, display_phone_number: phoneNumberId };
  const value = { messaging_product: "whatsapp", metadata, contacts, messages };
  const body = JSON.stringify({
    object: "whatsapp_business_account",
    entry: [{ id: "1", changes: [{ field: "messages", value }] }],
  });
  const signature = `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
  const url = new URL(new URL(webhook.url).pathname, base);
  const answer = await fetch(url, { method: "POST", headers: { "X-Hub-Signature-256": signature }, body });
  if (answer.status !== 200) throw new Error(`The webhook answered ${answer.status}: ${await answer.text()}`);
}
