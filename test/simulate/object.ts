import type { Clock } from "../../src/platform/clock.ts";
import type { Turning, World } from "./world.ts";

/** The time from an object's construction until its loss. */
interface Life {
  isOver: boolean;
}

/**
 * The platform under an object of the service. When the object is lost, its code stops where it waits and never goes on,
 * and a new one is constructed over the same storage.
 */
export abstract class SimulatedObject implements Turning {
  protected readonly world: World;
  /** The object's time, which may differ from the world's. */
  protected readonly clock: Clock;
  protected life: Life = { isOver: false };
  #tasks = 0;

  constructor(world: World, skewMs: number) {
    this.world = world;
    this.clock = {
      now: () => world.now + skewMs,
      random: () => world.random(),
      wait: (ms) => new Promise<void>((resolve) => this.timer(ms, resolve)),
      timer: (ms, run) => this.timer(ms, run),
    };
  }

  abstract endTurn(): void;

  /** Constructs the service's classes over the object's storage. */
  protected abstract construct(): void;

  /** Whether none of its code is under way. */
  get isIdle(): boolean {
    return this.#tasks === 0;
  }

  /** The object is lost with all that it has in memory. */
  lose(): void {
    this.life.isOver = true;
    this.life = { isOver: false };
    this.#tasks = 0;
    this.construct();
  }

  /** Runs code of the object, which counts as under way until its promise resolves. */
  protected enter(code: () => unknown): void {
    this.world.entered(this);
    this.keep(code());
  }

  protected keep(work: unknown): void {
    this.#tasks++;
    Promise.resolve(work).then(this.#completed, this.#failed);
  }

  readonly #completed = (): void => {
    this.#tasks--;
  };

  readonly #failed = (error: unknown): void => this.world.fail(error);

  /** Continues code of the object, unless that was lost since `whileAlive` was called. */
  protected whileAlive<A extends unknown[]>(run: (...args: A) => void): (...args: A) => void {
    const life = this.life;
    return (...args) => {
      if (life.isOver) return;
      this.world.entered(this);
      run(...args);
    };
  }

  /** Calls `run` after `ms`. @returns a function that cancels the call */
  protected timer(ms: number, run: () => void): () => void {
    let isCanceled = false;
    const ring = this.whileAlive(run);
    this.world.after(ms, () => isCanceled || ring());
    return () => {
      isCanceled = true;
    };
  }
}
