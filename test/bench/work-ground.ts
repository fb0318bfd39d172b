import { setTimeout as delay } from "node:timers/promises";
import { type World, worldAt } from "../support/world/world.ts";
import { type Inspector, openInspector } from "./inspector.ts";
import { heldBy, residentOf } from "./memory.ts";
import { authorized } from "./request.ts";
import type { Server } from "./server.ts";
import type { Work } from "./work-cases.ts";

/** How long something took, and when it was over, as of `performance.now()`. Both in ms. */
export interface Timing {
  took: number;
  at: number;
}

/** The memory of a server, in MB. */
export interface ServerMemory {
  /** What it was measured with. */
  name: string;
  /** Of the runtime's process: all isolates, and the emulated storage. */
  process: number;
  /** What the isolate that takes the requests holds of JavaScript and of buffers, garbage included. */
  worker: number;
  /** The same of the isolate with all objects. */
  objects: number;
}

const LISTS_PER_SECOND = 10;
const PROCESS_EVERY_MS = 20;
/** A look at an isolate interrupts it. */
const ISOLATES_EVERY_MS = 400;

/** The running service, and what is noted of it. */
export class WorkGround {
  readonly server: Server;
  readonly url: URL;
  readonly adminToken: string;
  readonly call: World["call"];
  /** By the name of a row. */
  readonly times = new Map<string, Timing[]>();
  readonly memory: ServerMemory[] = [];
  readonly faults: string[] = [];
  /** What else is to be said. */
  readonly remarks: string[] = [];
  /** When each numbered send was answered, as of `performance.now()`. */
  readonly answered = new Map<number, number>();
  /** When the work is to stop, as of `performance.now()`. */
  endsAt = Number.POSITIVE_INFINITY;
  readonly #ends: (() => Promise<unknown>)[] = [];
  readonly #isolates: [worker: Inspector, objects: Inspector];
  #sends = 0;

  private constructor(server: Server, adminToken: string, isolates: [worker: Inspector, objects: Inspector]) {
    this.server = server;
    this.url = server.url("parley");
    this.adminToken = adminToken;
    this.call = worldAt(this.url, adminToken).call;
    this.#isolates = isolates;
  }

  /** @param inspector the port of the server's inspector */
  static async of(server: Server, adminToken: string, inspector: number): Promise<WorkGround> {
    const worker = await openInspector("parley", inspector);
    return new WorkGround(server, adminToken, [worker, await openInspector("parley-objects", inspector)]);
  }

  /** Runs something when the measurement ends, also if it fails. */
  readonly atEnd = (end: () => Promise<unknown>): void => void this.#ends.unshift(end);

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
    await Promise.all(this.#isolates.map((isolate) => isolate.close()));
  }

  isOver(): boolean {
    return performance.now() > this.endsAt;
  }

  note(row: string, took: number, at = performance.now()): void {
    const timings = this.times.get(row) ?? [];
    timings.push({ took, at });
    this.times.set(row, timings);
  }

  /** Notes the memory of now. */
  async weigh(name: string): Promise<void> {
    const [process, [worker, objects]] = await Promise.all([residentOf(this.server.pid), this.#held()]);
    this.memory.push({ name, process, worker, objects });
  }

  /** Does some work beside sends and lists of chats. Notes their times and the most memory, unless `when` is null. */
  async beside<T>(
    when: string | null,
    { chatIds, secret }: Work,
    perSecond: number,
    work: () => Promise<T>,
  ): Promise<T> {
    const end = new AbortController();
    const { signal } = end;
    const most = { name: `${when}, at most`, process: 0, worker: 0, objects: 0 };
    const look = async (everyMs: number, act: () => Promise<void>) => {
      for (; !signal.aborted; await delay(everyMs)) await act();
    };
    const rowOf = (what: string) => (when === null ? null : `${what}, ${when}`);
    const [result] = await Promise.all([
      work().finally(() => end.abort()),
      this.#atPace(perSecond, signal, rowOf("sends"), () => this.#send(chatIds, secret)),
      this.#atPace(LISTS_PER_SECOND, signal, rowOf("GET /chats"), () => this.#list(secret)),
      look(PROCESS_EVERY_MS, async () => {
        most.process = Math.max(most.process, await residentOf(this.server.pid));
      }),
      look(ISOLATES_EVERY_MS, async () => {
        const [worker, objects] = await this.#held();
        most.worker = Math.max(most.worker, worker);
        most.objects = Math.max(most.objects, objects);
      }),
    ]);
    if (when !== null) this.memory.push(most);
    return result;
  }

  /** Does something at an even pace, whether or not the times before are over. */
  async #atPace(perSecond: number, signal: AbortSignal, row: string | null, act: () => Promise<void>): Promise<void> {
    const start = performance.now();
    const timed = async () => {
      const begun = performance.now();
      await act();
      if (row !== null) this.note(row, performance.now() - begun);
    };
    const all: Promise<void>[] = [];
    for (let n = 1; !signal.aborted; n++) {
      all.push(timed().catch((error: unknown) => void this.faults.push(`${row ?? "warm-up"}: ${String(error)}`)));
      await delay(Math.max(0, start + (n * 1_000) / perSecond - performance.now()));
    }
    await Promise.all(all);
  }

  async #send(chatIds: readonly string[], secret: string): Promise<void> {
    const n = this.#sends++;
    const path = `/api/v1/chats/${chatIds[n % chatIds.length]}/messages`;
    await this.#ask(path, 201, secret, { method: "POST", body: JSON.stringify({ content: numbered(n) }) });
    this.answered.set(n, performance.now());
  }

  /** Page 1 is in the cache of the isolate. */
  #list(secret: string): Promise<void> {
    return this.#ask("/api/v1/chats?page=2", 200, secret, {});
  }

  async #ask(path: string, status: number, secret: string, init: RequestInit): Promise<void> {
    const response = await fetch(new URL(path, this.url), { headers: authorized(secret), ...init });
    const text = await response.text();
    if (response.status !== status) throw new Error(`it was answered ${response.status}: ${text.slice(0, 200)}`);
  }

  async #held(): Promise<[worker: number, objects: number]> {
    const [worker, objects] = this.#isolates;
    return Promise.all([heldBy(worker), heldBy(objects)]);
  }
}

/** The text of a send. */
function numbered(n: number): string {
  return `Message ${n}.`;
}

/** The number of the send whose text is in these words; null if there is none. */
export function numberIn(words: string): number | null {
  const [, n] = /Message (\d+)\./.exec(words) ?? [];
  return n === undefined ? null : Number(n);
}
