import type { QueuedMessage } from "../../src/chats/delivery/row.ts";
import type { StatusNews } from "../../src/chats/rpc.ts";
import type { SimulatedChannel } from "./channel.ts";
import { ChatJudge, isDone } from "./chat-judge.ts";
import type { Answer, Call } from "./network.ts";
import type { World } from "./world.ts";

export type NetworkKind = "whatsapp" | "telegram";
/** What a task waits for: begun once its writes are on disk, it goes on with the answer. */
export type Wait = (goOn: (answer?: unknown) => void) => void;
export type Task<T> = Generator<Wait, T, unknown>;

/** What is lost with an instance. */
interface Memory {
  marked: number | null;
  sending: { seq: number; broken: string | null } | null;
  wakes: number;
  /** Who waits for the end of the run that is under way; null: there is none. */
  run: (() => void)[] | null;
  tasks: number;
  /** Its alarm's handler is at work. */
  isRinging: boolean;
  /** What calls were answered, which is not on disk yet. */
  answers: Map<Call, Answer>;
}

/**
 * The platform under a chat's object: rows and an alarm on disk, and an instance that may be lost between any two of its
 * steps, before or after its writes are on disk.
 */
export abstract class SimulatedObject {
  readonly id: string;
  readonly kind: NetworkKind;
  readonly channel: SimulatedChannel;
  readonly judge: ChatJudge;
  /** Its contact's network never answers. */
  isDeaf = false;
  /** The network refuses its contact in the words in which it refuses a channel. */
  isPoisoned = false;
  rows: QueuedMessage[] = [];
  alarm: number | null = null;
  protected readonly world: World;
  #onDisk: { rows: QueuedMessage[]; alarm: number | null } = { rows: [], alarm: null };
  protected memory = fresh();
  #alarms = 0;
  /** When an instance was lost on its way, of which no other has taken its work up yet. */
  #lostAt = Number.NEGATIVE_INFINITY;

  constructor(world: World, channel: SimulatedChannel, id: string) {
    this.world = world;
    this.channel = channel;
    this.id = id;
    this.kind = world.pick(["whatsapp", "telegram"]);
    this.judge = new ChatJudge(world);
  }

  messageId(seq: number): string {
    return `${this.id}-${seq}`;
  }

  /** The network tells of a message. */
  abstract tell(news: StatusNews, call: Call | null): void;
  /** The channel works again. */
  abstract wake(): void;
  /** What the alarm does. */
  protected abstract ring(): Task<void>;

  get isIdle(): boolean {
    return this.memory.tasks === 0;
  }

  /** The instance is lost, with what it has not written. */
  lose(): void {
    const { now } = this.world;
    this.world.note(() => `${this.id} is lost`);
    if (!this.isIdle) this.#lostAt = now;
    this.rows = this.#onDisk.rows;
    this.alarm = this.#onDisk.alarm;
    this.memory = fresh();
    this.judge.quiet(this, this.#lostAt + 60_000);
    // The platform repeats an alarm whose handler's first writes were lost.
    this.#setClock(this.alarm !== null && this.alarm <= now ? now + 2_000 : this.alarm);
  }

  head(): QueuedMessage | null {
    return this.rows.find((row) => !isDone(row)) ?? null;
  }

  delivered(seq: number): QueuedMessage | null {
    return this.rows[seq - 1] ?? null;
  }

  byId(id: string): { seq: number; doc: string; redactedAt: null } | null {
    const row = this.rows.find(({ message }) => message.id === id);
    return row ? { seq: row.seq, doc: "", redactedAt: null } : null;
  }

  byNetworkId(networkId: string): { seq: number; doc: string } | null {
    const row = this.rows.findLast(({ parts }) => parts.ids.includes(networkId));
    return row ? { seq: row.seq, doc: "" } : null;
  }

  protected write(row: QueuedMessage, news: string | null = null): void {
    const before = this.rows[row.seq - 1] as QueuedMessage;
    const of = Math.max(before.parts.of ?? 1, 1);
    this.world.note(
      () => `${this.id} message ${row.seq} ${row.message.status} ${JSON.stringify([row.delivery, row.parts])}`,
    );
    this.judge.changed(before, row, of, news);
    this.rows = this.rows.with(row.seq - 1, row.parts.of === undefined ? { ...row, parts: { ...row.parts, of } } : row);
  }

  // The platform.

  /** Runs a task; its writes up to each wait are one commit. `stored`: after the first one; `lost`: it was not. */
  protected start(task: Task<void>, stored?: () => void, lost?: () => void): void {
    const world = this.world;
    const memory = this.memory;
    let isStored = false;
    memory.tasks++;
    const goOn = (answer?: unknown) => {
      if (memory !== this.memory) return;
      const { done, value: wait } = task.next(answer);
      if (memory !== this.memory) return;
      if (world.fault("crash before a commit", 0.02)) {
        this.lose();
        if (!isStored) lost?.();
        return;
      }
      this.#commit();
      if (!isStored) stored?.();
      isStored = true;
      if (done) {
        memory.tasks--;
        if (this.isIdle) {
          this.#lostAt = Number.NEGATIVE_INFINITY;
          this.judge.quiet(this);
        }
      } else wait(goOn);
      if (memory === this.memory && world.fault("crash after a commit", 0.02)) this.lose();
    };
    goOn();
  }

  #commit(): void {
    this.#onDisk = { rows: this.rows, alarm: this.alarm };
    for (const [call, answer] of this.memory.answers) {
      call.answer = answer;
      call.isKnown ||= answer.outcome === "ok";
    }
    this.memory.answers.clear();
    this.judge.committed(this);
  }

  protected alarmBy(at: number): void {
    if (this.alarm === null || this.alarm > at) this.setAlarm(at);
  }

  protected setAlarm(at: number | null): void {
    this.alarm = at;
    this.#setClock(at);
  }

  #setClock(at: number | null): void {
    const alarm = ++this.#alarms;
    if (at === null) return;
    const world = this.world;
    const early = world.fault("alarm early", 0.1) ? world.between(1, 1_000) : 0;
    const late = world.fault("alarm late", 0.1) ? world.between(1, 60_000) : 0;
    const isTwice = world.fault("alarm twice", 0.1);
    world.at(at - early + late, () => {
      if (alarm !== this.#alarms) return;
      // The handler that is at work comes to its end first.
      if (this.memory.isRinging) return world.after(1_000, () => this.#setClock(this.alarm));
      this.start(this.ring());
      if (isTwice) world.after(world.between(0, 1_000), () => this.memory.isRinging || this.start(this.ring()));
    });
  }
}

function fresh(): Memory {
  return { marked: null, sending: null, wakes: 0, run: null, tasks: 0, isRinging: false, answers: new Map() };
}
