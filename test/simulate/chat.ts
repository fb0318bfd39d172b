import type { PermitAnswer } from "../../src/channels/object/permits.ts";
import { REPORT_AFTER_MS } from "../../src/chats/object/chat-report.ts";
import type { DeliveryDecisions } from "../../src/chats/object/delivery/decisions.ts";
import type { ChannelPort } from "../../src/chats/object/delivery/permit.ts";
import { DeliveryQueue } from "../../src/chats/object/delivery/queue.ts";
import { nextPosition, outboundMessage } from "../../src/chats/object/log/new-message.ts";
import type { ChatIdentity, StatusNews } from "../../src/chats/rpc.ts";
import { messageId } from "../../src/ids.ts";
import { StandingAlarm } from "../../src/platform/object/alarm.ts";
import { SimulatedAdapter } from "./adapter.ts";
import type { Answered, SimulatedChannel } from "./channel.ts";
import { ChatJudge, type OwedReport } from "./chat-judge.ts";
import { ChatPlatform } from "./chat-platform.ts";
import { type Decisions, watchDelivery } from "./decisions.ts";
import type { Call, SimulatedNetwork } from "./network.ts";
import { EPOCH, type World } from "./world.ts";

/** A chat's object: the service's delivery queue and alarm, and what else of `ChatObject` they depend on. */
export class SimulatedChat extends ChatPlatform {
  readonly channel: SimulatedChannel;
  readonly judge: ChatJudge;
  readonly kind: "whatsapp" | "telegram";
  /** Its contact's network never answers. */
  isDeaf = false;
  /** The network refuses its contact in the words in which it refuses a channel. */
  isPoisoned = false;
  readonly #decisions: DeliveryDecisions;
  readonly #network: SimulatedNetwork;
  readonly #identity: ChatIdentity;
  /** How many calls each message takes. */
  readonly #calls: number[] = [];
  #alarm!: StandingAlarm;
  #queue!: DeliveryQueue;
  #adapter!: SimulatedAdapter;
  /** The status that is being applied. */
  #news: string | null = null;

  constructor(world: World, decisions: Decisions, network: SimulatedNetwork, channel: SimulatedChannel, id: string) {
    super(world, id);
    this.channel = channel;
    this.kind = world.pick(["whatsapp", "telegram"]);
    this.judge = new ChatJudge(world, this);
    this.#decisions = watchDelivery(decisions, world);
    this.#network = network;
    this.#identity = {
      chatId: id,
      organizationId: "",
      channelId: channel.id,
      channelKind: this.kind,
      contactAddress: "",
      createdAt: EPOCH,
      life: EPOCH,
      addresses: [],
    };
    channel.chats.set(id, this);
    this.construct();
  }

  protected override construct(): void {
    const { world, clock, storage } = this;
    this.#alarm = new StandingAlarm({
      getAlarm: async () => storage.alarm,
      setAlarm: async (at) => this.setAlarm(Number(at)),
      deleteAlarm: async () => this.setAlarm(null),
    });
    this.#adapter = new SimulatedAdapter(world, this, this.#network, (call, begin) => {
      return this.call<void>((resolve) => begin(resolve)).then(() => this.answers.add(call));
    });
    const channel = this.#channelPort();
    const delivering = {
      identity: this.#identity,
      channel,
      network: this.#adapter,
      exists: () => true,
      address: () => "",
      learn: () => {},
      attempted: (...[outcome]: Parameters<SimulatedAdapter["attempted"]>) => this.#adapter.attempted(outcome),
    };
    this.#queue = new DeliveryQueue(
      {
        log: storage,
        alarm: this.#alarm,
        clock,
        logger: { log() {}, warn() {}, error: (line) => world.fail(new Error(JSON.stringify(line))) },
        chat: () => delivering,
        exists: () => true,
        otherWorkAt: () => storage.reportAt,
        waitUntil: (work) => this.work(work),
      },
      this.#decisions,
    );
  }

  get #callId(): string {
    return `${this.id}-`;
  }

  messageId(seq: number): string {
    return messageId(this.#callId, seq);
  }

  /** The number of a message. */
  seqOf(messageId: string): number {
    return this.storage.byId(messageId)?.seq ?? 0;
  }

  /** How many calls a message takes. */
  callsFor(seq: number): number {
    return this.#calls[seq - 1] ?? 1;
  }

  /** A client sends a message that takes `of` calls. See `ChatObject.send`. */
  send(of: number, expiresAfterMs: number | null): void {
    let seq = 0;
    this.commitAfter(
      async () => {
        await this.#alarm.standing();
        const { storage } = this;
        seq = storage.rows.length + 1;
        this.#calls[seq - 1] = of;
        const delivery = this.#queue.newDelivery(storage.depth());
        storage.append({
          seq,
          message: this.#message(of, expiresAfterMs),
          delivery,
          parts: { ids: [] },
          lastError: null,
          template: null,
        });
        this.#queue.stored(seq, delivery);
        storage.reportAt ??= this.clock.now() + REPORT_AFTER_MS;
        this.#queue.start();
        await this.#alarm.by(this.clock.now() + REPORT_AFTER_MS);
      },
      { stored: () => this.judge.acknowledged(seq) },
    );
  }

  #message(of: number, expiresAfterMs: number | null) {
    const { rows } = this.storage;
    const newest = { seq: rows.length, at: Date.parse(rows.at(-1)?.message.createdAt ?? "") || EPOCH };
    const place = nextPosition(newest, this.#identity, this.clock.now());
    const prepared = { outcome: "prepared" as const, senderId: "", text: "", template: null };
    const draft = {
      id: this.#callId,
      calledAt: this.clock.now(),
      content: "",
      type: of > 1 ? ("IMAGE" as const) : ("TEXT" as const),
      mediaUrl: of > 1 ? "https://example.com/media" : null,
      templateId: null,
      variables: null,
      metadata: {},
      idempotencyHash: null,
      fingerprint: null,
      expiresAt: expiresAfterMs && this.clock.now() + expiresAfterMs,
      prepared,
    };
    return outboundMessage(draft, prepared, place, true);
  }

  /** The network sends a status, again and again until it is on disk. `call`: which call it is of, if of any. */
  tell(news: StatusNews, call: Call | null): void {
    let row = null as { seq: number } | null;
    this.commitAfter(
      async () => {
        await this.#alarm.standing();
        const { messageId, networkId } = news;
        row = messageId === null ? this.storage.byNetworkId(networkId) : this.storage.byId(messageId);
        const sending = this.storage.delivered(this.#adapter.seq);
        this.#news = news.status;
        if (!this.#queue.applyStatus(news)) row = null;
        this.#news = null;
        const hasFailed = sending && this.storage.delivered(sending.seq)?.message.status !== sending.message.status;
        if (hasFailed && news.error?.broken !== undefined) this.#adapter.isBrokenByStatus = true;
      },
      {
        stored: () => {
          if (!row) return;
          this.judge.told(row.seq, news.status);
          if (call && news.status !== "FAILED" && this.callsFor(row.seq) === 1) call.isKnown = true;
        },
        lost: () => this.world.after(5_000, () => this.tell(news, call)),
      },
    );
  }

  /** The channel works again. */
  wake(): void {
    this.commitAfter(async () => {
      await this.#alarm.standing();
      this.#queue.wake();
    });
  }

  /** A client cancels a message. See `ChatObject.cancel`. */
  cancel(): void {
    this.commitAfter(async () => {
      await this.#alarm.standing();
      const { judge, storage, world } = this;
      const row = world.pick([storage.head(), world.pick(storage.rows)]);
      if (row) judge.cancelAnswered(row, this.#queue.cancel(row.seq));
    });
  }

  /** The operator redacts a message. See `ChatObject.redact`. */
  redact(): void {
    this.commitAfter(async () => {
      await this.#alarm.standing();
      const { storage, world } = this;
      const row = world.pick([storage.head(), world.pick(storage.rows)]);
      if (!row || storage.isRedacted(row.seq)) return;
      world.count("redacted");
      this.#queue.beforeRedaction(row.seq);
      this.#news = "redacted";
      storage.redact(storage.delivered(row.seq) ?? row, world.now);
      this.#news = null;
      this.#queue.afterRedaction();
    });
  }

  protected override async ring(): Promise<void> {
    await this.#queue.ring(async () => {
      await this.call<void>((resolve) => {
        if (this.world.fault("alarm cut off", 0.1)) return this.lose();
        this.world.after(this.world.between(1, 50), resolve);
      });
      this.storage.reportAt = null;
    });
  }

  protected override changed(...[before, after]: Parameters<ChatPlatform["changed"]>): void {
    this.judge.changed(before, after, this.callsFor(after.seq), this.#news);
  }

  #channelPort(): ChannelPort {
    const { channel, world } = this;
    const isLost = () => world.fault("report lost", 0.1);
    const isTwice = () => world.fault("report twice", 0.1);
    const report = async (kind: OwedReport, take: () => void, takeAgain?: () => void) => {
      const answered = this.call<void>((resolve, reject) =>
        world.after(world.between(1, world.pick([50, 50, 2_000])), () => {
          if (isLost()) return reject();
          take();
          if (takeAgain && isTwice()) world.after(world.between(1, 2_000), takeAgain);
          world.after(world.between(1, 50), resolve);
        }),
      );
      try {
        await answered;
        this.judge.reported(kind);
      } catch (error) {
        this.judge.reportsLost();
        throw error;
      }
    };
    return {
      permit: async (request) => {
        this.judge.owesNothing();
        const { answer, grant } = await this.call<Answered>((resolve, reject) => {
          const away = (ms: number) => world.after(ms, reject);
          if (world.fault("channel does not answer", 0.1)) return away(world.between(5, 5_000));
          const reply = (answered: Answered) => world.after(world.between(1, 50), () => resolve(answered));
          world.after(world.between(1, 50), () =>
            channel.permit(this, request, reply, () => away(world.between(1, 50))),
          );
        });
        world.note(() => `${this.id} gets ${JSON.stringify(answer)}`);
        if (grant && (grant.probe !== null || grant.trial)) this.judge.owes("probe");
        this.#adapter.grant = grant;
        return answer satisfies PermitAnswer;
      },
      slowDown: (afterMs) => report("slow_down", () => channel.slowDown(afterMs)),
      reportBroken: (told) =>
        report(
          "broken",
          () => channel.reportBroken(told),
          () => channel.reportBrokenAgain(told),
        ),
      reportProbe: (told) => {
        if (told.isUnused) world.count("a permit was returned");
        return report(
          "probe",
          () => channel.reportProbe(told),
          () => channel.reportProbeAgain(told),
        );
      },
    };
  }
}
