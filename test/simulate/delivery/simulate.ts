import type { ChatIdentity, StateAnswer, StatusNews } from "../../../src/model/chat-answers.ts";
import type { SendBody, ShownMessage } from "../../../src/model/message.ts";
import type { ChatReport } from "../../../src/model/organization.ts";
import { Calls } from "../objects/calls.ts";
import { platformError, SimulatedObject } from "../objects/object.ts";
import { Party } from "../objects/party.ts";
import { usePlatform } from "../objects/platform.ts";
import { CALLER, ORGANIZATION_ID } from "../objects/requests.ts";
import { type ObjectRun, runSeed } from "../objects/scenario.ts";
import { EPOCH, World } from "../objects/world.ts";
import type { Row } from "./book.ts";
import { ChannelJudge } from "./channel-judge.ts";
import { channelOf } from "./channel-line.ts";
import { ChatJudge } from "./chat-judge.ts";
import type { Service } from "./load-service.ts";
import { Network } from "./network.ts";
import { DELIVERY_FAULTS, type DeliveryWorld } from "./rules.ts";
import { SET_BACK_MS } from "./status-judge.ts";

const OPERATIONS = 40;
const MAX_EVENTS = 200_000;
const MAX_MESSAGES = 12;
const MINUTE = 60_000;
const DAY = 86_400_000;
/** After this long all that waited for a pause has ended: back-off, network's rest, reserved start, a late status. */
const DRAINED_MS = 20 * MINUTE;
/** Two of the longest waits for a probe, of 48 minutes; a chat that was not woken by then has asked on its own. */
const BROKEN_MS = 2 * 60 * MINUTE;
/**
 * A chat beside the poisoned one may lose each probe to it, as chance decides which of the two asks first. In 16 of the
 * longest waits that is one case in 65,536.
 */
const POISONED_MS = 16 * 48 * MINUTE;
/** Faults of delivery that the service survives, and that nothing here may cause. */
const OWN_FAULTS = ["alarm_part_failed", "message_failed"];

interface Channel {
  object: SimulatedObject;
  judge: ChannelJudge;
  perSecond: number;
  /** The version of its credentials. */
  version: number;
  /** The network refuses it. */
  isBroken: boolean;
  wasBroken: boolean;
}

export interface Chat {
  object: SimulatedObject;
  judge: ChatJudge;
  channel: Channel;
  identity: ChatIdentity;
  /** Its contact's network never answers. */
  isDeaf: boolean;
  /** The network refuses its contact in the words in which it refuses a channel. */
  isPoisoned: boolean;
  /** A call has left the chat, whose instance may be lost before the answer. */
  mayCrash(): void;
}

/**
 * Delivers the messages of a few chats while the faults of this seed happen. Then the faults stop, except for what stays
 * broken, and every message must reach its end.
 */
export async function simulateDelivery(service: Service, seed: number, isTraced = false): Promise<ObjectRun> {
  const world: DeliveryWorld = new World(seed, DELIVERY_FAULTS, isTraced);
  return runSeed(seed, world, new Simulation(world, service));
}

class Simulation {
  readonly #world: DeliveryWorld;
  readonly #service: Service;
  readonly #calls: Calls;
  readonly #network: Network;
  readonly #channels: Channel[];
  readonly #chats: Chat[];
  readonly #isolate: { party: Party; env: Env };

  constructor(world: DeliveryWorld, service: Service) {
    this.#world = world;
    this.#service = service;
    this.#calls = new Calls(world);
    this.#network = new Network(world);
    const chat = ({ name }: SimulatedObject) => this.#named(this.#chats, name);
    usePlatform(service, world, (object, id, part, signal) => this.#network.send(chat(object), id, part, signal));
    const { log } = service.platform;
    Object.assign(service.platform, {
      channel: (channelId: string) => this.#record(channelId),
      log: (line: { event?: string; outcome?: string }) => {
        log(line);
        if (line.event === "attempt") chat(world.running as SimulatedObject).judge.attempted(line.outcome ?? "");
        if (OWN_FAULTS.includes(line.event ?? "")) world.fail(new Error(JSON.stringify(line)));
      },
    });
    this.#channels = Array.from({ length: world.between(1, 2) }, (_, n) => this.#channel(`chn_g00000000000000${n}`));
    this.#chats = Array.from({ length: world.between(1, 4) }, (_, n) => this.#chat(`cht_g00000000000000${n}`));
    const party = new Party(world, "isolate");
    const env = {
      CHATS: this.#calls.namespace(party, (name) => this.#named(this.#chats, name).object),
      ORGANIZATIONS: this.#organization(party),
    };
    this.#isolate = { party, env: env as unknown as Env };
  }

  async run(): Promise<void> {
    const world = this.#world;
    for (let n = 0; n < OPERATIONS; n++) {
      this.#act(world.pick(this.#chats));
      this.#breakSomething(world.pick(this.#chats), world.pick(this.#channels));
      const pause = world.pick([0, 50, 500, 5_000, 60_000, 600_000]);
      await world.run(world.now + world.between(0, pause), 5_000);
    }
    await this.#drain();
    for (const { judge } of this.#chats) judge.end();
  }

  close(): void {
    for (const { object } of [...this.#chats, ...this.#channels]) object.storage.close();
  }

  #act(chat: Chat): void {
    const world = this.#world;
    const { judge } = chat;
    const { rows, head } = judge.book;
    if (rows.length < MAX_MESSAGES) {
      for (let n = world.pick([0, 1, 1, 1, 4]); n > 0; n--) this.#send(chat, world.pick([1, 1, 1, 2]), this.#expiry());
    }
    if (world.random() < 0.2) {
      this.#request(0, (env) => this.#service.callChat(env, CALLER, chat.object.name, (stub, as) => stub.state(as)));
    }
    const messageId = world.pick([head, rows.length > 0 ? world.pick(rows) : undefined])?.message.id;
    if (messageId === undefined) return;
    const ids = { chatId: chat.object.name, messageId };
    const ms = world.between(0, world.pick([0, 50, 500]));
    if (world.random() < 0.15) world.after(ms, () => this.#cancel(chat, judge.book.byId(messageId)));
    if (world.fault("redacted", 0.1)) {
      this.#request(world.between(0, 400), (env) =>
        this.#service.callChat(env, CALLER, ids.chatId, (stub, as) =>
          stub.redact(as, messageId, `redaction of ${messageId}`),
        ),
      );
    }
  }

  #breakSomething(chat: Chat, channel: Channel): void {
    const world = this.#world;
    world.after(world.between(0, world.pick([0, 50, 500, 30_000])), () => {
      const { isResting } = chat.object;
      if (isResting ? world.fault("chat evicted", 0.3) : world.fault("crash while waiting", 0.2)) chat.judge.lose();
    });
    if (world.fault("clock set back", 0.1)) chat.object.setClockBack(SET_BACK_MS);
    if (world.fault("channel evicted", 0.1)) world.after(0, () => channel.object.lose());
    if (channel.isBroken) channel.isBroken = world.random() > 0.15;
    else channel.isBroken = world.fault("channel broken", 0.1);
    chat.isPoisoned = chat.isPoisoned ? world.random() > 0.1 : world.fault("poisoned recipient", 0.05);
    if (world.fault("credentials changed", 0.1)) {
      const isTold = world.random() < 0.7;
      world.after(world.between(0, 500), () => {
        channel.version++;
        if (isTold) channel.object.receive("refresh", [channel.object.name], () => {});
      });
    }
  }

  /** @throws Violation if a message does not end in time */
  async #drain(): Promise<void> {
    const world = this.#world;
    const since = world.now;
    world.isFaulty = false;
    for (const channel of this.#channels) channel.isBroken = false;
    for (const chat of this.#chats) chat.isPoisoned = false;
    const [chat] = this.#chats;
    const [channel, other] = this.#channels;
    if (chat && world.random() < 0.05) chat.isDeaf = true;
    else if (chat) chat.isPoisoned = world.random() < 0.05;
    if (channel && other) channel.isBroken = world.random() < 0.05;
    if (chat?.isDeaf || chat?.isPoisoned || channel?.isBroken) world.count("something stays broken");
    for (const each of this.#chats) this.#send(each, 1, null);
    const isLeft = await world.run(EPOCH + 400 * DAY, MAX_EVENTS);
    world.check("ends", !isLeft, () => "it never comes to rest");
    for (const each of this.#chats) this.#checkEnds(each, since);
  }

  #checkEnds(chat: Chat, since: number): void {
    const { object, judge, channel } = chat;
    const isSick = chat.isDeaf || chat.isPoisoned || channel.isBroken;
    const isBesidePoison = this.#chats.some((other) => other.isPoisoned && other.channel === channel);
    const waitMs = isBesidePoison ? POISONED_MS : channel.wasBroken ? BROKEN_MS : DRAINED_MS;
    // By a clock that is minutes late, it asks after the poisoned chat each time, until that gives up.
    const isAlwaysLate = isBesidePoison && object.clockChanges > 0;
    const { length } = judge.book.rows;
    // By such a clock, each wait of a second takes minutes, and each message may wait for its start.
    const lateMs = object.clockChanges > 0 ? length * SET_BACK_MS : 0;
    const limit = isSick || isAlwaysLate ? length * 8.5 * DAY : waitMs + lateMs;
    for (const { seq } of judge.book.rows) {
      const took = (judge.doneAt.get(seq) ?? Number.POSITIVE_INFINITY) - since;
      const text = () => `${object.name} message ${seq} ended ${Math.round(took / 1_000)} s after the faults`;
      this.#world.check("ends", took <= limit, text);
    }
  }

  /** After how many milliseconds a message expires; null for never. */
  #expiry(): number | null {
    const most = this.#world.pick([null, null, 300, 3_000, 60_000, 600_000]);
    return most && this.#world.between(1, most);
  }

  /** @param of how many calls it takes */
  #send({ object, judge }: Chat, of: number, expiresAfterMs: number | null): void {
    this.#request(0, async (env) => {
      const media = of > 1 && { type: "IMAGE" as const, mediaUrl: "https://example.com/media" };
      const expiresAt = expiresAfterMs === null ? {} : { expiresAt: this.#world.now + expiresAfterMs };
      const body = { content: "text", metadata: {}, ...media, ...expiresAt } as SendBody;
      const request = { body, idempotencyKey: null, url: "https://parley.test/" };
      const { doc } = await this.#service.sendMessage(env, { waitUntil: () => {} }, CALLER, object.name, request);
      judge.acknowledged((JSON.parse(doc) as ShownMessage).seq ?? 0);
    });
  }

  #cancel({ object }: Chat, row: Row | undefined): void {
    if (!row) return;
    const ids = { chatId: object.name, messageId: row.message.id };
    this.#request(0, (env) => this.#service.cancelMessage(env, CALLER, ids));
  }

  /** A client's request. It may be refused, and it is not repeated. */
  #request(ms: number, request: (env: Env) => Promise<unknown>): void {
    const { party, env } = this.#isolate;
    this.#world.after(ms, () =>
      party.enter(() =>
        request(env).catch((error: { code?: string }) => {
          if (error.code === undefined || error.code.startsWith("ERR_")) this.#world.fail(error);
        }),
      ),
    );
  }

  #channel(name: string): Channel {
    const world = this.#world;
    const perSecond = world.pick([1, 5, 25, 80]);
    const object: SimulatedObject = new SimulatedObject(
      world,
      name,
      (state) => new this.#service.ChannelObject(state, this.#channelEnv(object)),
      { called: () => undefined, committed: () => {}, isSteady: true },
    );
    if (world.fault("channel's clock apart", 1)) object.setClockBack(world.between(-500, 500));
    const judge = new ChannelJudge(world, object, perSecond);
    return { object, judge, perSecond, version: 1, isBroken: false, wasBroken: false };
  }

  #chat(name: string): Chat {
    const world = this.#world;
    const channel = world.pick(this.#channels);
    const channelKind = world.pick(["whatsapp", "telegram"] as const);
    const isLean = world.between(0, 1) === 1;
    const identity = { chatId: name, organizationId: ORGANIZATION_ID, channelId: channel.object.name, channelKind };
    const object: SimulatedObject = new SimulatedObject(
      world,
      name,
      (state) => new this.#service.ChatObject(state, this.#chatEnv(chat)),
      {
        called: (_object, method, given) => this.#called(chat, method, given),
        committed: () => judge.committed(),
        turnEnded: () => judge.turnEnded(),
      },
    );
    const judge = new ChatJudge(world, object, channelKind);
    const chat: Chat = {
      ...{ object, judge, channel, isDeaf: false, isPoisoned: false },
      identity: { ...identity, contactAddress: "100", createdAt: EPOCH, life: EPOCH, addresses: [], isLean },
      mayCrash: () => {
        if (world.fault("crash during a call", 0.02)) world.after(world.between(0, 400), () => judge.lose());
      },
    };
    return chat;
  }

  #called({ judge }: Chat, method: string, given: unknown[]): ((value: unknown) => void) | undefined {
    if (method === "applyStatus") return judge.statuses.arrived(given[2] as StatusNews);
    if (method === "state") return (value) => judge.statuses.described(value as StateAnswer);
    const row = method === "cancel" ? judge.book.byId(given[1] as string) : undefined;
    return row && ((value) => judge.statuses.cancelAnswered(row, (value as { outcome: string }).outcome === "ok"));
  }

  #named<T extends { object: SimulatedObject }>(from: readonly T[], name: string): T {
    return from.find(({ object }) => object.name === name) as T;
  }

  /** A channel as the directory has it. */
  #record(channelId: string) {
    const { judge, perSecond, version } = this.#named(this.#channels, channelId);
    return {
      ...{ organizationId: ORGANIZATION_ID, kind: "telegram", settings: { perSecond }, credentials: {} },
      ...{ readAt: this.#world.now, row: {} },
      /** Only who sends with the credentials reads their version. */
      get credentialsVersion() {
        judge.credentials(String(version));
        return String(version);
      },
    };
  }

  #organization(party: Party): unknown {
    return this.#calls.stub(party, {
      identity: (chatId: string) => this.#named(this.#chats, chatId).identity,
      report: ({ number }: ChatReport) => {
        return { outcome: "ok", number, nextAfterMs: 0, listeningForMs: 0, retention: { days: null, version: 0 } };
      },
    });
  }

  #channelEnv(object: SimulatedObject): Env {
    const world = this.#world;
    const wake = (chatId: string) =>
      object.request((reply) => {
        const isLost = world.fault("wake-up lost", 0.3);
        const chat = this.#named(this.#chats, chatId).object;
        if (!isLost) world.after(world.between(5, 100), () => chat.receive("wake", [], () => {}));
        world.after(100, () => reply(isLost ? { error: platformError(false) } : { value: undefined }));
      });
    const CHATS = { getByName: (chatId: string) => ({ wake: () => wake(chatId) }) };
    return { CHATS, ORGANIZATIONS: this.#organization(object) } as unknown as Env;
  }

  #chatEnv(chat: Chat): Env {
    const cancelHead = () => this.#cancel(chat, chat.judge.book.head);
    return {
      CHANNELS: { getByName: () => channelOf(this.#world, chat, cancelHead) },
      ORGANIZATIONS: this.#organization(chat.object),
    } as unknown as Env;
  }
}
