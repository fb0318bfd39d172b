import { connect, type Socket } from "node:net";
import { quantile } from "./statistics.ts";

/** Requests over connections. Each connection sends its next request at the earliest when the last one was answered. */
export interface Load {
  url: URL;
  connections: number;
  /** Requests a second, over all connections, at most. Without it each connection sends as fast as it is answered. */
  perSecond?: number | undefined;
  /** The bytes of the nth request, from 0 on. */
  request: (n: number) => string;
  /** How many requests differ, before they repeat. Infinity if none may be sent twice. */
  different: number;
  /** The statuses that a response may have. */
  statuses: readonly number[];
}

/** What a driver measured. Times in milliseconds. */
export interface Measured {
  requests: number;
  seconds: number;
  p50: number;
  p99: number;
  /** How much of one core the driver used. Near 1, the driver was the limit. */
  driverShare: number;
  /** The first response with another status, or why a connection failed. Null if all went well. */
  unexpected: string | null;
}

/** Sends requests for a few seconds, as fast as they are answered or as the load allows. */
export type Driver = (load: Load, seconds: number) => Promise<Measured>;

/** The driver for machines without wrk. Against a bare route it is the limit, not the service. */
export const nodeDriver: Driver = (load, seconds) => drive(load, { seconds });

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/**
 * Sends requests from this process, for a few seconds or a number of requests. It reads plain sockets and knows just
 * enough HTTP: a real client would use still more CPU.
 */
export async function drive(load: Load, until: { seconds: number } | { requests: number }): Promise<Measured> {
  const run = new Run(load, "requests" in until ? until.requests : Number.POSITIVE_INFINITY);
  const cpu = process.cpuUsage();
  const start = performance.now();
  if ("seconds" in until) run.deadline = start + until.seconds * 1_000;
  await Promise.all(Array.from({ length: load.connections }, (_, n) => run.connection(paceOf(load, n, start))));
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const { latencies, unexpected } = run;
  return {
    requests: latencies.length,
    seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    driverShare: (user + system) / 1e6 / seconds,
    unexpected,
  };
}

/** When a connection may send its nth request. Those of different connections are spread over the time between two. */
function paceOf({ perSecond, connections }: Load, connection: number, start: number): (n: number) => number {
  if (perSecond === undefined) return () => start;
  return (n) => start + ((n * connections + connection) * 1_000) / perSecond;
}

class Run {
  deadline = Number.POSITIVE_INFINITY;
  latencies: number[] = [];
  unexpected: string | null = null;
  readonly #load: Load;
  #left: number;
  #sent = 0;

  constructor(load: Load, requests: number) {
    this.#load = load;
    this.#left = requests;
  }

  /** @param dueAt when the connection may send its nth request, as of `performance.now()` */
  connection(dueAt: (n: number) => number): Promise<void> {
    const { hostname, port } = this.#load.url;
    return new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      let sentAt = 0;
      let sent = 0;
      let response: Buffer | null = null;
      const next = () => {
        const now = performance.now();
        const early = dueAt(sent) - now;
        // Each connection sends at least one request, even if the time is up before it is connected.
        if (this.#left <= 0 || (sent > 0 && now + Math.max(0, early) >= this.deadline)) return end(socket, resolve);
        if (early > 0) return void setTimeout(next, early);
        this.#left--;
        sent++;
        sentAt = now;
        socket.write(this.#load.request(this.#sent++), "latin1");
      };
      socket.on("connect", next);
      const broken = (why: string) => {
        this.unexpected ??= `The connection broke: ${why}`;
        end(socket, resolve);
      };
      socket.on("error", ({ message }) => broken(message));
      socket.on("close", () => broken("the server hung up"));
      socket.on("data", (chunk) => {
        const whole: Buffer = response ? Buffer.concat([response, chunk]) : chunk;
        response = whole;
        const status = statusOf(whole);
        if (status === null) return;
        this.latencies.push(performance.now() - sentAt);
        if (!this.#load.statuses.includes(status)) this.unexpected ??= whole.toString("utf8", 0, 2_000);
        response = null;
        next();
      });
    });
  }
}

/** The status of a complete response. Null while some of it is missing. */
function statusOf(response: Buffer): number | null {
  const end = response.indexOf(HEAD_END);
  if (end < 0) return null;
  const head = response.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
  if (status === 304 || status === 204) return status;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (length !== undefined) return response.length >= end + HEAD_END.length + Number(length) ? status : null;
  // Chunked: no body of the service contains a line break, so the last chunk is there if the bytes end like it.
  return response.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) ? status : null;
}

function end(socket: Socket, then: () => void): void {
  socket.removeAllListeners();
  socket.on("error", () => undefined);
  socket.destroy();
  then();
}
