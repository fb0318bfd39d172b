import { setTimeout as delay } from "node:timers/promises";
import { telegramServer } from "../../support/telegram-server.ts";
import { type TakenMessage, whatsappServer } from "../../support/whatsapp-server.ts";
import type { DevServer } from "../../support/world/dev-server.ts";
import type { Channel } from "../../support/world/factories.ts";
import type { Heard, Repeats } from "./checks.ts";
import type { Parley } from "./parley.ts";

/** Runs for an accepted call, which gets its response afterward, unless the result is "drop". */
type Weather = (address: string) => Promise<"drop" | undefined>;

/** A fake network on this machine that records what it accepted. */
export interface FakeNetwork {
  kind: "telegram" | "whatsapp";
  repeats: Repeats;
  /** The variable with its address for the service. */
  vars: Record<string, string>;
  server: DevServer | null;
  /** By the contact's address. */
  heard: Map<string, Heard[]>;
  weather: Weather | null;
  /**
   * Whether it is too busy for the next call, which then does not count as received, and must be repeated in
   * `busySeconds`.
   */
  busy: (() => boolean) | null;
  busySeconds: number;
  /** Contacts for whose messages WhatsApp sends no status. */
  silent: string[];
  /** A channel of the organization on this network, which gets its webhooks from here. */
  channel(parley: Parley): Promise<Channel>;
  /** The network's `n`th text from a contact. Returns the webhook's response status, or 0 without a response. */
  deliver(n: number, address: string, text: string): Promise<number>;
  close(): Promise<void>;
}

const BOT_TOKEN = "123456:storm-storm-storm";
const SECRETS = { phoneNumberId: "1066", accessToken: "storm-access-token", appSecret: "storm-app-secret" };
const TELL_AGAIN_MS = 100;
/** WhatsApp's delays of statuses, in turn. A call that is repeated too early comes before its status. */
const TOLD_AFTER_MS = [0, 6_000, 12_000];

/** Telegram sends nothing after its response, so the service repeats a call that was cut off. */
export async function fakeTelegram(): Promise<FakeNetwork> {
  const fake = await telegramServer({ token: BOT_TOKEN });
  const self: FakeNetwork = {
    kind: "telegram",
    repeats: { statusForbids: false, apartMs: 0 },
    vars: { TELEGRAM_API_BASE: fake.base },
    ...newJournal(),
    async channel(parley) {
      const channel = await parley.channel("telegram", { botToken: BOT_TOKEN });
      fake.webhook = { url: channel.webhook.url, secret: channel.webhook.verifyToken };
      return channel;
    },
    deliver: (n, address, text) =>
      fake.deliver({ message_id: n, chat: { id: Number(address), first_name: "Ann" }, text }).catch(() => 0),
    close: () => fake.close(),
  };
  fake.weather = async ({ method, body }) => {
    if (method !== "sendMessage") return undefined;
    if (self.busy?.()) return { status: 429, parameters: { retry_after: self.busySeconds } };
    note(self, String(body.chat_id), String(body.text));
    return self.weather?.(String(body.chat_id));
  };
  return self;
}

/** WhatsApp sends a message's status until the service accepts it. */
export async function fakeWhatsApp(): Promise<FakeNetwork> {
  const fake = await whatsappServer({ token: SECRETS.accessToken });
  let isOpen = true;
  let calls = 0;
  const self: FakeNetwork = {
    kind: "whatsapp",
    repeats: { statusForbids: true, apartMs: 90_000 },
    vars: { WHATSAPP_API_BASE: fake.base },
    ...newJournal(),
    async channel(parley) {
      const channel = await parley.channel("whatsapp", SECRETS);
      fake.webhook = { url: channel.webhook.url, ...SECRETS };
      return channel;
    },
    deliver: (n, address, text) => fake.deliver({ id: `wamid.in.${n}`, from: address, text }).catch(() => 0),
    close() {
      isOpen = false;
      return fake.close();
    },
  };
  async function tell(message: TakenMessage, heard: Heard): Promise<void> {
    await delay(TOLD_AFTER_MS[calls++ % TOLD_AFTER_MS.length]);
    for (const status of ["sent", "delivered"] as const) {
      while (isOpen) {
        const answered = await fake.tell(message, status).catch(() => 0);
        if (answered === 200) break;
        await delay(TELL_AGAIN_MS);
      }
      heard.toldAt ??= isOpen ? Date.now() : null;
    }
  }
  fake.weather = async (message) => {
    if (self.busy?.()) return "busy";
    const heard = note(self, message.to, message.text);
    const met = await self.weather?.(message.to);
    if (!self.silent.includes(message.to)) void tell(message, heard);
    return met;
  };
  return self;
}

function newJournal(): Omit<FakeNetwork, "kind" | "repeats" | "vars" | "channel" | "deliver" | "close"> {
  return { server: null, heard: new Map(), weather: null, busy: null, busySeconds: 1, silent: [] };
}

function note({ heard, server }: FakeNetwork, address: string, content: string): Heard {
  const call: Heard = { content, life: server?.life ?? 0, at: Date.now(), toldAt: null };
  const known = heard.get(address);
  if (known) known.push(call);
  else heard.set(address, [call]);
  return call;
}
