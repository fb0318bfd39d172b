import type { PermitAnswer } from "../../../src/channels/object/permits.ts";
import type { SocketPolicy } from "../../../src/channels/web/socket-policy.ts";
import type { ActOutcome, NetworkAct, PartOutcome } from "../../../src/model/network.ts";
import type { RenderedPart } from "../objects/globals.ts";
import { platformError, type SimulatedObject } from "../objects/object.ts";
import type { LifeJudge } from "./judge.ts";
import type { LifeWorld } from "./rules.ts";

const MINUTE = 60_000;
const NO_ANSWER: PartOutcome & ActOutcome = { outcome: "unknown", message: "No answer" };
const NO_PROBE = { probe: null, epoch: 0, trial: null, brokenEpoch: null };

/** A network, and the permits of its channel. */
export class Network {
  readonly #world: LifeWorld;
  readonly #judge: LifeJudge;
  /** The channel grants no permit before this time of the world. */
  #brokenUntil = 0;
  #calls = 0;
  /** A reaction that was shown fails after all. */
  onFailedReaction: (chat: SimulatedObject, reaction: { messageId: string; at: number }) => void = () => {};
  /** The contact may have got a message of the chat, with this id. */
  onSent: (chat: SimulatedObject, networkId: string) => void = () => {};

  constructor(world: LifeWorld, judge: LifeJudge) {
    this.#world = world;
    this.#judge = judge;
  }

  breakFor(ms: number): void {
    this.#brokenUntil = Math.max(this.#brokenUntil, this.#world.now + ms);
  }

  repair(): void {
    this.#brokenUntil = 0;
  }

  /** A chat asks for a permit. */
  permit(chat: SimulatedObject): PermitAnswer {
    const world = this.#world;
    const isBroken = world.now < this.#brokenUntil;
    if (isBroken) return this.#later(chat, world.between(MINUTE, 10 * MINUTE), true);
    if (world.fault("channel's pace", 0.2)) return this.#later(chat, world.pick([200, 5_000, MINUTE]), false);
    const permit = { outcome: "granted", credentials: {}, brokenSince: null, provenEpoch: 0, ...NO_PROBE };
    return permit as unknown as PermitAnswer;
  }

  /** A chat asks which sockets its channel accepts. */
  socketPolicy(): SocketPolicy | Error {
    const isAway = this.#world.fault("channel does not answer", 0.2);
    return isAway ? platformError(false) : { allowedOrigins: [], fingerprints: [] };
  }

  /** The ids of what was sent. */
  get ids(): string[] {
    return Array.from({ length: this.#calls }, (_, n) => `network-${n + 1}`);
  }

  /** A chat sends a part of a message. @param signal ends the attempt, also before the answer */
  send(chat: SimulatedObject, messageId: string, rendered: RenderedPart, signal: AbortSignal): Promise<unknown> {
    const over = new Promise((resolve) => {
      signal.onabort = () => resolve(NO_ANSWER);
    });
    return Promise.race([this.#call(chat, messageId, rendered), over]);
  }

  /** A chat shows its contact what a client does. @param signal ends the call, also before the answer */
  act(chat: SimulatedObject, act: NetworkAct, signal: AbortSignal): Promise<unknown> {
    const world = this.#world;
    const over = new Promise((resolve) => {
      signal.onabort = () => resolve(NO_ANSWER);
    });
    const called = chat.request((reply) => {
      const refusals: ActOutcome[] = [
        { outcome: "failed", code: "refused", message: "Refused" },
        { outcome: "retry", code: "busy", message: "Busy", wholeChannel: false, afterMs: null },
        { outcome: "not_shown" },
        NO_ANSWER,
      ];
      const isRefused = world.fault("network refuses", 0.4);
      const outcome = isRefused ? world.pick(refusals) : ({ outcome: "done" } as const);
      const ms = world.fault("network slow", 0.2) ? world.between(1_000, 15_000) : world.between(5, 500);
      const mayBeShown = outcome === NO_ANSWER || outcome.outcome === "done";
      if (act.act === "react" && mayBeShown && world.random() < 0.2) this.onFailedReaction(chat, act);
      world.after(ms, () => {
        if (outcome.outcome === "done") this.#judge.shown(chat, act);
        reply({ value: outcome });
      });
    });
    return Promise.race([called, over]);
  }

  async #call(chat: SimulatedObject, messageId: string, rendered: RenderedPart): Promise<unknown> {
    const world = this.#world;
    if (rendered.open) chat.output(() => this.#judge.sent(chat, messageId, rendered));
    const file = await rendered.open?.();
    if (file === "gone") return { outcome: "failed", code: "media_gone", message: "Gone" };
    if (file === "away") {
      world.count("a file is away");
      this.#judge.notSent(chat, messageId);
      return { outcome: "retry", code: "media_away", message: "Away", wholeChannel: false, afterMs: null };
    }
    if (file) this.#judge.sentFile(chat, messageId, file.body as unknown as string);
    return chat.request((reply) => {
      if (!rendered.open) this.#judge.sent(chat, messageId, rendered);
      const retry = { code: "busy", message: "Busy", wholeChannel: false };
      const refusals: PartOutcome[] = [
        { outcome: "retry", ...retry, afterMs: null },
        { outcome: "retry", ...retry, afterMs: world.pick([MINUTE, 60 * MINUTE]) },
        { outcome: "failed", code: "refused", message: "Refused" },
        { outcome: "failed", code: "refused", message: "Refused" },
        NO_ANSWER,
      ];
      const id = `network-${++this.#calls}`;
      const sent: PartOutcome = { outcome: "sent", id, addresses: [] };
      const outcome = world.fault("network refuses", 0.4) ? world.pick(refusals) : sent;
      if ((outcome === sent || outcome === NO_ANSWER) && world.random() < 0.2) this.onSent(chat, id);
      const ms = world.fault("network slow", 0.2) ? world.between(1_000, 40_000) : world.between(5, 500);
      world.after(ms, () => {
        this.#judge.checkAlarm(chat);
        const isOut = rendered.part > 0 || (outcome.outcome !== "retry" && outcome.outcome !== "failed");
        if (!isOut) this.#judge.notSent(chat, messageId);
        reply({ value: outcome });
      });
    });
  }

  #later(chat: SimulatedObject, ms: number, isBroken: boolean): PermitAnswer {
    this.#judge.held(chat, ms);
    const broken = isBroken ? { reason: "The token was refused", since: chat.now } : null;
    return { outcome: "later", at: chat.now + ms, broken };
  }
}
