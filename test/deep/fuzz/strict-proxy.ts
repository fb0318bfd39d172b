import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../../../src/cli/local/port.ts";
import type { Ask, Told } from "./fixtures.ts";

const PRISM = "@stoplight/prism-cli@5.16.0";
const DOCUMENT = join(import.meta.dirname, "../../../src/openapi/public.json");
const PREFIX = "/api/v1";
const MAX_KINDS = 20;

interface Violation {
  location: string[];
  message: string;
}

/** Prism between the requests and the public part of the service: it compares what passes to the OpenAPI document. */
export class StrictProxy {
  readonly url: URL;
  /** How many requests went through it. */
  requests = 0;
  readonly #process: ChildProcess;
  /** What was off the document in an answer, and how often. */
  readonly #violations = new Map<string, number>();

  private constructor(url: URL, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  /** Starts it before a service, which it reaches at `upstream`. @throws Error when it ends instead */
  static async begin(upstream: URL): Promise<StrictProxy> {
    const port = await freePort(0, "127.0.0.1");
    const args = ["-y", PRISM, "proxy", "--port", String(port), DOCUMENT, new URL(PREFIX, upstream).href];
    // A group of its own: npx starts it in a shell, and would leave it behind.
    // Nor has it a limit of its own for the addresses that are drawn.
    const env = { ...process.env, NODE_OPTIONS: "--max-http-header-size=1000000" };
    const child = spawn("npx", args, { stdio: ["ignore", "pipe", "inherit"], detached: true, env });
    const listens = Promise.withResolvers<void>();
    void once(child, "exit").then(() => listens.reject(new Error(`${PRISM} ended`)));
    // Its log is read to the end: a pipe that is full would hold it up.
    createInterface({ input: child.stdout }).on("line", (line) => line.includes("listening on") && listens.resolve());
    await listens.promise;
    return new StrictProxy(new URL(`http://127.0.0.1:${port}`), child);
  }

  /** Asks through it where it can take the request as it is, else past it; `ask` does so at an address. */
  through(ask: (url: URL, ...request: Parameters<Ask>) => Promise<Told>, service: URL): Ask {
    return async (method, path, sent) => {
      if (!path.startsWith(`${PREFIX}/`) || !isPlain(method, path, sent)) return ask(service, method, path, sent);
      const told = await ask(this.url, method, path.slice(PREFIX.length), sent);
      // Its own, where the service hung up: `askOver` tells of when it does.
      if (told.headers.get("Content-Type") === "application/problem+json") return ask(service, method, path, sent);
      this.requests++;
      const found: Violation[] = JSON.parse(told.headers.get("sl-violations") ?? "[]");
      for (const { location, message } of found.filter(({ location: [where] }) => where === "response")) {
        const kind = `${method} ${path.replace(/\?.*/, "").replace(/\b(cht|msg)_\w+/g, "{$1}")} ${told.status}: ${location.join(".")} ${message}`;
        this.#violations.set(kind, (this.#violations.get(kind) ?? 0) + 1);
      }
      return told;
    };
  }

  /** What was found, the first kinds of it. */
  faults(): string[] {
    return [...this.#violations].slice(0, MAX_KINDS).map(([kind, times]) => `${kind} (${times} times)`);
  }

  end(): void {
    if (this.#process.pid !== undefined && this.#process.exitCode === null) process.kill(-this.#process.pid);
  }
}

/**
 * Prism never answers a body that it can't read, ends at an address that it can't read, takes nothing for an id, and
 * answers OPTIONS itself. It passes on a stream only once it has ended.
 */
function isPlain(method: string, path: string, { headers, body }: Parameters<Ask>[2]): boolean {
  if (path.startsWith(`${PREFIX}/events/stream`)) return false;
  if (method === "OPTIONS" || method === "PROPFIND" || /\/[/?]|\/$/.test(path)) return false;
  if (Object.keys(headers).some((name) => !["Authorization", "Idempotency-Key", "If-None-Match"].includes(name))) {
    return false;
  }
  try {
    decodeURIComponent(path);
    if (body === null) return true;
    return typeof JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body)) === "object";
  } catch {
    return false;
  }
}
