import type { ChatIdentity } from "../../../src/model/chat-answers.ts";
import type { SendBody } from "../../../src/model/message.ts";
import type { ChatReport } from "../../../src/model/organization.ts";
import { Calls } from "../objects/calls.ts";
import type { RenderedPart } from "../objects/globals.ts";
import { SimulatedObject } from "../objects/object.ts";
import type { Party } from "../objects/party.ts";
import { pickAction, usePlatform } from "../objects/platform.ts";
import { type Isolate, ORGANIZATION_ID, twoIsolates } from "../objects/requests.ts";
import { type ObjectRun, runSeed } from "../objects/scenario.ts";
import { World } from "../objects/world.ts";
import { AnswerJudge } from "./answers.ts";
import { dueAt, networkIdsOf, type Row } from "./book.ts";
import { Bucket } from "./bucket.ts";
import { Clients } from "./clients.ts";
import { ADDRESSES, Contacts } from "./contacts.ts";
import { ContentJudge } from "./content-judge.ts";
import { Elsewhere } from "./elsewhere.ts";
import { checkEnd } from "./end.ts";
import { FileJudge } from "./file-judge.ts";
import { LifeJudge } from "./judge.ts";
import { LABELS } from "./label-judge.ts";
import type { Service } from "./load-service.ts";
import { Network } from "./network.ts";
import { ChannelRetention } from "./retention.ts";
import { BOT, CHANNEL_ID, LIFE_FAULTS, type LifeWorld } from "./rules.ts";
import { Uploads } from "./uploads.ts";
import { Visitors } from "./visitors.ts";

const OPERATIONS = 40;
const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
const FULL = 10_000_000_000;
const ROOM = 4_096;

/** Runs chats whose messages are scheduled, changed and delivered, while the faults of this seed happen. */
export async function simulateLife(service: Service, seed: number, isTraced = false): Promise<ObjectRun> {
  const world: LifeWorld = new World(seed, LIFE_FAULTS, isTraced);
  return runSeed(seed, world, new Simulation(world, service));
}

class Simulation {
  readonly #world: LifeWorld;
  readonly #service: Service;
  readonly #calls: Calls;
  readonly #retention = new ChannelRetention();
  readonly #judge: LifeJudge;
  readonly #answers: AnswerJudge;
  readonly #network: Network;
  readonly #visitors: Visitors;
  readonly #chats = new Map<string, SimulatedObject>();
  /** The chats as their organization has them; null while one is being deleted. */
  readonly #identities = new Map<string, ChatIdentity | null>();
  /** The chats of websites' visitors. */
  readonly #webChats = new Set<string>();
  readonly #clients: Clients;
  readonly #isolates: Isolate[];
  readonly #bucket: Bucket;
  readonly #files: FileJudge;
  readonly #uploads: Uploads;
  /** The files whose reservation arrives twice. */
  readonly #repeated = new Set<string>();
  /** Whether clients upload files. */
  readonly #hasFiles: boolean;
  readonly #contacts: Contacts;
  readonly #elsewhere: Elsewhere;
  /** Whether the channel has a bot. */
  readonly #hasBot: boolean;
  /** Whether clients close chats and put them off. */
  readonly #isWorked: boolean;
  /** Whether clients give chats labels. */
  readonly #isLabeled: boolean;
  /** Whether the channel's retention changes, and days pass. */
  readonly #retains: boolean;
  /** Pauses between operations, in milliseconds. */
  readonly #pauses: readonly number[];
  /** How far ahead messages are scheduled, in milliseconds. */
  readonly #ahead: readonly number[];

  constructor(world: LifeWorld, service: Service) {
    this.#world = world;
    this.#service = service;
    this.#calls = new Calls(world);
    const content = new ContentJudge(world);
    this.#bucket = new Bucket(world);
    this.#files = new FileJudge(world, this.#bucket);
    this.#judge = new LifeJudge(world, this.#retention, content, this.#files);
    this.#answers = new AnswerJudge(world, this.#judge, content, this.#files);
    this.#network = new Network(world, this.#judge);
    this.#visitors = new Visitors(world, this.#judge, content);
    this.#retains = world.random() < 0.25;
    this.#hasFiles = world.random() < 0.4;
    this.#hasBot = world.random() < 0.3;
    this.#isWorked = world.random() < 0.3;
    this.#isLabeled = world.random() < 0.3;
    this.#pauses = world.pick([
      [0, 50, 500, 5 * SECOND],
      [500, 5 * SECOND, MINUTE, 10 * MINUTE],
      [5 * SECOND, 10 * MINUTE, HOUR, DAY],
    ]);
    this.#ahead = world.pick([
      [SECOND, 10 * SECOND, MINUTE],
      [10 * SECOND, 10 * MINUTE, 2 * HOUR],
      // A chat with a scheduled message looks for old messages all the time.
      [MINUTE, HOUR, 2 * DAY, this.#retains ? 5 * DAY : 300 * DAY],
    ]);
    usePlatform(
      service,
      world,
      (chat, messageId, _part, signal, rendered) =>
        this.#network.send(chat, messageId, rendered as RenderedPart, signal),
      (chat, act, signal) => this.#network.act(chat, act, signal),
    );
    const isolates = twoIsolates(world, (party) => this.#env(party));
    this.#isolates = isolates;
    this.#clients = new Clients(world, service, isolates, content);
    this.#uploads = new Uploads(world, service, isolates, { judge: this.#files, clients: this.#clients });
    this.#contacts = new Contacts(world, service, isolates, content);
    this.#elsewhere = new Elsewhere(world, service, isolates, content);
    this.#network.onSent = (chat, networkId) => this.#elsewhere.repeatOwn(chat, networkId);
    this.#network.onFailedReaction = (chat, failed) => this.#contacts.failReaction(chat, failed);
    this.#addChat("cht_g000000000000001", world.pick(["telegram", "telegram", "whatsapp", "web"]));
    if (world.random() < 0.3) this.#addChat("cht_g000000000000002", world.pick(["telegram", "whatsapp", "web"]));
  }

  async run(): Promise<void> {
    const world = this.#world;
    const chats = [...this.#chats.values()];
    for (let n = 0; n < OPERATIONS; n++) {
      this.#act(world.pick(chats));
      for (const chat of chats) this.#breakSomething(chat);
      if (this.#retains && world.random() < 0.1) {
        if (world.fault("channel broken", 0.1)) this.#network.breakFor(2 * DAY);
        await world.run(world.now + world.between(1, 40) * HOUR, 20_000);
      }
      await world.run(world.now + world.between(0, world.pick(this.#pauses)), 5_000);
      if (world.fault("a month passes", 0.02)) await world.run(world.now + 31 * DAY, 20_000);
      for (const chat of chats) this.#judge.checkAlarm(chat);
    }
    world.isFaulty = false;
    this.#network.repair();
    for (const chat of chats) {
      chat.storage.databaseSize = ROOM;
      world.after(0, () => chat.lose());
    }
    this.#clients.maxTries = 20;
    const { days } = this.#retention.current;
    this.#uploads.maxTries = 20;
    await checkEnd({
      world,
      judge: this.#judge,
      clients: this.#clients,
      visitors: this.#visitors,
      bucket: this.#bucket,
      files: this.#files,
      uploads: this.#hasFiles && world.random() < 0.3 ? this.#uploads : null,
      chats,
      days,
    });
  }

  close(): void {
    for (const { storage } of this.#chats.values()) storage.close();
  }

  #act(chat: SimulatedObject): void {
    const world = this.#world;
    const clients = this.#clients;
    const isWeb = this.#webChats.has(chat.name);
    const act = pickAction(world, [
      [11, () => clients.send(chat, this.#plain(chat), this.#ids())],
      [10, () => clients.send(chat, this.#scheduled(), this.#ids())],
      [3, () => this.#scheduleRow(chat)],
      [3, () => clients.repeat()],
      [5, () => this.#with(chat, "SCHEDULED", (id) => clients.move(chat, id, this.#change()))],
      [3, () => this.#with(chat, "SCHEDULED", (id) => clients.cancel(chat, id))],
      [2, () => this.#with(chat, "QUEUED", (id) => clients.cancel(chat, id))],
      [1, () => this.#with(chat, "CANCELED", (id) => this.#changeAny(chat, id))],
      [4, () => this.#with(chat, "FAILED", (id) => this.#resend(chat, id))],
      [2, () => this.#with(chat, "SCHEDULED", (id) => clients.redact(chat, id))],
      [2, () => this.#with(chat, null, (id) => this.#changeAny(chat, id))],
      [2, () => clients.redact(chat, world.pick(this.#withChoices(chat)))],
      [2, () => clients.list(chat)],
      [1, () => clients.export(chat)],
      [3, () => clients.page(chat, this.#cursors(chat))],
      [5, () => this.#with(chat, null, (id) => this.#react(chat, id))],
      [2, () => this.#with(chat, null, (id) => clients.markRead(chat, id))],
      [1, () => clients.showTyping(chat)],
      [this.#retains ? 4 : 0, () => this.#retain()],
      [this.#hasFiles ? 40 : 0, () => this.#uploads.act(chat)],
      [this.#hasFiles ? 25 : 0, () => this.#changeFile(chat)],
      [this.#hasFiles ? 2 : 0, () => this.#eraseUpload(chat)],
      [this.#hasBot ? 12 : 0, () => clients.sendAsBot(chat, this.#plain(chat))],
      [this.#hasBot ? 5 : 0, () => clients.sendAsBot(chat, this.#scheduled())],
      [this.#hasBot ? 6 : 0, () => this.#handOver(chat)],
      [this.#isWorked ? 8 : 0, () => this.#setState(chat)],
      [this.#isLabeled ? 8 : 0, () => this.#label(chat)],
      [7, () => this.#race(chat)],
      isWeb ? [20, () => this.#visit(chat)] : [14, () => this.#write(chat)],
      [isWeb ? 0 : 10, () => this.#writeElsewhere(chat)],
    ]);
    act();
  }

  /** A client reacts to a message, perhaps several times. */
  #react(chat: SimulatedObject, id: string): void {
    const world = this.#world;
    for (let n = world.between(1, 3); n > 0; n--) {
      world.after(world.between(0, 3_000), () => this.#clients.react(chat, id, world.pick(["👍", "🎉", null])));
    }
  }

  /** The contact of a chat with a network does something. */
  #write(chat: SimulatedObject): void {
    const contacts = this.#contacts;
    const networkIds = [...contacts.ids, ...this.#network.ids];
    const one = () => this.#networkId(chat) ?? this.#world.pick(["network-0", ...networkIds]);
    this.#world.pick([
      () => contacts.write(chat, networkIds),
      () => contacts.tap(chat, this.#ids()),
      () => contacts.tap(chat, this.#withChoices(chat)),
      () => contacts.tap(chat, this.#withChoices(chat)),
      () => this.#several((id) => contacts.edit(chat, id), one()),
      () => this.#several((id) => contacts.react(chat, id), one()),
      () => contacts.delete(chat, one()),
      () => contacts.changeAddress(chat, this.#world.pick(ADDRESSES)),
    ])();
  }

  /** The chat changes hands while its bot sends. */
  #handOver(chat: SimulatedObject): void {
    const world = this.#world;
    for (let n = world.between(0, 3); n > 0; n--) {
      world.after(world.between(0, 100), () => this.#clients.sendAsBot(chat, {}));
    }
    world.after(world.between(0, 100), () => this.#clients.handOver(chat));
  }

  /** A client closes the chat, puts it off or opens it, perhaps several times. */
  #setState(chat: SimulatedObject): void {
    const world = this.#world;
    for (let n = world.between(1, 2); n > 0; n--) {
      world.after(world.between(0, 3_000), () => {
        const until = chat.now + world.pick(this.#ahead.filter((ms) => ms <= 5 * DAY));
        this.#clients.setState(chat, world.pick(["closed", "closed", "snoozed", "snoozed", "open"]), until);
      });
    }
  }

  /** Clients give a chat labels and take them off, and now and then the organization deletes one. */
  #label(chat: SimulatedObject): void {
    const world = this.#world;
    const { labels } = this.#judge;
    for (let n = world.between(1, 3); n > 0; n--) {
      const labelId = world.pick(LABELS);
      const isGiven = world.random() < 0.7;
      world.after(world.between(0, world.pick([50, 3_000])), () => this.#clients.label(chat, labelId, isGiven));
    }
    if (world.random() < 0.1) world.after(world.between(0, 3_000), () => labels.deleteLabel(world.pick(LABELS)));
  }

  /** The company writes to the contact elsewhere, perhaps several times within seconds. */
  #writeElsewhere(chat: SimulatedObject): void {
    const world = this.#world;
    for (let n = world.between(1, 3); n > 0; n--) {
      world.after(world.between(0, 3_000), () => this.#elsewhere.write(chat));
    }
  }

  /** A client changes a message that shows a file, or showed one. */
  #changeFile(chat: SimulatedObject): void {
    const book = this.#judge.book(chat);
    const ids = book ? this.#files.shown(chat, book) : [];
    if (ids.length === 0) return;
    const id = this.#world.pick(ids);
    const status = book?.rows.get(id)?.message.status;
    const isUsual = this.#world.random() < 0.5;
    if (status === "FAILED" && isUsual) this.#resend(chat, id);
    else if (status === "SCHEDULED" && isUsual) this.#clients.cancel(chat, id);
    else this.#changeAny(chat, id);
  }

  /** The chat is deleted and created again while files are uploaded. */
  #eraseUpload(chat: SimulatedObject): void {
    const world = this.#world;
    if (!world.fault("chat deleted", 1)) return;
    for (let n = 0; n < 3; n++) this.#uploads.act(chat);
    world.after(world.between(0, 5_000), () => this.#erase(chat));
    for (const ms of [20, 40, 60, 80]) world.after(ms * SECOND, () => this.#clients.list(chat));
  }

  #breakFiles(): void {
    const world = this.#world;
    if (world.fault("isolate lost", 0.05)) {
      const isolate = world.pick(this.#isolates);
      isolate.party.lose();
      isolate.env = this.#env(isolate.party);
    }
    const { stuck, keys } = this.#bucket;
    if (keys.length === 0 || stuck.size >= 2 || !world.fault("R2 keeps a key", 0.1)) return;
    const key = world.pick(keys);
    stuck.add(key);
    world.after(world.between(HOUR, 5 * DAY), () => stuck.delete(key));
  }

  #breakSomething(chat: SimulatedObject): void {
    if (this.#hasFiles) this.#breakFiles();
    const world = this.#world;
    const later = (run: () => void) => world.after(world.between(0, world.pick([5, 50, 500, 5_000, MINUTE])), run);
    if (world.fault("chat lost", 0.15)) later(() => chat.lose());
    if (world.fault("chat deleted", 0.02)) this.#erase(chat);
    if (world.fault("clock set back", 0.03))
      later(() => chat.setClockBack(this.#hasFiles ? SECOND : world.pick([SECOND, 10 * MINUTE, 2 * HOUR])));
    if (world.fault("chat full", 0.05)) chat.storage.databaseSize = FULL;
    else if (world.random() < 0.3) chat.storage.databaseSize = ROOM;
    if (world.fault("channel broken", 0.03)) this.#network.breakFor(world.pick([MINUTE, HOUR, 3 * DAY]));
  }

  #plain(chat: SimulatedObject): Partial<SendBody> {
    const world = this.#world;
    const chance = world.random();
    if (chance < 0.3) return { expiresAt: world.now + world.pick([SECOND, 10 * SECOND, MINUTE, HOUR]) };
    const newest = this.#judge.book(chat)?.newest ?? 0;
    return chance < 0.4 ? { ifSeq: newest } : {};
  }

  #scheduled(): Partial<SendBody> {
    const world = this.#world;
    const scheduledAt = this.#time();
    if (world.random() < 0.6) return { scheduledAt };
    return { scheduledAt, expiresAt: scheduledAt + world.pick([1, SECOND, 10 * SECOND, MINUTE, HOUR]) };
  }

  /** Messages that are due while the one before is being sent. */
  #scheduleRow(chat: SimulatedObject): void {
    let scheduledAt = this.#time() + MINUTE;
    for (let n = 0; n < 3; n++) {
      this.#clients.send(chat, { scheduledAt });
      scheduledAt += this.#world.between(1, 25) * SECOND;
    }
  }

  #time(): number {
    const world = this.#world;
    const at = world.now + world.between(0, world.pick(this.#ahead));
    // Messages that are due at the same time are more common than chance makes them.
    return world.random() < 0.5 ? at : Math.ceil(at / MINUTE) * MINUTE;
  }

  #change(): { scheduledAt?: number | null; expiresAt?: number | null } {
    const world = this.#world;
    const scheduledAt = this.#time();
    return world.pick([
      { scheduledAt },
      { scheduledAt },
      { scheduledAt, expiresAt: scheduledAt + world.pick([SECOND, MINUTE]) },
      { scheduledAt: null },
      { scheduledAt: world.now - HOUR },
      { expiresAt: scheduledAt },
      { expiresAt: null },
    ]);
  }

  /** Any request about one message. */
  #changeAny(chat: SimulatedObject, id: string): void {
    const clients = this.#clients;
    this.#world.pick([
      () => clients.move(chat, id, this.#change()),
      () => clients.cancel(chat, id),
      () => this.#resend(chat, id),
      () => clients.redact(chat, id),
      () => clients.get(chat, id),
    ])();
  }

  #resend(chat: SimulatedObject, id: string): void {
    const twins = this.#world.pick([1, 1, 2]);
    const body = this.#world.random() < 0.3 ? { scheduledAt: this.#time() } : {};
    for (let n = 0; n < twins; n++) this.#clients.resend(chat, id, body);
  }

  /** The pages of a chat's visitor are at work for a few seconds. */
  #visit(chat: SimulatedObject): void {
    const world = this.#world;
    for (let n = world.between(1, 6); n > 0; n--) {
      const visit = () => this.#visitors.act(chat, this.#identities.get(chat.name), this.#withChoices(chat));
      world.after(world.between(0, world.pick([50, 5_000, 20_000])), visit);
    }
  }

  /** Requests about a scheduled message that arrive when it is due. */
  #race(chat: SimulatedObject): void {
    const world = this.#world;
    const scheduled = this.#judge.book(chat)?.soonest() ?? [];
    const row = world.random() < 0.7 ? scheduled[0] : scheduled.at(-1);
    if (!row || dueAt(row) - chat.now > DAY) return;
    const requests = world.between(1, 3);
    for (let n = 0; n < requests; n++) {
      const ms = Math.max(0, dueAt(row) - chat.now + world.between(-50, world.pick([50, 1_000])));
      world.after(ms, () => this.#changeAny(chat, row.message.id));
    }
  }

  /** The contact does something with a message, perhaps several times within seconds. */
  #several(act: (networkId: string) => void, networkId: string): void {
    const world = this.#world;
    for (let n = world.between(1, 4); n > 0; n--) world.after(world.between(0, 3_000), () => act(networkId));
  }

  /** The network's id of a message of the chat, mostly of one of the newest; now and then none. */
  #networkId(chat: SimulatedObject): string | undefined {
    const world = this.#world;
    const ids = (this.#judge.book(chat)?.in("messages") ?? []).flatMap(networkIdsOf);
    if (ids.length === 0 || world.random() < 0.1) return undefined;
    return world.pick(world.random() < 0.8 ? ids.slice(-2) : ids);
  }

  /** Ids that a client or a contact may name: of all chats, of messages that are gone, and one that is of none. */
  #ids(): string[] {
    const books = [...this.#chats.values()].flatMap((chat) => this.#judge.book(chat) ?? []);
    return ["msg_none", ...books.flatMap(({ words }) => [...words.keys()])];
  }

  /** The messages of a chat that ever had choices to tap; any others if there are none. */
  #withChoices(chat: SimulatedObject): string[] {
    const words = [...(this.#judge.book(chat)?.words ?? [])];
    const ids = words.filter(([, own]) => own.some((word) => word.startsWith("title-"))).map(([id]) => id);
    return ids.length > 0 ? ids : this.#ids();
  }

  /** What a client may have as a cursor: ids of messages, and one that is of none. */
  #cursors(chat: SimulatedObject): string[] {
    const book = this.#judge.book(chat);
    return ["msg_none", ...(book?.in("messages") ?? []).map(({ message }) => message.id)];
  }

  /** @param status null for any */
  #with(chat: SimulatedObject, status: string | null, run: (id: string) => void): void {
    const isMeant = ({ message }: Row) => status === null || message.status === status;
    const rows = [...(this.#judge.book(chat)?.rows.values() ?? [])].filter(isMeant);
    if (rows.length > 0) run(this.#world.pick(rows).message.id);
  }

  /** The channel keeps its messages longer, or for less time. */
  #retain(): void {
    const world = this.#world;
    const retention = this.#retention.change(world.pick([1, 1, 2, 30, null]), world.now);
    world.count("retention changed");
    const tell = (chat: SimulatedObject) => {
      const life = this.#identities.get(chat.name)?.life;
      if (life === undefined) return;
      chat.receive("retain", [ORGANIZATION_ID, life, retention], (result) => {
        if ("error" in result) world.after(MINUTE, () => tell(chat));
      });
    };
    for (const chat of this.#chats.values()) {
      if (world.random() < 0.7) world.after(world.between(0, HOUR), () => tell(chat));
    }
  }

  /** A chat deleted itself, because it was empty and idle. It is created again later. */
  #gone(chatId: string, life: number): void {
    const world = this.#world;
    const identity = this.#identities.get(chatId);
    if (identity?.life !== life) return;
    world.count("deleted itself");
    this.#identities.set(chatId, null);
    const create = () => this.#identities.set(chatId, { ...identity, life: life + 1, createdAt: world.now });
    world.after(world.between(0, MINUTE), create);
  }

  /** The chat is deleted, and created again. */
  #erase(chat: SimulatedObject): void {
    const world = this.#world;
    const identity = this.#identities.get(chat.name);
    if (!identity) return;
    this.#identities.set(chat.name, null);
    const create = () =>
      this.#identities.set(chat.name, { ...identity, life: identity.life + 1, createdAt: world.now });
    const erase = () =>
      chat.receive("erase", [ORGANIZATION_ID, identity.life], (result) => {
        if ("error" in result) world.after(this.#hasFiles ? world.between(SECOND, HOUR) : SECOND, erase);
        else world.after(world.between(0, MINUTE), create);
      });
    world.after(0, erase);
  }

  /** A reservation arrives once more. */
  #repeatLate(chat: SimulatedObject, given: unknown[]): void {
    const world = this.#world;
    const file = (given[1] as { id: string }).id;
    if (this.#repeated.has(file) || !world.fault("call twice", 0.2)) return;
    this.#repeated.add(file);
    world.after(world.between(1, 100_000), () => chat.receive("reserveFile", structuredClone(given), () => {}));
  }

  #addChat(chatId: string, channelKind: ChatIdentity["channelKind"]): void {
    const world = this.#world;
    if (channelKind === "web") this.#webChats.add(chatId);
    const at = { organizationId: ORGANIZATION_ID, channelId: CHANNEL_ID, contactAddress: "100" };
    const isLean = world.between(0, 1) === 1;
    const begun = { createdAt: world.now, life: 1, addresses: [], isLean, ...(this.#hasBot && { bot: BOT }) };
    this.#identities.set(chatId, { chatId, ...at, channelKind, ...begun });
    const chat = new SimulatedObject(
      world,
      chatId,
      (state, object) => new this.#service.ChatObject(state, this.#env(object)),
      {
        called: (object, method, given) => {
          if (method === "reserveFile") this.#repeatLate(object, given);
          return this.#answers.called(object, method, given);
        },
        committed: (object) => this.#judge.committed(object),
        framed: (socket, data) => this.#visitors.framed(socket, data),
      },
    );
    this.#chats.set(chatId, chat);
  }

  /** The bindings, as the code of a place has them. */
  #env(party: Party): Env {
    const calls = this.#calls;
    const env = {
      MEDIA: this.#bucket.binding(party),
      CHATS: calls.namespace(party, (name) => this.#chats.get(name) as SimulatedObject),
      ORGANIZATIONS: calls.stub(party, {
        identity: (chatId: string) => this.#identities.get(chatId) ?? null,
        report: (report: ChatReport) => {
          const { number } = report;
          this.#judge.reported(report);
          const { current: retention } = this.#retention;
          const bot = this.#hasBot ? { bot: BOT } : {};
          return { outcome: "ok", number, nextAfterMs: 0, listeningForMs: 0, retention, ...bot };
        },
        labelsAmong: (ids: string[]) => ids.filter((id) => this.#judge.labels.existing.has(id)),
        chatGone: (chatId: string, life: number) => this.#gone(chatId, life),
      }),
      CHANNELS: calls.stub(party, {
        permit: () => this.#network.permit(party as SimulatedObject),
        socketPolicy: () => this.#network.socketPolicy(),
      }),
    };
    return env as unknown as Env;
  }
}
