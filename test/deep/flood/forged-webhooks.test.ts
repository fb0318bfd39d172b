import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import {
  ACCESS_TOKEN,
  APP_SECRET,
  newNetworkChannel,
  PHONE_ID,
} from "../../service/chats/object/delivery/conversation.ts";
import { place, reader } from "../../service/inbound/fixtures.ts";
import { fromTelegram, metadata, telegramText, whatsappText } from "../../service/inbound/webhook-calls.ts";
import { type Answer, call, newOrganization } from "../../support/harness.ts";
import { Random } from "../../support/random.ts";
import { signatureOf } from "../../unit/channels/whatsapp/network.ts";
import { directoryRows } from "./rows.ts";

const COUNT = Number(env.TEST_REQUESTS || 400);
const SEED = Number(env.TEST_SEED || Math.trunc(Math.random() * 2 ** 31));
/** One genuine call among this many. */
const GENUINE_EACH = 10;
const AT_ONCE = 20;

const random = new Random(SEED);
const TEXTS = ["Hello", "Grüße 😀 中", "ü", "a".repeat(500), '"\\ü'];
const NAME = "X-Telegram-Bot-Api-Secret-Token";

interface Forged {
  status: number;
  ask: () => Promise<Answer>;
}

async function everything() {
  const telegram = await place("telegram");
  const whatsapp = await place("whatsapp");
  const others = await newOrganization();
  const otherBot = await newNetworkChannel(others.organizationId, "telegram");
  const otherApp = await newNetworkChannel(others.organizationId, "whatsapp", {
    credentials: { appSecret: "another-secret" },
  });
  return { telegram, whatsapp, otherBot, otherApp, ofOthers: reader(others, otherApp.id) };
}

type Everything = Awaited<ReturnType<typeof everything>>;

/** JSON with characters outside ASCII in Meta's escaped form. */
function escaped(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

let contacts = 4_918_000_000;

function notification(): string {
  const value = { ...metadata(PHONE_ID), ...whatsappText({ wa_id: String(++contacts) }, random.pick(TEXTS)) };
  return JSON.stringify({
    object: "whatsapp_business_account",
    entry: [{ id: "1", changes: [{ field: "messages", value }] }],
  });
}

/** A text with one letter in the other case, without an end, with a longer end, or with another letter. */
function spoilt(text: string): string {
  const at = random.between(0, text.length - 1);
  const letter = text[at] ?? "";
  const swapped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  const other = letter === "a" ? "b" : "a";
  const changed = (by: string) => `${text.slice(0, at)}${by}${text.slice(at + 1)}`;
  return random.pick([
    text.slice(0, at),
    text.slice(at + 1),
    `${text}${letter}`,
    changed(other),
    changed(swapped === letter ? other : swapped),
  ]);
}

function swapCase(text: string): string {
  return [...text].map((char) => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase())).join("");
}

function forgedForTelegram({ telegram, otherBot, whatsapp }: Everything): Forged {
  const { channel } = telegram;
  const token = channel.webhook.verifyToken;
  const update = telegramText(++contacts, random.pick(TEXTS));
  const by = (headers: Record<string, string>, id = channel.id) => fromTelegram({ ...channel, id }, update, headers);
  const ask = random.pick([
    () => by({}),
    () => by({ [NAME]: "" }),
    () => by({ [NAME]: spoilt(token) }),
    () => by({ [NAME]: swapCase(token) }),
    () => by({ [NAME]: `${token}, ${token}` }),
    () => by({ [NAME]: otherBot.webhook.verifyToken }),
    () => by({ [NAME]: whatsapp.channel.webhook.verifyToken }),
    () => by({ [NAME]: "undefined" }),
    () => by({ "X-Telegram-Bot-Api-Secret": token }),
    () => by({ Authorization: `Bearer ${token}`, Cookie: `${NAME}=${token}` }),
    () => by({ [NAME]: token }, otherBot.id),
    () => call("POST", `/hooks/telegram/${channel.id}?${NAME}=${token}&secret_token=${token}`, { body: update }),
    () => call("POST", `/hooks/whatsapp/${channel.id}`, { body: update, headers: { [NAME]: token } }),
  ]);
  return { status: 401, ask };
}

function forgedForWhatsapp({ whatsapp, otherApp, telegram }: Everything): Forged {
  const { id, webhook } = whatsapp.channel;
  const body = notification();
  const by = (signature: string | null, bytes = body, to = id) =>
    call("POST", `/hooks/whatsapp/${to}`, {
      body: bytes,
      headers: signature === null ? {} : { "X-Hub-Signature-256": signature },
    });
  const right = () => signatureOf(body, APP_SECRET);
  const upper = (text: string) =>
    escaped(text).replace(/\\u[0-9a-f]{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`);
  const other = JSON.stringify(JSON.parse(body), null, 1);
  const ask = random.pick<() => Promise<Answer>>([
    () => by(null),
    () => by(""),
    () => by("sha256="),
    async () => by(spoilt(await right())),
    async () => by((await right()).toUpperCase()),
    async () => by((await right()).replace("sha256", "sha1")),
    async () => by(`${await right()}, ${await right()}`),
    async () => by(await signatureOf(body, "another-secret")),
    async () => by(await signatureOf(body, ACCESS_TOKEN)),
    async () => by(await signatureOf(body, webhook.verifyToken)),
    async () => by(await signatureOf("", APP_SECRET)),
    async () => by(await right(), other),
    async () => by(await right(), spoilt(body)),
    async () => by(await right(), `\ufeff${body}`),
    async () => by(await signatureOf(other, APP_SECRET)),
    // Signed in the form in which it would have arrived, but sent in the other form, or with letters in the other case.
    async () => by(await right(), escaped(body) === body ? `${body} ` : escaped(body)),
    async () => by(await signatureOf(upper(body) === body ? `${body} ` : upper(body), APP_SECRET)),
    async () => by(await right(), body, otherApp.id),
    async () => by(await right(), body, telegram.channel.id),
  ]);
  return { status: 401, ask };
}

function forgedHandshake({ whatsapp, otherApp }: Everything): Forged {
  const { id, webhook } = whatsapp.channel;
  const token = webhook.verifyToken;
  const right = [
    ["hub.mode", "subscribe"],
    ["hub.verify_token", token],
    ["hub.challenge", "1"],
  ];
  const [mode, shown, challenge] = right as [string[], string[], string[]];
  const query = random.pick([
    ...right.map((each) => [...right, each]),
    ...right.map((each) => right.filter((one) => one !== each)),
    [mode, challenge, ["hub.verify_token", spoilt(token)]],
    [mode, challenge, ["hub.verify_token", otherApp.webhook.verifyToken]],
    [mode, challenge, ["hub.verify_token", ""], shown],
    [mode, challenge, ["HUB.VERIFY_TOKEN", token]],
    [mode, shown, ["hub.challenge", "<script>alert(1)</script>"]],
    [shown, challenge, ["hub.mode", "unsubscribe"]],
    [shown, challenge, ["hub_mode", "subscribe"]],
  ]);
  return { status: 403, ask: () => call("GET", `/hooks/whatsapp/${id}?${String(new URLSearchParams(query))}`) };
}

const FORGERS = [forgedForTelegram, forgedForWhatsapp, forgedForWhatsapp, forgedHandshake];

/** A call that each network could make, for Meta in all the forms that it signs. */
async function genuine({ telegram, whatsapp }: Everything, nth: number): Promise<Answer> {
  if (nth % 4 === 0) return fromTelegram(telegram.channel, telegramText(++contacts, random.pick(TEXTS)));
  const body = notification();
  const [sent, signed] = [
    [body, body],
    [body, escaped(body)],
    [escaped(body), escaped(body)],
  ][(nth % 4) - 1] as [string, string];
  const headers = { "X-Hub-Signature-256": await signatureOf(signed, APP_SECRET) };
  return call("POST", `/hooks/whatsapp/${whatsapp.channel.id}`, { body: sent, headers });
}

test(`of ${COUNT} forged calls none is taken and none leaves a row; those between them that are genuine all are (SEED=${SEED})`, {
  timeout: 3_600_000,
}, async () => {
  vi.spyOn(console, "log").mockReturnValue();
  const there = await everything();
  const [rows, objects] = [await directoryRows(), (await listDurableObjectIds(env.CHATS)).length];
  let taken = 0;
  for (let from = 0; from < COUNT; from += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, nth) => {
        const { status, ask } = random.pick(FORGERS)(there);
        const answer = await ask();
        expect([answer.status, typeof answer.body.code], answer.text).toEqual([status, "string"]);
        if (nth % GENUINE_EACH > 0) return;
        const call = await genuine(there, taken++);
        expect([call.status, call.body], call.text).toEqual([200, { ok: true }]);
      }),
    );
  }
  // Each genuine call came from a new contact: a chat in its organization's object, and an object of its own.
  expect(await directoryRows()).toEqual(rows);
  const lists = await Promise.all([there.telegram, there.whatsapp].map(({ api }) => api("GET", "/chats?limit=1")));
  expect(lists.reduce((sum, { body }) => sum + body.pagination.total, 0)).toBe(taken);
  expect(await listDurableObjectIds(env.CHATS)).toHaveLength(objects + taken);
  expect(await there.ofOthers.chats()).toEqual([]);
  expect(taken).toBeGreaterThanOrEqual(COUNT / GENUINE_EACH);
});
