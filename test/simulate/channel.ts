import type { ChannelPace } from "../../src/channels/object/pace.ts";
import {
  type BreakReport,
  type PermitAnswer,
  type PermitDecisions,
  type PermitRequest,
  Permits,
  type ProbeReport,
} from "../../src/channels/object/permits.ts";
import { WaitingChats } from "../../src/channels/object/waiting-chats.ts";
import { ChannelJudge, type Grant } from "./channel-judge.ts";
import type { SimulatedChat } from "./chat.ts";
import { type Decisions, watchPermits } from "./decisions.ts";
import { SimulatedObject } from "./object.ts";
import { SimulatedKv } from "./storage.ts";
import type { World } from "./world.ts";

/** What a channel answers to a request for a permit, and what the judges know of a permit that it grants. */
export interface Answered {
  answer: PermitAnswer;
  grant: Grant | null;
}

/** A channel's object: the service's permits and list of waiting chats over simulated storage. */
export class SimulatedChannel extends SimulatedObject {
  readonly id: string;
  readonly judge: ChannelJudge;
  readonly chats = new Map<string, SimulatedChat>();
  /** The network refuses it. */
  isBroken = false;
  wasBroken = false;
  readonly perSecond: number;
  readonly #decisions: PermitDecisions;
  readonly #kv = new SimulatedKv();
  #credentials = 1;
  #permits!: Permits;
  #waiting!: WaitingChats;
  /** The requests that are lost with the object. */
  readonly #requests = new Set<() => void>();

  constructor(world: World, decisions: Decisions, id: string) {
    const perSecond = world.pick([1, 5, 25, 80]);
    super(world, world.fault("clocks apart", 1) ? world.between(-500, 500) : 0);
    this.id = id;
    this.perSecond = perSecond;
    this.judge = new ChannelJudge(world);
    this.#decisions = watchPermits(decisions, world, this);
    this.construct();
  }

  protected override construct(): void {
    this.#waiting = new WaitingChats(this.#kv, (chatId) => this.#wakeChat(chatId));
    this.#permits = new Permits(
      {
        kv: this.#kv,
        clock: this.clock,
        sendingConfig: async () => {
          const credentialsVersion = this.#readCredentials();
          return { credentials: {}, credentialsVersion, perSecond: this.perSecond };
        },
        addWaiting: (chatId) => this.#waiting.add(chatId),
        healthChanged: async (_channelId, works) => this.#healthChanged(works),
      },
      this.#decisions,
    );
  }

  /** Its storage needs no commit. */
  override endTurn(): void {}

  override lose(): void {
    this.world.note(() => `${this.id} is lost`);
    this.judge.lost();
    super.lose();
    const requests = [...this.#requests];
    this.#requests.clear();
    for (const fail of requests) fail();
  }

  /** A chat asks for a permit. @param fail the object was lost before it answered */
  permit(chat: SimulatedChat, request: PermitRequest, reply: (answered: Answered) => void, fail: () => void): void {
    this.#requests.add(fail);
    this.enter(async () => {
      const answer = await this.#permits.permit(request);
      this.#requests.delete(fail);
      reply({ answer, grant: this.#judged(chat, answer) });
    });
  }

  #judged(chat: SimulatedChat, answer: PermitAnswer): Grant | null {
    if (answer.outcome === "later") {
      if (answer.broken) this.judge.sentAway();
      return null;
    }
    const { probe, trial = null, epoch } = answer;
    const { provenEpoch: judgedProvenEpoch } = this.judge;
    const grant: Grant = { at: this.clock.now(), probe, trial, epoch, isBroken: probe !== null, judgedProvenEpoch };
    // Its chat may have been lost and have asked again while this start was waited for. Then the trial is over.
    const isTrial = trial === this.#permits.pace.trialUntil;
    this.judge.granted({ ...grant, trial: isTrial ? trial : null }, this.perSecond, chat);
    return grant;
  }

  slowDown(afterMs: number): void {
    this.world.count("told: slow_down");
    this.judge.rested(this.clock.now() + afterMs);
    this.enter(() => this.#permits.slowDown(afterMs));
  }

  reportBroken(report: BreakReport): void {
    this.world.count("told: broke");
    this.wasBroken = true;
    this.judge.broke(report, this.clock.now());
    this.world.note(() => `${this.id} hears that it is broken: ${JSON.stringify(report)}`);
    this.enter(() => this.#permits.reportBroken(report));
  }

  reportProbe(report: ProbeReport): void {
    this.world.count("told: probed");
    if (report.isUnused) this.judge.unused(report, this.clock.now());
    else this.judge.probed(report, report.works, this.clock.now());
    this.world.note(() => `${this.id} hears of a probe or a trial: ${JSON.stringify(report)}`);
    this.enter(() => this.#permits.reportProbe(report));
    if (!report.isUnused) return;
    const { breaker, trialUntil } = this.#permits.pace;
    const isHeld =
      report.probe === null ? trialUntil === report.trial : breaker?.isProbing && breaker.probes === report.probe;
    this.world.check("returned", !isHeld, () => `${this.id} waits for ${JSON.stringify(report)}`);
  }

  /** The same report comes again, because its answer was lost. */
  reportBrokenAgain(report: BreakReport): void {
    this.#again(() => this.#permits.reportBroken(report));
  }

  reportProbeAgain(report: ProbeReport): void {
    // A trial that ended well shows once more that the channel works.
    if (report.probe === null && report.works) this.judge.probed(report, true, this.clock.now());
    this.#again(() => this.#permits.reportProbe(report));
  }

  #again(take: () => Promise<void>): void {
    const health = ({ breaker, epoch, provenEpoch }: ChannelPace) => JSON.stringify([breaker, epoch, provenEpoch]);
    const before = health(this.#permits.pace);
    this.enter(take);
    const after = health(this.#permits.pace);
    this.world.check("twice", after === before, () => `${before} became ${after}`);
  }

  /** The operator changes its credentials. @param isTold whether its object hears of that */
  renew(isTold: boolean): void {
    this.#credentials++;
    this.world.note(() => `${this.id} has other credentials${isTold ? "" : ", of which it is not told"}`);
    if (isTold) this.enter(() => this.#permits.useCredentials(this.id, this.#readCredentials()));
  }

  #readCredentials(): string {
    const version = String(this.#credentials);
    this.judge.credentials(version);
    return version;
  }

  #healthChanged(works: boolean): void {
    if (!works) return;
    this.world.count("a channel mended");
    // The alarm, which outlives the object.
    this.world.after(this.world.between(0, 2_000), () => {
      this.enter(() => this.#waiting.wake(() => this.#permits.pace));
    });
  }

  #wakeChat(chatId: string): Promise<void> {
    const { world } = this;
    return new Promise((resolve, reject) => {
      const isLost = world.fault("wake-up lost", 0.3);
      if (!isLost) world.after(world.between(5, 100), () => this.chats.get(chatId)?.wake());
      this.timer(100, () => (isLost ? reject(new Error("The chat does not answer")) : resolve()));
    });
  }
}
