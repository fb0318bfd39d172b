import type { WebhookPermitAnswer } from "../../../src/model/webhook.ts";
import { Calls, Directory } from "../objects/calls.ts";
import { MIGRATIONS } from "../objects/migrations.ts";
import { SimulatedObject } from "../objects/object.ts";
import type { Party } from "../objects/party.ts";
import { pickAction, usePlatform } from "../objects/platform.ts";
import { type ObjectRun, runSeed } from "../objects/scenario.ts";
import { Database } from "../objects/storage.ts";
import { EPOCH, World } from "../objects/world.ts";
import { SubscriptionChat, type SubscriptionIdentity } from "./chat.ts";
import { checkEnd } from "./end.ts";
import { WebhookJudge } from "./judge.ts";
import type { Service } from "./load-service.ts";
import { WebhookOrganization } from "./organization.ts";
import { ORGANIZATION_ID, Owner } from "./owner.ts";
import { Receivers } from "./receivers.ts";
import { WEBHOOK_FAULTS, type WebhookWorld } from "./rules.ts";

const OPERATIONS = 30;
/** A few seeds are long, and lose no object. */
const MANY_OPERATIONS = 300;
const LONG_SHARE = 0.05;
/** An object without a call sleeps after this time. */
const IDLE_MS = 10_000;
const DAY = 86_400_000;

const tables = new Database();
tables.run(MIGRATIONS);

/** Runs chats that send their events to webhooks, while the faults of this seed happen. */
export async function simulateWebhooks(service: Service, seed: number, isTraced = false): Promise<ObjectRun> {
  const world: WebhookWorld = new World(seed, WEBHOOK_FAULTS, isTraced);
  return runSeed(seed, world, new Simulation(world, service));
}

class Simulation {
  readonly #world: WebhookWorld;
  readonly #service: Service;
  readonly #calls: Calls;
  readonly #directory = new Directory(tables);
  readonly #receivers: Receivers;
  readonly #organization: SimulatedObject;
  readonly #chats = new Map<string, SimulatedObject>();
  readonly #webhooks = new Map<string, SimulatedObject>();
  readonly #judge: WebhookJudge;
  readonly #owner: Owner;
  readonly #maxWebhooks: number;
  readonly #isLong: boolean;
  /** Pauses between operations, in milliseconds. */
  readonly #pauses: readonly number[];
  #lives = 0;
  #texts = 0;

  constructor(world: WebhookWorld, service: Service) {
    this.#world = world;
    this.#service = service;
    this.#calls = new Calls(world);
    this.#receivers = new Receivers(world);
    this.#judge = new WebhookJudge(world, this.#chats, this.#webhooks);
    this.#receivers.judge = this.#judge;
    this.#isLong = world.random() < LONG_SHARE;
    this.#maxWebhooks = this.#isLong ? 1 : world.pick([1, 1, 2, 4]);
    this.#pauses = world.pick([
      [0, 50, 500, 5_000],
      [500, 5_000, 60_000, 600_000],
      [5_000, 600_000, 3_600_000, DAY],
    ]);
    usePlatform(service, world);
    const organization = "insert into organizations (id, name, created_at) values (?, ?, ?)";
    this.#directory.database.query(organization, [ORGANIZATION_ID, "Organization", EPOCH - DAY]);
    this.#organization = new SimulatedObject(
      world,
      "organization",
      (state, object) => new WebhookOrganization(state, this.#directory, () => object.now),
      { called: () => undefined, committed: () => {} },
    );
    const objects = { organization: this.#organization, webhook: (id: string) => this.#webhook(id) };
    this.#owner = new Owner(world, this.#directory, this.#judge, objects);
    const chats = world.between(1, 4);
    for (let n = 1; n <= chats; n++) this.#addChat(`cht_g${String(n).padStart(15, "0")}`);
  }

  async run(): Promise<void> {
    const world = this.#world;
    const webhooks = world.random() < 0.5 ? this.#maxWebhooks : 1;
    for (let n = 0; n < webhooks; n++) this.#owner.create();
    const operations = this.#isLong ? MANY_OPERATIONS : OPERATIONS;
    for (let n = 0; n < operations; n++) {
      this.#act();
      this.#breakSomething();
      await world.run(world.now + world.between(0, world.pick(this.#pauses)), 5_000);
      if (!this.#isLong && world.fault("a month passes", 0.02)) await this.#passMonth();
    }
    world.isFaulty = false;
    this.#directory.isDown = false;
    this.#organization.isAway = false;
    await checkEnd({
      world,
      judge: this.#judge,
      owner: this.#owner,
      receivers: this.#receivers,
      chats: this.#chats,
      webhooks: this.#webhooks,
    });
  }

  close(): void {
    for (const objects of [this.#chats, this.#webhooks]) for (const { storage } of objects.values()) storage.close();
    this.#organization.storage.close();
  }

  #act(): void {
    const world = this.#world;
    const chat = world.pick([...this.#chats.values()]);
    const life = chat.storage.get<SubscriptionIdentity>("identity")?.life;
    const ids = [...this.#judge.book.webhooks.values()].filter(({ isDeleted }) => !isDeleted).map(({ id }) => id);
    const id = world.pick(ids);
    const act = pickAction(world, [
      [16, () => this.#write(chat)],
      [2, () => this.#send(chat, "changeStatus", [])],
      [4, () => this.#redact(chat)],
      [1, () => this.#owner.changeFilter(id)],
      [1, () => this.#owner.disable(id)],
      [2, () => this.#owner.enable(id, world.random() < 0.2 ? "now" : "pending")],
      [1, () => this.#owner.retry(id)],
      [0.5, () => this.#owner.changeUrl(id)],
      [1, () => this.#send(chat, "skip", [id])],
      [1.5, () => this.#replay(chat, id)],
      [0.3, () => ids.length > 1 && this.#owner.delete(id)],
      [3, () => ids.length < this.#maxWebhooks && this.#owner.create()],
    ]);
    if (life === undefined) this.#adopt(chat);
    else if (world.fault("chat deleted", 0.05)) this.#send(chat, "erase", [life]);
    else act();
  }

  #breakSomething(): void {
    const world = this.#world;
    const at = () => world.between(0, world.pick([5, 50, 500, 5_000, 60_000]));
    for (const chat of this.#chats.values()) {
      if (world.fault("chat lost", 0.15)) world.after(at(), () => chat.lose());
      chat.isSilent = chat.isSilent ? world.random() < 0.6 : world.fault("chat silent", 0.04);
    }
    for (const webhook of this.#webhooks.values()) {
      if (!this.#isLong && world.fault("webhook's object lost", 0.1)) world.after(at(), () => webhook.lose());
    }
    const { sick } = this.#receivers;
    for (const id of this.#judge.book.webhooks.keys()) {
      if (sick.has(id)) {
        if (world.random() < 0.3) sick.delete(id);
      } else if (world.fault("receiver dead", 0.08)) sick.set(id, world.pick([0, -1, 500, 404]));
    }
    const organization = this.#organization;
    organization.isAway = organization.isAway ? world.random() < 0.6 : world.fault("organization away", 0.1);
    this.#directory.isDown = this.#directory.isDown ? world.random() < 0.6 : world.fault("D1 down", 0.05);
  }

  /** Events that wait become too old. */
  async #passMonth(): Promise<void> {
    const world = this.#world;
    const id = world.pick([...this.#judge.book.webhooks.keys()]);
    this.#organization.isAway = false;
    this.#directory.isDown = false;
    this.#owner.disable(id);
    await world.run(world.now + 60_000, 5_000);
    for (const chat of this.#chats.values()) this.#write(chat);
    await world.run(world.now + 31 * DAY, 20_000);
    this.#owner.enable(id);
  }

  #write(chat: SimulatedObject): void {
    const texts = Array.from({ length: this.#world.pick([1, 1, 2, 4]) }, () => `text-${++this.#texts}-`);
    this.#send(chat, "write", [texts]);
  }

  #redact(chat: SimulatedObject): void {
    const identity = chat.storage.get<SubscriptionIdentity>("identity");
    const newest = identity ? this.#judge.book.events(chat.name, identity.life).length : 0;
    if (newest > 1) this.#send(chat, "redact", [this.#world.between(Math.max(2, newest - 6), newest)]);
  }

  #replay(chat: SimulatedObject, id: string): void {
    const world = this.#world;
    const identity = chat.storage.get<SubscriptionIdentity>("identity");
    if (!identity) return;
    const { eventId, lifeDigits } = this.#service;
    const newest = this.#judge.book.events(chat.name, identity.life).length;
    const one = eventId(chat.name, lifeDigits(identity.life), world.between(1, Math.max(1, newest)));
    this.#owner.replay(id, world.pick([{ failed: true }, { eventId: one }, { since: world.now - 3_600_000 }]));
  }

  #adopt(chat: SimulatedObject): void {
    this.#lives = Math.max(this.#lives + 1, this.#world.now);
    this.#send(chat, "adopt", [{ chatId: chat.name, organizationId: ORGANIZATION_ID, life: this.#lives }]);
  }

  /** A call that never fails, because clients repeat calls until they are answered. */
  #send(chat: SimulatedObject, method: string, given: unknown[]): void {
    this.#world.after(this.#world.between(0, 50), () => chat.receive(method, given, () => {}));
  }

  #addChat(name: string): void {
    const chat = new SimulatedObject(
      this.#world,
      name,
      (state, object) =>
        new SubscriptionChat(state, object, {
          service: this.#service,
          env: this.#env(object),
          receivers: this.#receivers,
          world: this.#world,
        }),
      {
        called: (object) => () => this.#sleep(object, "chat sleeps"),
        committed: (object) => this.#judge.chatCommitted(object),
      },
    );
    this.#chats.set(name, chat);
    this.#adopt(chat);
  }

  #webhook(id: string): SimulatedObject {
    const known = this.#webhooks.get(id);
    if (known) return known;
    const world = this.#world;
    const { permits } = this.#judge;
    const webhook = new SimulatedObject(
      world,
      id,
      (state, object) => new this.#service.WebhookObject(state, this.#env(object)),
      {
        called: (object, method, given) => {
          const judge = permits.called(object, method, given);
          return (value) => {
            judge?.(value);
            this.#sleep(object, "webhook's object sleeps");
            if (method === "permit") this.#loseAfterRefusal(object, value as WebhookPermitAnswer);
          };
        },
        committed: (object) => this.#judge.webhookCommitted(object),
        fails: (query) => query.includes("insert into attempts_") && world.fault("an attempt is not stored", 0.02),
      },
    );
    this.#webhooks.set(id, webhook);
    return webhook;
  }

  /** The platform drops the instance of an object that has no call for a while. */
  #sleep(object: SimulatedObject, fault: "chat sleeps" | "webhook's object sleeps"): void {
    const world = this.#world;
    if (this.#isLong || !world.fault(fault, 0.3)) return;
    const { begun } = object;
    world.after(IDLE_MS, () => object.begun === begun && object.isIdle && object.lose());
  }

  /**
   * The instance that refused a subscription is lost while the subscription waits. The clock of the next one may be
   * behind.
   */
  #loseAfterRefusal(webhook: SimulatedObject, answer: WebhookPermitAnswer): void {
    const world = this.#world;
    if (this.#isLong || answer.outcome !== "later" || !answer.isWaiting || !world.fault("webhook's object lost", 0.2))
      return;
    world.after(world.between(0, world.pick([50, 5_000])), () => webhook.lose());
  }

  /** The bindings, as the code of a place has them. */
  #env(party: Party): Env {
    const calls = this.#calls;
    const env = {
      DB: calls.d1(party, this.#directory),
      CHATS: calls.namespace(
        party,
        (name) => this.#chats.get(name) as SimulatedObject,
        (chat, method) => (method === "wakeWebhook" ? this.#judge.permits.wakes(party.name, chat.name) : undefined),
      ),
      ORGANIZATIONS: calls.namespace(party, () => this.#organization),
      WEBHOOKS: calls.namespace(party, (name) => this.#webhook(name)),
    };
    return env as unknown as Env;
  }
}
