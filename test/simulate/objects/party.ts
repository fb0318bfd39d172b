import type { World } from "./world.ts";

/** What may go wrong with objects and the calls between them. */
type PlatformFault =
  | "call late"
  | "call lost"
  | "call twice"
  | "answer lost"
  | "answer late"
  | "crash before a commit"
  | "crash after a commit"
  | "alarm early or late"
  | "alarm twice"
  | "clocks apart"
  | "D1 late";

/** The world of any simulation of objects. */
export type PlatformWorld = Pick<
  World<PlatformFault, string>,
  "now" | "random" | "between" | "pick" | "fault" | "count" | "note" | "fail" | "running" | "entered" | "after" | "at"
>;

/** How a call ended. */
export type Result = { value: unknown } | { error: unknown };

/** Gives the result of a call to the caller. */
export type Reply = (result: Result) => void;

/**
 * Code that runs in one place: an isolate of the Worker, or an instance of an object. It runs in turns. What it sends
 * leaves at the end of a turn. When it is lost, its code stops where it waits.
 */
export class Party {
  readonly world: PlatformWorld;
  readonly name: string;
  /** How far the clock of this place is from the world's. */
  skewMs = 0;
  /** What the clock of this place shows while it stands still; null if it goes. */
  #standsAt: number | null = null;
  #resumesAt = 0;
  protected life = { isOver: false };
  #outputs: (() => void)[] = [];

  constructor(world: PlatformWorld, name: string) {
    this.world = world;
    this.name = name;
  }

  get now(): number {
    return this.#standsAt ?? this.world.now + this.skewMs;
  }

  /** Sets the clock by `ms`. */
  stepClock(ms: number): void {
    this.skewMs += ms;
    this.world.note(() => `the clock of ${this.name} steps by ${ms} ms`);
  }

  /** The clock stands still until `startClock`. */
  stopClock(): void {
    this.#standsAt = this.now;
    this.world.note(() => `the clock of ${this.name} stands still`);
  }

  /** The clock shows what it would if it had not stood still. */
  startClock(): void {
    this.#standsAt = null;
    this.world.note(() => `the clock of ${this.name} goes`);
  }

  /** Nothing runs here for `ms`. What comes meanwhile comes at the end, in its order. */
  pause(ms: number): void {
    this.world.note(() => `${this.name} pauses for ${ms} ms`);
    this.#resumesAt = Math.max(this.#resumesAt, this.world.now + ms);
  }

  /** Runs code of this place in the current event. */
  enter(code: () => unknown): void {
    this.whileAlive(code)();
  }

  endTurn(): void {
    this.flush();
  }

  /** All code of this place stops, and its memory is gone. */
  lose(): void {
    this.life.isOver = true;
    this.life = { isOver: false };
    this.#outputs = [];
  }

  /** `run` leaves this place at the end of the turn. */
  output(run: () => void): void {
    this.#outputs.push(run);
  }

  /** Whether something is to leave. */
  protected get hasOutput(): boolean {
    return this.#outputs.length > 0;
  }

  /** Makes a call. @param leave is called when the call leaves this place */
  request(leave: (reply: Reply) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settle = this.whileAlive((result: Result) => {
        if ("error" in result) reject(result.error as Error);
        else resolve(result.value);
      });
      this.output(() => leave(settle));
    });
  }

  /** Calls `run` after `ms`. @returns a function that cancels the call */
  timer(ms: number, run: () => void): () => void {
    let isCanceled = false;
    const ring = this.whileAlive(run);
    this.world.after(ms, () => isCanceled || ring());
    return () => {
      isCanceled = true;
    };
  }

  /** Continues code of this place in an event, unless it was lost since `whileAlive` was called. */
  protected whileAlive<A extends unknown[]>(run: (...given: A) => void): (...given: A) => void {
    const { life } = this;
    const resume = (...given: A): void => {
      if (life.isOver) return;
      if (this.world.now < this.#resumesAt) {
        this.world.at(this.#resumesAt, () => resume(...given));
        return;
      }
      this.world.entered(this);
      run(...given);
    };
    return resume;
  }

  protected flush(): void {
    const outputs = this.#outputs;
    this.#outputs = [];
    for (const output of outputs) output();
  }
}
