import { Party, type PlatformWorld, type Reply, type Result } from "./party.ts";
import type { SimulatedSocket } from "./sockets.ts";
import { ObjectStorage } from "./storage.ts";

type Instance = Record<string, (...given: unknown[]) => unknown>;

/** Constructs an instance of the object's class. */
export type Construct = (state: DurableObjectState, object: SimulatedObject) => object;

const RETRY_ALARM_MS = 2_000;
/** The platform may repeat an alarm that has ended, for this long. */
const RING_AGAIN_MS = 60_000;

/** What judges an object. */
export interface Watch {
  /** A call has arrived. @returns what to do with its answer when it leaves */
  called(object: SimulatedObject, method: string, given: unknown[]): ((value: unknown) => void) | undefined;
  /** A call ends with an error, which leaves. */
  failed?(given: unknown[]): void;
  committed(object: SimulatedObject): void;
  /** A frame leaves on a socket. */
  framed?(socket: SimulatedSocket, data: string): void;
  /** Whether a statement of the object fails. */
  fails?(query: string): boolean;
  /** A turn of the object has ended, and its calls have left. */
  turnEnded?(object: SimulatedObject): void;
  /** The object is lost only between turns. */
  isSteady?: boolean;
  /** How far the clock of an instance is from the world's at most. */
  maxSkewMs?: number;
}

const MAX_SKEW_MS = 20_000;

/** The platform under one object: storage that stays, and instances that come and go. */
export class SimulatedObject extends Party {
  readonly storage = new ObjectStorage();
  /** The sockets of its pages, open or closed. */
  readonly sockets: SimulatedSocket[] = [];
  readonly #construct: Construct;
  readonly #watch: Watch;
  #instance: Instance | null = null;
  #waiting = new Set<Reply>();
  /** No call reaches the object. */
  isAway = false;
  /** The object never answers a call. */
  isSilent = false;
  /** How many calls and alarms have begun. */
  begun = 0;
  /** How many alarms have begun. */
  rings = 0;
  /** How many instances were lost. */
  losses = 0;
  /** How often its clock was set. */
  clockChanges = 0;
  #setBackMs = 0;
  #isRinging = false;
  /** How much work goes on after the call that started it. */
  #works = 0;
  /** Whether an alarm rang in this instance. */
  hasRung = false;
  /** The instance was lost during the last alarm. */
  #isCutOff = false;
  /** The alarm that is planned in the world. */
  #planned: { at: number } | null = null;

  constructor(world: PlatformWorld, name: string, construct: Construct, watch: Watch) {
    super(world, name);
    this.#construct = construct;
    this.#watch = watch;
  }

  override get now(): number {
    return super.now - this.#setBackMs;
  }

  /** No call and no alarm is under way. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && !this.#isRinging;
  }

  /** No call, no alarm and no work that they started is under way. */
  get isResting(): boolean {
    return this.isIdle && this.#works === 0;
  }

  /** An alarm is under way. If the object is lost, the platform repeats it. */
  get isRinging(): boolean {
    return this.#isRinging;
  }

  /** The last alarm is under way, or it did not end. */
  get isAlarmOpen(): boolean {
    return this.#isRinging || this.#isCutOff;
  }

  /** Sets the clock of the object's machine, by which alarms ring too, to `ms` before the world's. */
  setClockBack(ms: number): void {
    this.#setBackMs = ms;
    this.clockChanges++;
    this.#planned = null;
    this.#plan();
  }

  /** A call has arrived. The answer leaves after the writes before it are committed. */
  receive(method: string, given: unknown[], reply: Reply): void {
    if (this.isAway) {
      reply({ error: platformError(true) });
      return;
    }
    if (this.isSilent) return;
    this.#waiting.add(reply);
    const judge = this.#watch.called(this, method, given);
    const answer = (result: Result) =>
      this.output(() => {
        this.#waiting.delete(reply);
        if ("value" in result) judge?.(result.value);
        else this.#watch.failed?.(given);
        reply(result);
      });
    this.world.note(() => `${this.name} ${method} ${JSON.stringify(given)}`);
    this.#enter(
      method,
      given,
      (value) => answer({ value: structuredClone(value) }),
      (error) => answer({ error: remoteError(error) }),
    );
  }

  frame(socket: SimulatedSocket, data: string): void {
    this.output(() => this.#watch.framed?.(socket, data));
  }

  override lose(): void {
    if (this.#instance) this.losses++;
    // One that sleeps keeps them.
    if (!this.isResting || this.hasOutput) for (const socket of this.sockets) socket.close();
    super.lose();
    this.world.note(() => `${this.name} is lost`);
    this.#instance = null;
    this.#works = 0;
    this.hasRung = false;
    const { maxSkewMs = MAX_SKEW_MS } = this.#watch;
    this.skewMs = this.world.fault("clocks apart", 0.3) ? this.world.between(-maxSkewMs, maxSkewMs) : 0;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const reply of waiting) reply({ error: platformError(this.world.random() < 0.5) });
    // The platform repeats an alarm that did not end.
    if (this.#isRinging) this.storage.alarm ??= this.now + RETRY_ALARM_MS;
    this.#isCutOff ||= this.#isRinging;
    this.#isRinging = false;
    this.storage.commit();
    this.#plan();
  }

  override endTurn(): void {
    const { world, storage } = this;
    const hasChanged = storage.hasChanged;
    const mayCrash = !this.#watch.isSteady;
    if (hasChanged && mayCrash && world.fault("crash before a commit", 0.02)) {
      storage.rollBack();
      this.lose();
      return;
    }
    storage.commit();
    if (hasChanged) {
      this.#plan();
      this.#watch.committed(this);
    }
    if (mayCrash && world.fault("crash after a commit", 0.02)) this.lose();
    else this.flush();
    this.#watch.turnEnded?.(this);
  }

  #keep(work: Promise<unknown>): void {
    const { life } = this;
    this.#works++;
    const ended = () => {
      if (!life.isOver) this.#works--;
    };
    work.catch((error: unknown) => this.world.fail(error)).finally(ended);
  }

  #enter(method: string, given: unknown[], done: (value: unknown) => void, failed: (error: unknown) => void): void {
    this.begun++;
    this.whileAlive(() => {
      const { life } = this;
      if (!this.#instance) {
        const state = {
          storage: this.storage.handle(
            () => life.isOver,
            (query) => this.#watch.fails?.(query) ?? false,
          ),
          waitUntil: (work: Promise<unknown>) => this.#keep(work),
          getWebSockets: () => this.sockets,
          acceptWebSocket: (socket: SimulatedSocket) => {
            socket.acceptedBy(this);
            this.sockets.push(socket);
          },
          setWebSocketAutoResponse: () => {},
          getWebSocketAutoResponseTimestamp: () => null,
        };
        this.#instance = this.#construct(state as unknown as DurableObjectState, this) as Instance;
      }
      const instance = this.#instance;
      void (async () => instance[method]?.(...given))().then(done, failed);
    })();
  }

  #plan(): void {
    const { alarm } = this.storage;
    if (this.#planned?.at === alarm) return;
    const planned = alarm === null ? null : { at: alarm };
    this.#planned = planned;
    if (!planned) return;
    const lateMs = this.world.fault("alarm early or late", 0.1) ? this.world.between(-1_000, 60_000) : 0;
    this.world.at(this.world.now + planned.at - this.now + lateMs, () => {
      if (this.#planned === planned) this.#ring();
    });
  }

  #ring(): void {
    // One alarm of an object runs at a time.
    if (this.#isRinging) {
      this.world.after(1_000, () => this.#planned && this.#ring());
      return;
    }
    this.#planned = null;
    this.rings++;
    this.#isRinging = true;
    this.hasRung = true;
    const isRetry = this.#isCutOff;
    this.#isCutOff = false;
    this.storage.alarm = null;
    this.world.note(() => `${this.name} alarm`);
    const ended = () => {
      this.#isRinging = false;
      // From here on, only an alarm that is set rings.
      this.#watch.committed(this);
      if (this.world.fault("alarm twice", 0.2))
        this.world.after(this.world.between(0, RING_AGAIN_MS), () => this.#ring());
    };
    // It has ended when its last writes are committed.
    this.#enter(
      "alarm",
      [{ isRetry, retryCount: isRetry ? 1 : 0 }],
      () => this.output(ended),
      (error) => this.world.fail(error),
    );
  }
}

/** The platform lost the object or the way to it. */
export function platformError(isRetryable: boolean): Error {
  return Object.assign(new Error("Network connection lost."), { retryable: isRetryable, durableObjectReset: true });
}

/** An error of the object's code, as the caller gets it: without its class. */
function remoteError(error: unknown): Error {
  const { message, cause, ...properties } = error as Error;
  return Object.assign(new Error(message, { cause }), properties, { remote: true });
}
