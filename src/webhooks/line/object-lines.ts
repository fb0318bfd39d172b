import type { EventRange, WebhookList } from "../../model/webhook.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { LineHost } from "./host.ts";
import { Lines } from "./lines.ts";

/** What lines need of the object that they run in. */
export interface LinesObject {
  alarm: StandingAlarm;
  waitUntil(work: Promise<void>): void;
}

/** The lines of a Durable Object. They run beside its other work. */
export abstract class ObjectLines implements DuePart {
  protected readonly lines = new Lines(() => this.lineHost());
  readonly #object: LinesObject;

  constructor(object: LinesObject) {
    this.#object = object;
  }

  /** The owner of the lines; null before it exists and after its deletion. */
  protected abstract lineHost(): LineHost | null;

  /** See `Lines.configure`. */
  configure(list: WebhookList, startAfter: number): void {
    this.lines.configure(list, startAfter);
    this.start();
  }

  /** When the lines must run; null if nothing waits. */
  dueAt(now: number): number | null {
    return this.lines.dueAt(now);
  }

  /** No alarm waits for them: a receiver may be slow. */
  run(): void {
    this.start();
  }

  /** Sends due events. The output gate delays each call until the event that it sends is on disk. */
  start(): void {
    this.#object.waitUntil(this.#run());
  }

  /** See `Lines.wake`. */
  async wake(webhookId: string, number: number, startedAt?: number): Promise<number | null> {
    await this.#object.alarm.standing();
    const answer = this.lines.wake(webhookId, number, startedAt);
    await this.startSafely();
    return answer;
  }

  /** See `Lines.replay`. */
  async replay(webhookId: string, replayId: string, ranges: EventRange[]): Promise<number> {
    await this.#object.alarm.standing();
    const found = await this.lines.replay(webhookId, replayId, ranges);
    await this.startSafely();
    return found;
  }

  /** The owner is being deleted; see `Lines.ownerDeleted`. */
  ownerDeleted(): void {
    this.#object.waitUntil(this.lines.ownerDeleted());
  }

  /** The owner was deleted. */
  forget(): void {
    this.lines.forget();
  }

  /** With an alarm in the same commit, so that the work is not lost with this instance. */
  protected async startSafely(): Promise<void> {
    await this.#standBy();
    this.start();
  }

  async #run(): Promise<void> {
    await this.lines.run();
    await this.#standBy();
  }

  #standBy(): Promise<void> {
    return this.#object.alarm.by(this.lines.dueAt(Date.now()));
  }
}
