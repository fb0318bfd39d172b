import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { folded } from "../../../../src/model/folding.ts";
import type { Message } from "../../../../src/model/message.ts";
import { crash, newNetworkChannel, pass } from "../../../service/chats/object/delivery/conversation.ts";
import { DAY } from "../../../service/chats/object/scheduled/fixtures.ts";
import { newContact } from "../../../service/inbound/fixtures.ts";
import { fromTelegram, taken, telegramText } from "../../../service/inbound/webhook-calls.ts";
import { indexed } from "../../../service/search/fixtures.ts";
import { limitIndexes } from "../../../service/search/object/fixtures.ts";
import { randomFault } from "../../../service/search/random-faults.ts";
import { runAlarm } from "../../../support/alarms.ts";
import {
  admin,
  type Client,
  client,
  created,
  newChannel,
  newChat,
  newKey,
  newOrganization,
} from "../../../support/harness.ts";
import { fakeNetworks } from "../../../support/networks.ts";
import { Random } from "../../../support/random.ts";
import { heldBy, NOTHING } from "../../../support/stored.ts";

const PERMISSIONS = ["chats:read", "chats:write", "messages:read", "messages:send", "channels:write", "channels:read"];
const UNLIMITED = { limit: 3_600_000, windowSeconds: 3_600 };
/** An index is full soon, so that the organization has several. */
const LIMITS = { messages: 12, tableMessages: 5 };
const WORDS = [
  "refund",
  "Refunds",
  "Straße",
  "STRASSE",
  "สวัสดี",
  "退款",
  "🙂",
  "🙂👍",
  "ab",
  'x" OR *',
  "José",
  "fund is",
  "e",
];
const SEARCHES = ["refund", "fund", "strasse", "สวั", "退款", "🙂", "ab", '" or', "jose", "is re", "nd re", "🙂👍"];

/** What can be found: the text of each message by its id, and its place in the order. */
type Truth = Map<string, { text: string; chatId: string; seq: number; at: number }>;

/**
 * Does random things to an organization's messages, and compares what its search finds to a scan of all of them: never what is
 * not there or has another text now, never twice, in the right order, and everything that the indexes have been told.
 */
export class RandomSearch {
  readonly #random: Random;
  #api: Client;
  #organizationId: string;
  #web: string;
  #telegram: Awaited<ReturnType<typeof newNetworkChannel>>;
  readonly #inbound: { contact: string; messageId: number }[] = [];
  readonly #chats = new Set<string>();
  /** The addresses of deleted web chats. */
  readonly #gone = new Set<string>();
  /** The texts that the indexes were told, by message; those that changed since may be missing. */
  #known = new Map<string, string>();
  #isOn = true;

  private constructor(seed: number, place: Awaited<ReturnType<typeof newPlace>>) {
    this.#random = new Random(seed);
    this.#api = place.api;
    this.#organizationId = place.organizationId;
    this.#web = place.channelId;
    this.#telegram = place.telegram;
  }

  static async begin(seed: number): Promise<RandomSearch> {
    fakeNetworks();
    limitIndexes(LIMITS);
    return new RandomSearch(seed, await newPlace());
  }

  async act(): Promise<void> {
    const random = this.#random;
    const acts: [number, () => Promise<unknown>][] = [
      [8, () => this.#send()],
      [6, () => this.#write()],
      [3, () => this.#edit()],
      [3, () => this.#redact()],
      [2, () => this.#deleteChat()],
      [3, () => this.#createAgain()],
      [1, () => this.#retain()],
      [5, () => this.told()],
      [2, () => this.#evict()],
      [1, () => this.#break()],
      [1, () => this.#turn()],
      [0.5, () => this.#deleteChannel()],
      [0.25, () => this.#deleteOrganization()],
    ];
    const all = acts.flatMap(([weight, act]) => Array.from({ length: 4 * weight }, () => act));
    await random.pick(all)();
    pass(random.pick([0, 0, 1, 500]));
    if (random.next() < 0.5) await this.check();
  }

  /** All chats tell the indexes what they said. */
  async told(): Promise<void> {
    for (let rings = 0; rings < 4; rings++) {
      await this.#ringChats();
      await runAlarm(this.#organization());
      pass(rings === 2 ? 61_000 : 3_000);
    }
    if (this.#isOn) this.#known = new Map([...(await this.#truth())].map(([id, { text }]) => [id, text]));
  }

  /** Compares a search, or several, to a scan. */
  async check(): Promise<void> {
    const truth = await this.#truth();
    for (const search of [this.#random.pick(SEARCHES), this.#random.pick(SEARCHES)]) {
      const found = await this.#found(search);
      if (!found) continue;
      const wanted = folded(search);
      const matching = [...truth].filter(([, { text }]) => folded(text).includes(wanted));
      const ids = new Set(matching.map(([id]) => id));
      expect(
        found.filter((id) => !ids.has(id)),
        `${search} finds what is not there`,
      ).toEqual([]);
      expect(new Set(found).size, `${search} finds something twice`).toBe(found.length);
      const told = matching.filter(([id, { text }]) => this.#known.get(id) === text).map(([id]) => id);
      expect(
        told.filter((id) => !found.includes(id)),
        `${search} misses what was told`,
      ).toEqual([]);
      const times = found.map((id) => truth.get(id)?.at ?? 0);
      expect(times, `${search} is in order`).toEqual(times.toSorted((a, b) => b - a));
    }
  }

  async #send(): Promise<void> {
    const chatId =
      this.#chats.size < 3 || this.#random.next() < 0.1
        ? (await newChat(this.#api, this.#web)).id
        : this.#random.pick([...this.#chats]);
    this.#chats.add(chatId);
    created(await this.#api("POST", `/chats/${chatId}/messages`, { content: this.#text() }));
  }

  async #write(): Promise<void> {
    const contact = this.#random.next() < 0.3 ? newContact() : (this.#inbound.at(-1)?.contact ?? newContact());
    const update = telegramText(contact, this.#text());
    taken(await fromTelegram(this.#telegram, update));
    this.#inbound.push({ contact, messageId: update.message.message_id });
    const { body } = await this.#api("GET", `/chats?channel=${this.#telegram.id}&limit=100`);
    for (const { id } of body.chats) this.#chats.add(id);
  }

  async #edit(): Promise<void> {
    if (this.#inbound.length === 0) return;
    const { contact, messageId } = this.#random.pick(this.#inbound);
    const { message, update_id } = telegramText(contact, this.#text());
    const edited = { ...message, message_id: messageId, edit_date: Math.floor(Date.now() / 1_000) };
    taken(await fromTelegram(this.#telegram, { update_id, edited_message: edited }));
  }

  async #redact(): Promise<void> {
    const [id, message] = this.#random.pick([...(await this.#truth())]) ?? [];
    if (message) expect((await admin("POST", `/chats/${message.chatId}/messages/${id}/redact`)).status).toBe(200);
  }

  async #deleteChat(): Promise<void> {
    const id = this.#random.pick([...this.#chats]);
    if (id === undefined) return;
    const { status, body } = await admin("DELETE", `/chats/${id}`);
    expect(status).toBe(200);
    this.#chats.delete(id);
    if (body.chat.channel.id === this.#web) this.#gone.add(body.chat.contact.address);
  }

  /** A chat with the address of a deleted one has its id, and says something else. */
  async #createAgain(): Promise<void> {
    const address = this.#random.pick([...this.#gone]);
    if (address === undefined) return;
    this.#gone.delete(address);
    const { id } = await newChat(this.#api, this.#web, address);
    this.#chats.add(id);
    for (let count = this.#random.between(1, 3); count > 0; count--)
      created(await this.#api("POST", `/chats/${id}/messages`, { content: this.#text() }));
  }

  /** Messages older than a day are deleted. */
  async #retain(): Promise<void> {
    const change = { retentionDays: 1 };
    expect((await admin("PATCH", `/channels/${this.#web}`, change)).status).toBe(200);
    pass(2 * DAY);
    await runAlarm(this.#organization());
    await this.#ringChats();
    expect((await admin("PATCH", `/channels/${this.#web}`, { retentionDays: null })).status).toBe(200);
    await this.#truth();
  }

  async #ringChats(): Promise<void> {
    for (const id of this.#chats) await runAlarm(env.CHATS.getByName(id));
  }

  async #evict(): Promise<void> {
    const id = this.#random.pick([...this.#chats]);
    const objects = [this.#organization(), ...this.#indexes(), ...(id ? [env.CHATS.getByName(id)] : [])];
    const object = this.#random.pick(objects);
    await runInDurableObject(object, () => {});
    await evictDurableObject(object);
  }

  /** An object fails or is lost while the indexes are told. */
  async #break(): Promise<void> {
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
    const ring = randomFault(this.#random, {
      chats: () => this.#ringChats(),
      organization: () => runAlarm(this.#organization()),
    });
    for (let rings = 0; rings < 3; rings++) {
      await ring();
      vi.restoreAllMocks();
      vi.spyOn(console, "warn").mockReturnValue();
      vi.spyOn(console, "error").mockReturnValue();
      pass(3_000);
    }
    vi.restoreAllMocks();
    fakeNetworks();
    limitIndexes(LIMITS);
    if (this.#random.next() < 0.5) await crash(this.#random.pick([this.#organization(), ...this.#indexes()]));
    // Reports that failed are repeated after ten minutes at the latest.
    pass(11 * 60_000);
    await this.told();
  }

  /** What the indexes have in all: nothing of what was redacted or deleted. Once all is told. */
  async isClean(): Promise<void> {
    if (!this.#isOn) return;
    const texts = (await this.#truth()).size;
    const counts = await Promise.all(
      (await this.#living()).map((number) => indexed(this.#organizationId, number).catch(() => 0)),
    );
    const kept = counts.reduce((sum, count) => sum + count, 0);
    expect(kept, "the indexes keep what is gone").toBeLessThanOrEqual(texts);
  }

  async #living(): Promise<number[]> {
    return (await this.#organization().searchNumbers()) ?? [];
  }

  /** Turns the search off or on. */
  async #turn(): Promise<void> {
    this.#isOn = !this.#isOn;
    pass(DAY);
    this.#known = new Map();
    const answer = await this.#api("PATCH", "/organization", { search: { on: this.#isOn } });
    expect(answer.status).toBe(200);
    if (!this.#isOn) return;
    await this.told();
    expect(answer.body.organization.search.state).not.toBe("off");
  }

  /** The web channel with its chats. Another one comes in its place. */
  async #deleteChannel(): Promise<void> {
    expect((await admin("DELETE", `/channels/${this.#web}`)).status).toBe(200);
    this.#web = await newChannel(this.#organizationId, "web");
    this.#gone.clear();
    await this.#truth();
  }

  /** The organization with its indexes. Another one comes in its place. */
  async #deleteOrganization(): Promise<void> {
    const numbers = (await this.#organization().searchNumbers()) ?? [];
    expect((await admin("DELETE", `/organizations/${this.#organizationId}`)).status).toBe(200);
    const mark = { ...NOTHING, values: [["erased", true]] };
    for (const number of numbers) {
      expect(await heldBy(env.SEARCH_INDEXES.getByName(`${this.#organizationId}:${number}`))).toEqual(mark);
    }
    const { api, organizationId, channelId, telegram } = await newPlace();
    this.#api = api;
    this.#organizationId = organizationId;
    this.#web = channelId;
    this.#telegram = telegram;
    this.#inbound.length = 0;
    this.#chats.clear();
    this.#gone.clear();
    this.#known.clear();
    this.#isOn = true;
  }

  /** The ids of what a search finds, page by page; null if it is off. */
  async #found(search: string): Promise<string[] | null> {
    const found: string[] = [];
    const limit = this.#random.pick([1, 2, 5, 100]);
    for (let before = ""; ; ) {
      const query = `search=${encodeURIComponent(search)}&limit=${limit}${before && `&before=${before}`}`;
      const { status, body } = await this.#api("GET", `/messages?${query}`);
      expect(status).toBe(this.#isOn ? 200 : 409);
      if (!this.#isOn) return null;
      found.push(...body.messages.map(({ message }: { message: Message }) => message.id));
      if (!body.pagination.hasMore) return found;
      before = body.pagination.cursor;
    }
  }

  async #truth(): Promise<Truth> {
    const truth: Truth = new Map();
    for (const chatId of this.#chats) {
      const { status, body } = await this.#api("GET", `/chats/${chatId}/messages?limit=100`);
      // Its channel was deleted; or it deleted itself, because its retention left no message.
      if (status === 404) this.#chats.delete(chatId);
      else {
        expect(body.pagination.hasMore).toBe(false);
        for (const { id, text, seq, createdAt } of body.messages as Message[])
          if (text) truth.set(id, { text, chatId, seq, at: Date.parse(createdAt) });
      }
    }
    return truth;
  }

  #text(): string {
    return Array.from({ length: this.#random.between(1, 4) }, () => this.#random.pick(WORDS)).join(" ");
  }

  #organization() {
    return env.ORGANIZATIONS.getByName(this.#organizationId);
  }

  #indexes() {
    return [1, 2].map((number) => env.SEARCH_INDEXES.getByName(`${this.#organizationId}:${number}`));
  }
}

async function newPlace() {
  const { organizationId, channelId } = await newOrganization({ search: { on: true } });
  const { secret } = await newKey(organizationId, { permissions: PERMISSIONS, rateLimit: UNLIMITED });
  const telegram = await newNetworkChannel(organizationId, "telegram");
  return { organizationId, channelId, api: client(secret), telegram };
}
