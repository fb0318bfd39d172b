import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { FollowedEvent } from "../../client/event.ts";
import { CommandError } from "../command-error.ts";

/** The answer of the developer's server; `status` is null if there was none in time. */
export interface Forwarded {
  status: number | null;
  durationMs: number;
}

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;
const TIMEOUT_MS = 30_000;
const MAX_WAIT_MS = 5_000;

/** A new signing secret of Standard Webhooks. */
export function newSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Parses the address of the developer's server. @throws CommandError with exit code 2 */
export function forwardTarget(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new CommandError("--forward-to must be an http address, for example http://localhost:3000/hook.", 2);
  }
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (isLocal || url.protocol === "https:") return url;
  throw new CommandError("--forward-to must start with https:// unless it is on this machine.", 2);
}

/** Sends events to a developer's own server as a webhook sends them. */
export class Forwarder {
  readonly #target: URL;
  readonly #secret: string;
  readonly #note: (text: string) => void;
  /** The number of the last event of each chat in this run. */
  readonly #last = new Map<string, number>();

  /** @param note prints a line for people */
  constructor(target: URL, secret: string, note: (text: string) => void) {
    this.#target = target;
    this.#secret = secret;
    this.#note = note;
  }

  /** Sends one event. Tries again until there is a connection, so that a server that restarts gets every event. */
  async send(event: FollowedEvent): Promise<Forwarded> {
    const { id, chatId, number } = event;
    const previous = this.#last.get(chatId ?? "") ?? null;
    // A webhook's call has no cursor. JSON leaves out what is undefined.
    const body = JSON.stringify({ ...event, previous, cursor: undefined });
    for (let attempt = 1; ; attempt++) {
      const begun = performance.now();
      try {
        const status = await this.#post(id, body, attempt);
        if (attempt > 1) this.#note(`${this.#target.origin} answers again.`);
        if (chatId !== null && number !== null) this.#last.set(chatId, number);
        return { status, durationMs: Math.round(performance.now() - begun) };
      } catch (error) {
        const { code = "the connection failed" } = ((error as Error).cause ?? {}) as { code?: string };
        if (attempt === 1) this.#note(`${this.#target.origin} does not answer (${code}). Events wait until it does.`);
        await delay(Math.min(250 * 2 ** (attempt - 1), MAX_WAIT_MS));
      }
    }
  }

  /** The status of the answer; null if there is none in time. @throws TypeError without a connection */
  async #post(id: string, body: string, attempt: number): Promise<number | null> {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const key = Buffer.from(this.#secret.slice(SECRET_PREFIX.length), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
      "parley-attempt": String(attempt),
    };
    try {
      const init = {
        method: "POST",
        headers,
        body,
        redirect: "manual" as const,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      };
      const response = await fetch(this.#target, init);
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      if ((error as Error).name === "TimeoutError") return null;
      throw error;
    }
  }
}
