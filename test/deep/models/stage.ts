import { env } from "cloudflare:workers";
import type fc from "fast-check";
import { afterEach, beforeEach, expect, vi } from "vitest";
import type { Message } from "../../../src/chats/message.ts";
import type { ChatIdentity } from "../../../src/chats/rpc.ts";
import { newId } from "../../../src/ids.ts";
import { ChatObject } from "../../../src/index.ts";
import type { OrganizationObject } from "../../../src/organizations/object/organization-object.ts";
import type { ChatReport, ReportAnswer } from "../../../src/organizations/rpc.ts";
import { asOwner } from "../../support/as-owner.ts";

/** When each run begins: a day ahead of the platform's clock, so that no alarm rings by itself. */
export const START = Date.now() + 86_400_000;

/** The tests of a file have a clock of their own, and no fake outlives one. */
export function ownClock(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: START });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
}

/** More than there are between two places where something is waited for. */
const MICROTASKS = 200;

/**
 * A real chat object on real storage, amid all that may happen to it at once, in an order that fast-check's scheduler
 * picks. Its methods are called within one event of the object, not from outside: between two places where it waits for
 * another (its channel, its network, its organization) nothing but promises that are ready settles, so what is let go next
 * is the scheduler's choice alone, and a seed means the same order each time. Production has no more orders than these:
 * it delivers no call and no answer while the object's storage is at work. To lose an instance is to let nothing come
 * back to it, and to make the next one on the same storage.
 */
export class Stage {
  readonly identity: ChatIdentity;
  chat: ChatObject;
  /** What went wrong, with no one waiting for it. */
  readonly faults: unknown[] = [];
  readonly #state: DurableObjectState;
  readonly #scheduler: fc.Scheduler;
  #instance = 0;
  #isRinging = false;

  constructor(state: DurableObjectState, scheduler: fc.Scheduler) {
    this.#state = state;
    this.#scheduler = scheduler;
    this.identity = {
      chatId: newId("cht", null),
      organizationId: newId("org", null),
      channelId: newId("chn", null),
      channelKind: "web",
      contactAddress: "4915100000000",
      createdAt: Date.now(),
      life: Date.now(),
      addresses: [],
    };
    state.waitUntil = (work) => void this.watch(work);
    this.chat = new ChatObject(state, env);
    this.chat.state(asOwner(this.identity.organizationId, this.identity));
  }

  /** Waits for its turn; forever, should the instance that waits be lost meanwhile. */
  async turn(label: string): Promise<void> {
    const instance = this.#instance;
    await this.#scheduler.schedule(Promise.resolve(), label);
    if (instance !== this.#instance) await new Promise(() => {});
  }

  /** Has these begin one after the other, each in its turn. */
  begin(steps: [label: string, step: () => unknown][]): void {
    const builders = steps.map(([label, step]) => ({ label, builder: async () => this.watch(step()) }));
    if (builders.length > 0) this.#scheduler.scheduleSequence(builders);
  }

  /** Has one thing happen so many times, each in its turn. */
  times(count: number, label: string, step: () => unknown): void {
    this.begin(Array.from({ length: count }, () => [label, step]));
  }

  async watch(work: unknown): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.faults.push(error);
    }
  }

  /** Lets go of one thing after the other until nothing waits, and `check`s after each. */
  async play(check: () => void): Promise<void> {
    await settle();
    while (this.#scheduler.count() > 0) {
      void this.#scheduler.waitOne();
      await settle();
      if (this.faults.length > 0) throw this.faults[0];
      check();
    }
  }

  /** Time passes; less than none: the clock is set back. */
  pass(ms: number): void {
    if (ms < 0) return void vi.setSystemTime(Date.now() + ms);
    vi.advanceTimersByTime(ms);
  }

  /** The instance is lost with all that it had under way. */
  lose(): void {
    this.#instance++;
    this.#isRinging = false;
    const now = Date.now();
    // It sets the clock to where it began, too.
    vi.clearAllTimers();
    vi.setSystemTime(now);
    this.chat = new ChatObject(this.#state, env);
  }

  alarm(): Promise<number | null> {
    return this.#state.storage.getAlarm();
  }

  /** As the platform does: never while it is at work, and none stands meanwhile. */
  async ring(): Promise<void> {
    if (this.#isRinging || (await this.alarm()) === null) return;
    this.#isRinging = true;
    await this.#state.storage.deleteAlarm();
    await this.chat.alarm();
    this.#isRinging = false;
  }

  /** Rings by the alarm alone until none is set, at most so many times; `rest` comes after each. */
  async drain(most: number, rest: () => Promise<void>): Promise<void> {
    for (let rings = 0; ; rings++) {
      const alarm = await this.alarm();
      if (alarm === null) return;
      expect(rings, "rings of the alarm until all was done").toBeLessThan(most);
      this.pass(Math.max(0, alarm - Date.now()));
      this.begin([["the alarm rings", () => void this.watch(this.ring())]]);
      await rest();
    }
  }

  /** The organization's object: it accepts each report. */
  organization(): object {
    return {
      report: async ({ number }: ChatReport): Promise<ReportAnswer> => {
        await this.turn("the chat reports to its organization");
        await this.turn("the organization answers");
        return { outcome: "ok", number, nextAfterMs: 5_000, listeningForMs: 0 };
      },
      addAddresses: () => this.turn("the organization gets addresses"),
    } satisfies Partial<Record<keyof OrganizationObject, unknown>>;
  }

  /** The platform's ends of the visitors' sockets that are open; they outlive an instance. */
  sockets(): WebSocket[] {
    return this.#state.getWebSockets().filter((socket) => socket.readyState === WebSocket.OPEN);
  }

  /** All messages, as they are stored. */
  messages(): Message[] {
    const rows = this.#state.storage.sql.exec<{ doc: string }>("select doc from messages order by seq");
    return [...rows].map(({ doc }) => JSON.parse(doc) as Message);
  }
}

async function settle(): Promise<void> {
  for (let n = 0; n < MICROTASKS; n++) await Promise.resolve();
}
