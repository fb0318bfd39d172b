import { connect, type Socket } from "node:net";

/** Requests over connections that each send the next one when the one before was answered. */
export interface Load {
  url: URL;
  connections: number;
  /** The bytes of the nth request, from 0 on. */
  request: (n: number) => string;
  /** The status that each answer must have. */
  status: number;
}

export interface Measured {
  requests: number;
  seconds: number;
  /** Milliseconds, of each request. */
  latencies: number[];
  /** How much of one core this process used: near 1, it was the driver that was measured. */
  driverShare: number;
  /** The head and some of the body of the first answer with another status, or why a connection broke; else null. */
  unexpected: string | null;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/**
 * Drives a server as hard as it answers, for some seconds or a number of requests. A plain socket with a reader that
 * knows just enough HTTP: a whole client would use as much of a core as the server that it measures.
 */
export async function drive(load: Load, until: { seconds: number } | { requests: number }): Promise<Measured> {
  const run = new Run(load, "requests" in until ? until.requests : Number.POSITIVE_INFINITY);
  const cpu = process.cpuUsage();
  const start = performance.now();
  if ("seconds" in until) run.deadline = start + until.seconds * 1_000;
  await Promise.all(Array.from({ length: load.connections }, () => run.connection()));
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const { latencies } = run;
  const driverShare = (user + system) / 1e6 / seconds;
  return { requests: latencies.length, seconds, latencies, driverShare, unexpected: run.unexpected };
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

  connection(): Promise<void> {
    const { hostname, port } = this.#load.url;
    return new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      let sentAt = 0;
      let answer: Buffer | null = null;
      const next = () => {
        const now = performance.now();
        // Each connection sends one request at least, however long it took to be made.
        if (this.#left <= 0 || (sentAt > 0 && now >= this.deadline)) return end(socket, resolve);
        this.#left--;
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
        const whole: Buffer = answer ? Buffer.concat([answer, chunk]) : chunk;
        answer = whole;
        const status = statusOf(whole);
        if (status === null) return;
        this.latencies.push(performance.now() - sentAt);
        if (status !== this.#load.status) this.unexpected ??= whole.toString("utf8", 0, 2_000);
        answer = null;
        next();
      });
    });
  }
}

/** The status of a whole answer, or null while some of it is missing. */
function statusOf(answer: Buffer): number | null {
  const end = answer.indexOf(HEAD_END);
  if (end < 0) return null;
  const head = answer.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
  if (status === 304 || status === 204) return status;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (length !== undefined) return answer.length >= end + HEAD_END.length + Number(length) ? status : null;
  // Chunked: no body of ours holds a line break, so the last chunk is where the bytes end like it.
  return answer.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) ? status : null;
}

function end(socket: Socket, then: () => void): void {
  socket.removeAllListeners();
  socket.on("error", () => undefined);
  socket.destroy();
  then();
}
