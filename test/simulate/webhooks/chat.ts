import type { EventLog } from "../../../src/chats/object/log/event-log.ts";
import type { MessageLog } from "../../../src/chats/object/log/message-log.ts";
import type { ChatIdentity } from "../../../src/model/chat-answers.ts";
import type { EventType } from "../../../src/model/event.ts";
import type { EventRange, WebhookFilter } from "../../../src/model/webhook.ts";
import type { SubscriptionHost } from "../../../src/webhooks/subscription/host.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { Service } from "./load-service.ts";
import type { Receivers } from "./receivers.ts";
import type { WebhookWorld } from "./rules.ts";

export type SubscriptionIdentity = Pick<ChatIdentity, "chatId" | "organizationId" | "life">;

/** Where the time of the chat's creation is stored. */
export const BEGUN_AT = "begunAt";

/** A chat's object as far as events concern it: its event log, its reports and its subscriptions, over real storage. */
export class SubscriptionChat {
  readonly #object: SimulatedObject;
  readonly #service: Service;
  readonly #env: Env;
  readonly #receivers: Receivers;
  readonly #faults: WebhookWorld;
  readonly #state: DurableObjectState;
  readonly #alarm: InstanceType<Service["StandingAlarm"]>;
  readonly #tables: InstanceType<Service["ChatTables"]>;
  readonly #log: EventLog;
  readonly #report: InstanceType<Service["ChatReporter"]>;
  readonly #subscriptions: InstanceType<Service["ObjectSubscriptions"]>;
  readonly #due: InstanceType<Service["DueWork"]>;
  #identity: SubscriptionIdentity | undefined;

  constructor(
    state: DurableObjectState,
    object: SimulatedObject,
    { service, env, receivers, world }: { service: Service; env: Env; receivers: Receivers; world: WebhookWorld },
  ) {
    this.#faults = world;
    this.#state = state;
    this.#object = object;
    this.#service = service;
    this.#env = env;
    this.#receivers = receivers;
    const { kv } = state.storage;
    this.#identity = kv.get("identity");
    this.#alarm = new service.StandingAlarm(state.storage);
    this.#tables = new service.ChatTables(state.storage);
    this.#log = new service.EventLog(
      this.#tables,
      () => kv.get<number>(BEGUN_AT) ?? 0,
      () => {},
    );
    const waitUntil = (work: Promise<void>) => state.waitUntil(work);
    this.#subscriptions = new service.ObjectSubscriptions({ ctx: state, alarm: this.#alarm }, () => this.#host());
    this.#report = new service.ChatReporter({
      env,
      storage: state.storage,
      log: this.#messageLog(),
      subscriptions: this.#subscriptions,
      adoption: {
        identity: () => this.#identity as ChatIdentity | undefined,
        exists: (life) => this.#identity?.life === life,
      },
      scheduled: { nextDueAt: () => null },
      acts: { readUpTo: () => null },
      consent: { marketing: () => null },
      work: { now: () => ({ state: "open", snoozedUntil: null }), closedAfter: () => null },
      labels: { ids: () => [] },
      handover: { bot: undefined, count: 0, counts: {}, waitAfter: () => null, learn: () => {} },
      details: {
        assigneeId: () => null,
        assignees: () => () => null,
        details: () => null,
        givenBack: () => ({ upTo: 0, at: 0 }),
      },
      notes: { mentions: () => undefined },
      retention: { onRetention: () => {} },
      indexes: { learn: () => {} },
      alarm: this.#alarm,
      depth: () => 0,
      nextDueAt: () => null,
    });
    const parts = { subscriptions: this.#subscriptions, report: this.#report, tables: this.#tables, log: this.#log };
    this.#due = new service.DueWork({ name: "chat", alarm: this.#alarm, waitUntil }, parts);
  }

  async adopt(identity: SubscriptionIdentity): Promise<void> {
    await this.#alarm.standing();
    const { kv } = this.#state.storage;
    if (this.#identity || identity.life <= (kv.get<number>("tombstone") ?? 0)) return;
    kv.put("identity", identity);
    kv.put(BEGUN_AT, this.#now());
    this.#identity = identity;
    await this.#announce();
  }

  /** Stores messages of the contact. */
  async write(texts: string[]): Promise<void> {
    await this.#alarm.standing();
    if (!this.#identity) return;
    for (const text of texts) {
      const seq = this.#log.newest + 1;
      this.#state.storage.kv.put(`text ${seq}`, text);
      this.#append("message.received", seq);
    }
    await this.#announce();
  }

  async changeStatus(): Promise<void> {
    await this.#alarm.standing();
    if (!this.#identity) return;
    this.#append("message.status", 1);
    await this.#announce();
  }

  async redact(seq: number): Promise<void> {
    await this.#alarm.standing();
    const { kv } = this.#state.storage;
    if (!this.#identity || !kv.get(`text ${seq}`)) return;
    kv.put(`text ${seq}`, "");
    kv.put("redactions", this.#redactions() + 1);
    this.#append("message.redacted", seq);
    this.#subscriptions.all.forgetResponses();
    await this.#announce();
  }

  wakeWebhook(webhookId: string, number: number, startedAt?: number): Promise<number | null> {
    return this.#subscriptions.wake(webhookId, number, startedAt);
  }

  async replayEvents(webhookId: string, replayId: string, ranges: EventRange[]): Promise<number | null> {
    await this.#alarm.standing();
    return this.#identity ? this.#subscriptions.replay(webhookId, replayId, ranges) : null;
  }

  async skip(webhookId: string): Promise<void> {
    await this.#alarm.standing();
    const head = (await this.#subscriptions.all.describe(webhookId))?.head;
    if (head) this.#subscriptions.all.skip(webhookId, head.number);
    await this.#due.standBy();
    this.#subscriptions.start();
  }

  async erase(life: number): Promise<void> {
    const { storage } = this.#state;
    if ((this.#identity?.life ?? 0) > life) return;
    const tombstone = Math.max(life, storage.kv.get<number>("tombstone") ?? 0);
    this.#subscriptions.ownerDeleted();
    this.#identity = undefined;
    this.#due.forget();
    await storage.deleteAll();
    storage.kv.put("tombstone", tombstone);
  }

  alarm(invocation?: AlarmInvocationInfo): Promise<void> {
    return this.#due.ring(invocation);
  }

  #append(type: EventType, seq: number | null): void {
    this.#log.append({ type, seq, note: null, at: this.#now() });
  }

  /** Sets the alarm in the commit of a change, and runs the subscriptions. */
  async #announce(): Promise<void> {
    await this.#alarm.by(this.#report.changed());
    this.#subscriptions.start();
  }

  #now(): number {
    return this.#service.SYSTEM_CLOCK.now();
  }

  #redactions(): number {
    return this.#state.storage.kv.get<number>("redactions") ?? 0;
  }

  #host(): SubscriptionHost | null {
    const identity = this.#identity;
    if (!identity) return null;
    const { SYSTEM_CLOCK: clock, callObject, eventId, lifeDigits } = this.#service;
    const { chatId: subscriptionId, life } = identity;
    const { world } = this.#object;
    const note = (line: unknown) => world.note(() => JSON.stringify(line).split("\\n", 1)[0] ?? "");
    const id = (number: number) => eventId(subscriptionId, lifeDigits(life), number);
    const webhooks = (this.#env as unknown as { WEBHOOKS: Env["WEBHOOKS"] }).WEBHOOKS;
    return {
      clock,
      kv: this.#state.storage.kv,
      logger: { log: note, warn: note, error: (line) => this.#failed(line) },
      subscriptionId,
      exists: () => this.#identity?.life === life,
      newest: () => this.#log.newest,
      matching: (range, filter, limit) => this.#log.matching(range, this.#typesOf(filter), limit),
      count: (range, filter) => this.#log.count(range, this.#typesOf(filter)),
      webhook: (webhookId) => ({
        permit: (request) => callObject(webhooks, webhookId, (object) => object.permit(request), null),
        report: (attempt) => callObject(webhooks, webhookId, (object) => object.report(webhookId, attempt), null),
        giveBack: (...given) => callObject(webhooks, webhookId, (object) => object.giveBack(webhookId, ...given), null),
        lineGone: (...given) => callObject(webhooks, webhookId, (object) => object.lineGone(webhookId, ...given), null),
      }),
      standBy: (at) => this.#alarm.by(at),
      redactions: () => this.#redactions(),
      eventId: id,
      checkUrl: () => null,
      render: async (fact, _payload, previous) => {
        const { seq } = fact;
        if (seq !== null && this.#faults.fault("redacted before a call", 0.03)) this.#later("redact", seq);
        if (this.#faults.fault("deleted before a call", 0.01)) this.#later("erase", life);
        const text = fact.seq === null ? null : (this.#state.storage.kv.get<string>(`text ${fact.seq}`) ?? null);
        const { number, type } = fact;
        if (world.random() < 0.3) await clock.wait(world.between(1, 200));
        return JSON.stringify({ id: id(number), subscriptionId, life, number, type, seq, previous, text });
      },
      sign: async () => {
        if (world.random() < 0.3) await clock.wait(world.between(1, 200));
        return {};
      },
      fetch: (_url, init) => {
        const { seq } = JSON.parse(init.body as string) as { seq: number | null };
        if (seq !== null && this.#faults.fault("redacted during a call", 0.03)) this.#later("redact", seq);
        return this.#receivers.call(this.#object, init);
      },
    };
  }

  /** Another call of this chat is under way. */
  #later(method: string, given: number): void {
    const { world } = this.#object;
    world.after(world.between(1, 300), () => this.#object.receive(method, [given], () => {}));
  }

  #failed(line: unknown): void {
    this.#object.world.fail(new Error(JSON.stringify(line)));
  }

  #typesOf(filter: WebhookFilter): EventType[] {
    return this.#service.EVENT_TYPES.filter((type) => this.#service.matches(filter, type, "chn"));
  }

  /** A log without messages, whose changes are its events. */
  #messageLog(): MessageLog {
    const events = this.#log;
    const log = {
      events,
      get changes() {
        return events.newest;
      },
      newest: () => ({ seq: 0, at: 0 }),
      isEmpty: true,
      exchange: { after: () => [] },
    };
    return log as unknown as MessageLog;
  }
}
