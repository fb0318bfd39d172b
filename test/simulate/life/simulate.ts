import type { ChatIdentity } from "../../../src/model/chat-answers.ts";
import type { ChatReport } from "../../../src/model/organization.ts";
import { Calls } from "../objects/calls.ts";
import type { RenderedPart } from "../objects/globals.ts";
import { SimulatedObject } from "../objects/object.ts";
import type { Party } from "../objects/party.ts";
import { usePlatform } from "../objects/platform.ts";
import { type Isolate, ORGANIZATION_ID, twoIsolates } from "../objects/requests.ts";
import { type ObjectRun, runSeed } from "../objects/scenario.ts";
import { World } from "../objects/world.ts";
import { Acts, type Plan } from "./acts.ts";
import { AnswerJudge } from "./answers.ts";
import { Bucket } from "./bucket.ts";
import { Clients } from "./clients.ts";
import { Contacts } from "./contacts.ts";
import { ContentJudge } from "./content-judge.ts";
import { Elsewhere } from "./elsewhere.ts";
import { checkEnd } from "./end.ts";
import { FileJudge } from "./file-judge.ts";
import { LifeJudge } from "./judge.ts";
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
  readonly #plan: Plan;
  readonly #acts: Acts;
  /** Pauses between operations, in milliseconds. */
  readonly #pauses: readonly number[];

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
    const retains = world.random() < 0.25;
    const hasFiles = world.random() < 0.4;
    const hasBot = world.random() < 0.3;
    const isWorked = world.random() < 0.3;
    const isLabeled = world.random() < 0.3;
    this.#pauses = world.pick([
      [0, 50, 500, 5 * SECOND],
      [500, 5 * SECOND, MINUTE, 10 * MINUTE],
      [5 * SECOND, 10 * MINUTE, HOUR, DAY],
    ]);
    const ahead = world.pick([
      [SECOND, 10 * SECOND, MINUTE],
      [10 * SECOND, 10 * MINUTE, 2 * HOUR],
      // A chat with a scheduled message looks for old messages all the time.
      [MINUTE, HOUR, 2 * DAY, retains ? 5 * DAY : 300 * DAY],
    ]);
    this.#plan = { retains, hasFiles, hasBot, isWorked, isLabeled, ahead };
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
    const contacts = new Contacts(world, service, isolates, content);
    const elsewhere = new Elsewhere(world, service, isolates, content);
    this.#network.onSent = (chat, networkId) => elsewhere.repeatOwn(chat, networkId);
    this.#network.onFailedReaction = (chat, failed) => contacts.failReaction(chat, failed);
    this.#acts = new Acts(world, this.#plan, {
      judge: this.#judge,
      files: this.#files,
      retention: this.#retention,
      network: this.#network,
      clients: this.#clients,
      uploads: this.#uploads,
      contacts,
      elsewhere,
      visitors: this.#visitors,
      chats: this.#chats,
      identities: this.#identities,
      webChats: this.#webChats,
      erase: (chat) => this.#erase(chat),
    });
    this.#addChat("cht_g000000000000001", world.pick(["telegram", "telegram", "whatsapp", "web"]));
    if (world.random() < 0.3) this.#addChat("cht_g000000000000002", world.pick(["telegram", "whatsapp", "web"]));
  }

  async run(): Promise<void> {
    const world = this.#world;
    const chats = [...this.#chats.values()];
    for (let n = 0; n < OPERATIONS; n++) {
      this.#acts.act(world.pick(chats));
      for (const chat of chats) this.#breakSomething(chat);
      if (this.#plan.retains && world.random() < 0.1) {
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
      uploads: this.#plan.hasFiles && world.random() < 0.3 ? this.#uploads : null,
      chats,
      days,
    });
  }

  close(): void {
    for (const { storage } of this.#chats.values()) storage.close();
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
    if (this.#plan.hasFiles) this.#breakFiles();
    const world = this.#world;
    const later = (run: () => void) => world.after(world.between(0, world.pick([5, 50, 500, 5_000, MINUTE])), run);
    if (world.fault("chat lost", 0.15)) later(() => chat.lose());
    if (world.fault("chat deleted", 0.02)) this.#erase(chat);
    if (world.fault("clock set back", 0.03))
      later(() => chat.setClockBack(this.#plan.hasFiles ? SECOND : world.pick([SECOND, 10 * MINUTE, 2 * HOUR])));
    if (world.fault("chat full", 0.05)) chat.storage.databaseSize = FULL;
    else if (world.random() < 0.3) chat.storage.databaseSize = ROOM;
    if (world.fault("channel broken", 0.03)) this.#network.breakFor(world.pick([MINUTE, HOUR, 3 * DAY]));
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
        if ("error" in result) world.after(this.#plan.hasFiles ? world.between(SECOND, HOUR) : SECOND, erase);
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
    const begun = { createdAt: world.now, life: 1, addresses: [], isLean, ...(this.#plan.hasBot && { bot: BOT }) };
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
        failed: (given) => this.#judge.labels.failed(given),
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
          const bot = this.#plan.hasBot ? { bot: BOT } : {};
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
