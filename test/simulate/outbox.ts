import type { Outcome } from "../../src/channels/adapter.ts";
import type { Attempt } from "../../src/channels/pace.ts";
import { ADAPTERS } from "../../src/channels/registry.ts";
import type { Known } from "../../src/chats/delivery/parts.ts";
import { ATTEMPT_TIMEOUT_MS, type Delivery } from "../../src/chats/delivery/retry.ts";
import type { QueuedMessage } from "../../src/chats/delivery/row.ts";
import type { Given, SimulatedChannel } from "./channel.ts";
import type { Decisions } from "./decisions.ts";
import type { Answer, Call, SimulatedNetwork } from "./network.ts";
import { SimulatedObject, type Task, type Wait } from "./object.ts";
import type { World } from "./world.ts";

type Granted = Given & { outcome: "granted" };

/** What the service's outbox carries out: what is decided for the message whose turn it is. */
export abstract class SimulatedOutbox extends SimulatedObject {
  readonly #network: SimulatedNetwork;
  protected readonly decisions: Decisions;

  constructor(world: World, decisions: Decisions, network: SimulatedNetwork, channel: SimulatedChannel, id: string) {
    super(world, channel, id);
    this.decisions = decisions;
    this.#network = network;
  }

  protected *work(): Task<number | null> {
    const { run } = this.memory;
    if (run) yield (goOn) => run.push(goOn);
    else {
      const waiting: (() => void)[] = [];
      this.memory.run = waiting;
      const begunAt = this.world.now;
      const { mayGoOn } = this.decisions;
      for (let steps = 0; mayGoOn(steps, begunAt, this.world.now) && (yield* this.#step()); steps++);
      this.memory.run = null;
      for (const goOn of waiting) this.world.after(0, goOn);
    }
    const head = this.head();
    return head && this.decisions.wakeAt(head.delivery, this.world.now);
  }

  *#step(): Task<boolean> {
    const { nextStep, isStalePermit, afterHold, isOverdue } = this.decisions;
    const world = this.world;
    const head = this.head();
    if (!head) return false;
    const turn = nextStep(head, this.memory.marked === head.seq, world.now);
    world.count(`turn: ${turn.turn}`);
    if (turn.turn === "wait") return false;
    if (turn.turn === "expire") {
      this.#change(head, "FAILED", turn.error);
      return true;
    }
    if (turn.turn === "close") {
      this.#settle(head, turn.outcome);
      return true;
    }
    const asked = { seq: head.seq, wakes: this.memory.wakes };
    const permit = (yield this.#ask(turn.reservedAt, head.delivery.brokenEpoch ?? null)) as Given;
    const current = this.head();
    const isBroken = permit.outcome === "later" && permit.broken !== null;
    if (!current || isStalePermit(isBroken, asked, { seq: current.seq, wakes: this.memory.wakes })) {
      world.count("a stale permit");
      return true;
    }
    if (permit.outcome === "granted") return yield* this.#attempt(current, permit);
    this.memory.marked = null;
    this.write({ ...current, ...afterHold(current, permit, world.now, world.random()) });
    return isOverdue((this.head() ?? current).delivery, world.now);
  }

  #ask(reservedAt: number | null, brokenEpoch: number | null): Wait {
    const world = this.world;
    return (goOn) => {
      if (world.fault("channel does not answer", 0.1))
        return world.after(world.between(5, 5_000), () => goOn({ outcome: "away" }));
      return world.after(world.between(1, 50), () =>
        this.channel.permit(this, { reservedAt, brokenEpoch }, (given) => {
          world.note(() => `${this.id} gets ${JSON.stringify(given)}`);
          world.after(world.between(1, 50), () => goOn(given));
        }),
      );
    };
  }

  *#attempt(head: QueuedMessage, permit: Granted): Task<boolean> {
    const { startAttempt, wakeAt, isSameAttempt, epochAfter } = this.decisions;
    const world = this.world;
    const delivery = startAttempt(head, permit.brokenSince, this.memory.marked === head.seq, world.now);
    this.memory.marked = null;
    if (delivery !== head.delivery) {
      this.write({ ...head, delivery });
      this.alarmBy(wakeAt(delivery, world.now));
      yield (goOn) => goOn();
    }
    const { parts } = this.known(head);
    const sending = { seq: head.seq, broken: null as string | null };
    this.memory.sending = sending;
    const answer = yield* this.#call(head.seq, parts, delivery, permit);
    this.memory.sending = null;
    const brokenEpoch = head.delivery.brokenEpoch ?? null;
    const outcome = this.decisions.judged(answer, permit, brokenEpoch);
    this.judge.attempted(head.seq, permit, answer, outcome);
    world.count(`outcome: ${outcome.outcome}`);
    const current = this.delivered(head.seq);
    if (isSameAttempt(current, delivery)) {
      const attempt = { first: parts.ids.length, of: parts.of, epoch: epochAfter(permit, outcome) };
      sending.broken = this.#settle(current, outcome, attempt) ?? sending.broken;
    }
    const { broken: reason } = sending;
    yield* this.report(reason === null ? outcome : { outcome: "channel_broken", reason, parts: [] }, {
      ...permit,
      brokenEpoch,
    });
    return true;
  }

  /** As an adapter sends: one call for each part that is not out. */
  *#call(seq: number, { ids, of }: Known["parts"], delivery: Delivery, grant: Granted): Task<Outcome> {
    const parts = [...ids];
    const until = this.world.now + ATTEMPT_TIMEOUT_MS;
    while (parts.length < of) {
      const { now } = this.world;
      const isFirst = parts.length === ids.length;
      const { attempts } = delivery;
      const call: Call = {
        at: now,
        seq,
        part: parts.length,
        attempts,
        isFirst,
        grant,
        accepted: false,
        given: null,
        answer: null,
        isKnown: false,
      };
      const answer = (yield (goOn) => this.#network.call(this, call, until, goOn)) as Answer;
      call.given = answer;
      this.memory.answers.set(call, answer);
      if (answer.outcome !== "ok") return { ...answer, parts } as Outcome;
      parts.push(answer.id);
      const current = this.delivered(seq);
      if (parts.length === of || !this.decisions.isSameAttempt(current, delivery)) continue;
      const before = this.known(current, of);
      this.save(current, before, this.decisions.partOut(before, parts.length - 1, answer.id), null);
    }
    return { outcome: "sent", parts, addresses: [] };
  }

  protected *report(outcome: Outcome, attempt: Attempt): Task<void> {
    const world = this.world;
    let isLost = false;
    for (const report of this.decisions.reportsOf(outcome, attempt)) {
      yield (goOn) =>
        world.after(world.between(1, 50), () => {
          isLost = world.fault("report lost", 0.1);
          if (!isLost) this.channel.take(this, report, attempt);
          if (!isLost && world.fault("report twice", 0.1)) {
            world.after(world.between(1, 2_000), () => this.channel.takeAgain(report, attempt));
          }
          goOn();
        });
      // One that is not told breaks off what would be told after it.
      if (isLost) return;
    }
    if (outcome.outcome === "channel_broken") this.channel.mustKnow(attempt);
  }

  #settle(row: QueuedMessage, outcome: Outcome, attempt?: { first: number; of: number; epoch: number }): string | null {
    const world = this.world;
    const known = this.known(row, attempt?.of);
    const { afterAttempt } = this.decisions;
    const after = afterAttempt(row, known, outcome, ADAPTERS[this.kind], world.now, world.random(), attempt);
    const { delivery, parts, lastError, status, error } = after;
    const { message } = row;
    this.write({ ...row, delivery, parts, lastError, message: this.#stamped(message, status, error) });
    return after.broken;
  }

  protected save(row: QueuedMessage, before: Known, after: Known, news: string | null): void {
    const parts = after.parts === before.parts ? row.parts : this.decisions.partsKept(after);
    if (parts === row.parts && after.status === before.status && after.error === before.error) return;
    this.write({ ...row, parts, message: this.#stamped(row.message, after.status, after.error) }, news);
  }

  #change(row: QueuedMessage, status: Known["status"], error: Known["error"]): void {
    this.write({ ...row, message: this.#stamped(row.message, status, error) });
  }

  #stamped(
    message: QueuedMessage["message"],
    status: Known["status"],
    error: Known["error"],
  ): QueuedMessage["message"] {
    if (status === message.status && error === message.error) return message;
    return { ...message, status, error, updatedAt: new Date(this.world.now).toISOString() };
  }

  protected known(row: QueuedMessage, of = row.parts.of ?? 1): Known {
    return this.decisions.known(row, of);
  }
}
