import type { PartOutcome } from "../../../src/model/network.ts";
import { asOwner } from "../../support/as-owner.ts";
import { Calls, Directory } from "../objects/calls.ts";
import { storedIdentity } from "../objects/identity.ts";
import { MIGRATIONS } from "../objects/migrations.ts";
import { SimulatedObject } from "../objects/object.ts";
import type { Party } from "../objects/party.ts";
import { pickAction, usePlatform } from "../objects/platform.ts";
import { type Isolate, twoIsolates } from "../objects/requests.ts";
import { type ObjectRun, runSeed } from "../objects/scenario.ts";
import { Database } from "../objects/storage.ts";
import { EPOCH, World } from "../objects/world.ts";
import { Clients } from "./clients.ts";
import { Judge } from "./judge.ts";
import type { Service } from "./load-service.ts";
import { checkRest } from "./rest.ts";
import { ORGANIZATION_FAULTS, type OrganizationWorld } from "./rules.ts";

const OPERATIONS = 25;
const MAX_EVENTS = 50_000;
const DAY = 86_400_000;
const ADDRESSES = ["100", "200", "300"];
const ORGANIZATION = "org_g000000000000000";
const CHANNELS = [
  { id: "chn_gtelegram0000000", kind: "telegram" },
  { id: "chn_gweb000000000000", kind: "web" },
] as const;

const tables = new Database();
tables.run(MIGRATIONS);

/** Runs the objects of one organization and its chats, while clients call them and the faults of this seed happen. */
export async function simulateOrganization(service: Service, seed: number, isTraced = false): Promise<ObjectRun> {
  const world: OrganizationWorld = new World(seed, ORGANIZATION_FAULTS, isTraced);
  return runSeed(seed, world, new Simulation(world, service));
}

class Simulation {
  readonly #world: OrganizationWorld;
  readonly #service: Service;
  readonly #calls: Calls;
  readonly #directory = new Directory(tables);
  readonly #organization: SimulatedObject;
  readonly #chats = new Map<string, SimulatedObject>();
  readonly #networkCalls = new Map<string, number>();
  readonly #judge: Judge;
  readonly #isolates: Isolate[];
  readonly #clients: Clients;
  /** Few addresses make a chat come and go more often. */
  readonly #addresses: readonly string[];
  readonly #webShare: number;

  constructor(world: OrganizationWorld, service: Service) {
    this.#world = world;
    this.#service = service;
    this.#calls = new Calls(world);
    this.#addresses = ADDRESSES.slice(0, world.between(1, ADDRESSES.length));
    this.#webShare = world.pick([0.2, 0.5, 1]);
    usePlatform(service, world, (chat) => this.#sendToNetwork(chat));
    this.#fillDirectory();
    this.#organization = new SimulatedObject(
      world,
      "organization",
      (state, object) => new service.OrganizationObject(state, this.#env(object)),
      {
        called: (_object, method, given) => this.#judge.organizationCalled(method, given),
        committed: () => this.#judge.organizationCommitted(),
      },
    );
    this.#judge = new Judge(world, this.#organization, this.#chats);
    this.#isolates = twoIsolates(world, (party) => this.#env(party));
    this.#clients = new Clients(world, service, this.#judge, this.#isolates, { id: ORGANIZATION, channels: CHANNELS });
  }

  async run(): Promise<void> {
    const world = this.#world;
    const isDeleted = world.random() < 0.2;
    const operations = isDeleted ? world.between(4, OPERATIONS) : OPERATIONS;
    for (let n = 0; n < operations; n++) {
      if (isDeleted && n >= operations - 6 && world.random() < 0.4) this.#clients.deleteOrganization();
      else this.#act();
      this.#breakSomething();
      const pause = world.pick([0, 50, 500, 5_000, 60_000, 600_000]);
      await world.run(world.now + world.between(0, pause), 5_000);
    }
    world.isFaulty = false;
    this.#directory.isDown = false;
    this.#organization.isAway = false;
    this.#clients.maxTries = 20;
    await this.#rest();
    await this.#openAll();
    await this.#rest();
    this.#judge.checkMessages();
    checkRest({
      world,
      organization: this.#organization,
      chats: this.#chats,
      networkCalls: this.#networkCalls,
    });
  }

  close(): void {
    this.#organization.storage.close();
    for (const { storage } of this.#chats.values()) storage.close();
  }

  #act(): void {
    const world = this.#world;
    const clients = this.#clients;
    const [telegram, web] = CHANNELS;
    const channel = world.random() < this.#webShare ? web : telegram;
    const address = world.pick(this.#addresses);
    const other = world.pick(["a", "b", ...ADDRESSES]);
    const act = pickAction(world, [
      [4, () => clients.create(channel, address)],
      [6, () => clients.send()],
      [4, () => clients.write(telegram, address, world.random() < 0.3 ? [other] : [])],
      [3, () => clients.visit(web, address)],
      [4, () => clients.redact()],
      [4, () => clients.deleteChat(() => clients.create(channel, address))],
      [1, () => clients.move(telegram, address, other)],
      [1, () => clients.list()],
      [0.3, () => clients.deleteChannel(channel)],
    ]);
    act();
  }

  #breakSomething(): void {
    const world = this.#world;
    const objects = [this.#organization, ...this.#chats.values()];
    for (const object of objects) {
      const at = world.between(0, world.pick([5, 50, 500, 5_000, 60_000]));
      if (world.fault("instance lost", 0.15)) world.after(at, () => object.lose());
    }
    for (const isolate of this.#isolates) {
      if (!world.fault("isolate lost", 0.05)) continue;
      world.after(world.between(0, 500), () => {
        isolate.party.lose();
        isolate.env = this.#env(isolate.party);
      });
    }
    const organization = this.#organization;
    if (organization.isAway) organization.isAway = world.random() < 0.6;
    else organization.isAway = world.fault("organization away", 0.1);
    if (this.#directory.isDown) this.#directory.isDown = world.random() < 0.6;
    else this.#directory.isDown = world.fault("D1 down", 0.1);
  }

  /** Runs until all alarms have ended. */
  async #rest(): Promise<void> {
    const isLeft = await this.#world.run(this.#world.now + 3 * DAY, MAX_EVENTS);
    this.#world.check("rest", !isLeft, () => "alarms go on");
  }

  /** Each address gets a chat, if its channel was not deleted. */
  async #openAll(): Promise<void> {
    for (const { id } of CHANNELS) {
      for (const address of ADDRESSES) {
        // A failed check has told the world already.
        this.#isolates[0]?.party.enter(() => this.#open(id, address).catch(() => {}));
        await this.#rest();
      }
    }
  }

  async #open(channelId: string, address: string): Promise<void> {
    const isOpen = !this.#judge.asked.has(channelId);
    const body = { channelId, contact: { address, name: undefined, personId: undefined }, metadata: {} };
    const env = this.#isolates[0]?.env as Env;
    let outcome = "opened";
    try {
      await this.#service.createChat(env, { organizationId: ORGANIZATION }, body);
    } catch (error) {
      outcome = (error as { code?: string }).code ?? String(error);
    }
    const isErased = this.#judge.erased.has(channelId);
    if (isErased) this.#world.check("erased", outcome === "channel_not_found", () => `${channelId}: ${outcome}`);
    else if (isOpen) this.#world.check("free", outcome === "opened", () => `${address} of ${channelId}: ${outcome}`);
  }

  #sendToNetwork(chat: SimulatedObject): Promise<unknown> {
    const world = this.#world;
    return chat.request((reply) => {
      const life = storedIdentity(chat)?.life;
      const name = `${chat.name} ${life}`;
      this.#networkCalls.set(name, (this.#networkCalls.get(name) ?? 0) + 1);
      const retry = { code: "busy", message: "Busy", afterMs: null, wholeChannel: false };
      const refusals: PartOutcome[] = [
        { outcome: "retry", ...retry },
        { outcome: "failed", code: "refused", message: "Refused" },
        { outcome: "unknown", message: "No answer" },
      ];
      const sent: PartOutcome = { outcome: "sent", id: `network-${world.events}`, addresses: [] };
      const outcome = world.fault("network refuses", 0.3) ? world.pick(refusals) : sent;
      world.after(world.between(5, 500), () => reply({ value: outcome }));
    });
  }

  #fillDirectory(): void {
    const { database } = this.#directory;
    const at = EPOCH - DAY;
    const organization = "insert into organizations (id, name, created_at) values (?, ?, ?)";
    database.query(organization, [ORGANIZATION, "Organization", at]);
    for (const { id, kind } of CHANNELS) {
      const channel = `insert into channels (id, organization_id, kind, name, settings, credential_hints, created_at)
        values (?, ?, ?, ?, '{}', '{}', ?)`;
      database.query(channel, [id, ORGANIZATION, kind, id, at]);
    }
  }

  /** The bindings, as the code of a place has them. */
  #env(party: Party): Env {
    const calls = this.#calls;
    const permit = { outcome: "granted", credentials: {}, brokenSince: null, provenEpoch: 0 };
    const attempt = { probe: null, epoch: 0, trial: null, brokenEpoch: null };
    const env = {
      DB: calls.d1(party, this.#directory),
      CHATS: calls.namespace(party, (name) => this.#chat(name)),
      ORGANIZATIONS: calls.namespace(party, () => this.#organization),
      CHANNELS: calls.stub(party, {
        permit: () => ({ ...permit, ...attempt }),
        admitNewChat: () => ({ ok: true }),
      }),
      KEYS: calls.stub(party, {}),
    };
    return env as unknown as Env;
  }

  #chat(name: string): SimulatedObject {
    const known = this.#chats.get(name);
    if (known) return known;
    const chat = new SimulatedObject(this.#world, name, (state, object) => this.#constructChat(state, object), {
      called: ({ name: chatId }, method, given) => this.#judge.chatCalled(chatId, method, given),
      committed: (object) => this.#judge.chatCommitted(object),
    });
    this.#chats.set(name, chat);
    return chat;
  }

  #constructChat(state: DurableObjectState, object: SimulatedObject): object {
    const service = this.#service;
    const env = this.#env(object);
    const chat = new service.ChatObject(state, env);
    /** Stores a visitor's message, as the visitor's socket does. */
    const visit = async (visitor: Parameters<Service["openVisitorChat"]>[1], dedupe: string) => {
      const { organizationId } = visitor;
      let identity = null;
      if (chat.state(asOwner(organizationId)).outcome === "unknown") {
        const opened = await service.openVisitorChat(env, visitor, null);
        if (opened.outcome !== "opened") return opened;
        identity = opened.identity;
      }
      const id = service.newId("msg", null);
      const draft = { id, dedupe, type: "TEXT", content: dedupe, media: null, origin: null, addresses: [] } as const;
      return chat.receive(asOwner(organizationId, identity), { ...draft, addresses: [] });
    };
    return Object.assign(chat, { visit });
  }
}
