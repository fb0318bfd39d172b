import type { QueuedMessage } from "../../src/chats/object/delivery/row.ts";
import type { ChatJudge } from "./chat-judge.ts";
import type { Call } from "./network.ts";
import { SimulatedObject } from "./object.ts";
import { SimulatedStorage } from "./storage.ts";
import type { World } from "./world.ts";

/** One error for all calls, because each new one would collect a stack. */
const NO_ANSWER = new Error("The object does not answer");

/** After a loss, the alarm may be this much later than the queue is due. */
const LEASE_MS = 60_000;

/** What follows the first commit of a call, or its loss. */
interface Entry {
  stored?: () => void;
  lost?: () => void;
}

/**
 * The platform under a chat's object. Its writes of one turn are one commit, calls leave after it, and the object may be
 * lost before or after it. The alarm is in its storage.
 */
export abstract class ChatPlatform extends SimulatedObject {
  readonly id: string;
  abstract readonly judge: ChatJudge;
  protected readonly storage = new SimulatedStorage((before, after) => {
    this.world.note(
      () => `${this.id} message ${after.seq} ${JSON.stringify([after.message.status, after.delivery, after.parts])}`,
    );
    this.changed(before, after);
  });
  /** The calls whose answers are not on disk yet. */
  protected readonly answers = new Set<Call>();
  #entries: Entry[] = [];
  #outgoing: (() => void)[] = [];
  #isRinging = false;
  /** Whether this object has looked after the queue. */
  #hasWorked = false;
  #alarms = 0;
  /** Until then a late alarm may delay what is due. */
  #lateUntil = 0;
  /** When an object was lost while it worked, and no other has completed that work yet. */
  #lostAt = Number.NEGATIVE_INFINITY;

  constructor(world: World, id: string) {
    super(world, 0);
    this.id = id;
  }

  get rows(): readonly QueuedMessage[] {
    return this.storage.rows;
  }

  get delayedUntil(): number {
    return Math.max(this.#lateUntil, this.#lostAt + LEASE_MS);
  }

  get alarm(): number | null {
    return this.storage.alarm;
  }

  /** Handles the alarm. */
  protected abstract ring(): Promise<void>;

  /** A row was written. */
  protected abstract changed(before: QueuedMessage, after: QueuedMessage): void;

  /** The object is lost with what it has not committed. */
  override lose(): void {
    const { now } = this.world;
    this.world.note(() => `${this.id} is lost`);
    if (!this.isIdle) this.#lostAt = now;
    this.storage.rollBack();
    this.answers.clear();
    this.judge.reportsLost();
    this.#entries = [];
    this.#outgoing = [];
    this.#isRinging = false;
    this.#hasWorked = false;
    super.lose();
    this.judge.quiet(this.#lostAt + LEASE_MS);
    const { alarm } = this.storage;
    // The platform repeats an alarm whose handler was lost before its first commit.
    const isRepeated = alarm !== null && alarm <= now;
    if (isRepeated) this.#lateUntil = Math.max(this.#lateUntil, now + 2_000);
    this.#startClock(isRepeated ? now + 2_000 : alarm);
  }

  /** Runs code of the object up to its first commit, and on. */
  protected commitAfter(code: () => Promise<void>, entry: Entry = {}): void {
    this.#entries.push(entry);
    this.enter(code);
  }

  /**
   * Calls another object or the network, once what was written so far is on disk.
   * @param begin makes the call; a later event answers it
   */
  protected call<T>(begin: (resolve: (answer: T) => void, reject: () => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const answered = this.whileAlive(resolve);
      const failed = this.whileAlive(() => reject(NO_ANSWER));
      this.#outgoing.push(() => {
        begin(answered, failed);
        const isLost = this.world.fault("crash during a call", 0.02);
        if (isLost) this.world.after(this.world.between(0, 400), () => this.lose());
      });
    });
  }

  override endTurn(): void {
    const { world } = this;
    const [entries, outgoing] = [this.#entries, this.#outgoing];
    if (world.fault("crash before a commit", 0.02)) {
      this.#lostAt = world.now;
      this.lose();
      for (const { lost } of entries) lost?.();
      return;
    }
    this.#entries = [];
    this.#outgoing = [];
    this.#commit();
    for (const { stored } of entries) stored?.();
    const isLost = world.fault("crash after a commit", 0.02);
    const callsLeave = !isLost || world.random() < 0.5;
    const { life } = this;
    if (callsLeave) for (const leave of outgoing) leave();
    if (life.isOver) return;
    if (isLost) this.lose();
    else if (this.isIdle) {
      this.judge.owesNothing();
      if (this.#hasWorked) this.#lostAt = Number.NEGATIVE_INFINITY;
      this.judge.quiet(this.#lostAt + LEASE_MS);
    }
  }

  /** Looks after the queue until the promise resolves. */
  protected work(work: Promise<void>): void {
    this.#hasWorked = true;
    this.keep(work);
  }

  #commit(): void {
    this.storage.commit();
    for (const call of this.answers) {
      call.answer = call.given;
      call.isKnown ||= call.given?.outcome === "ok";
    }
    this.answers.clear();
    this.judge.committed();
  }

  protected setAlarm(at: number | null): void {
    this.storage.alarm = at;
    this.#startClock(at);
  }

  #startClock(at: number | null): void {
    const alarm = ++this.#alarms;
    if (at === null) return;
    const { world } = this;
    const early = world.fault("alarm early", 0.1) ? world.between(1, 1_000) : 0;
    const late = world.fault("alarm late", 0.1) ? world.between(1, 60_000) : 0;
    const isTwice = world.fault("alarm twice", 0.1);
    if (late > 0) this.#lateUntil = Math.max(this.#lateUntil, at - early + late);
    world.at(at - early + late, () => {
      if (alarm !== this.#alarms) return;
      // The handler that is at work ends first.
      if (this.#isRinging) return world.after(1_000, () => this.#startClock(this.alarm));
      this.#ring();
      if (isTwice) world.after(world.between(0, 1_000), () => this.#isRinging || this.#ring());
    });
  }

  #ring(): void {
    this.#isRinging = true;
    this.#hasWorked = true;
    this.commitAfter(async () => {
      await this.ring();
      this.#isRinging = false;
    });
  }
}
