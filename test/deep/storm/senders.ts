import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../support/random.ts";
import { running } from "../../support/world/patience.ts";
import type { Parley } from "./parley.ts";

/** A client's request and its response. */
export interface Said {
  chatId: string;
  content: string;
  sender: number;
  /** With an idempotency key it was repeated until a response. Without one it was sent once. */
  keyed: boolean;
  answer: { id: string; seq: number } | null;
}

export interface Load {
  connections: number;
  /** The time between a response and the connection's next message. */
  pauseMs: number;
}

const AGAIN_AFTER_MS = 30;
const PATIENCE_MS = 180_000;

/** Clients that send to chats, one message at a time each, until they are stopped. They record every send. */
export class Senders {
  readonly journal: Said[] = [];
  readonly #all: Promise<void>[];
  #stopped = false;

  constructor(parley: Parley, chats: string[], random: Random, { connections, pauseMs }: Load) {
    this.#all = Array.from({ length: connections }, (_, sender) => this.#send(parley, chats, random, sender, pauseMs));
    // `stop` reports a failure.
    for (const one of this.#all) one.catch(() => {});
  }

  /** Waits for requests in progress. @throws Error if the service does not recover */
  async stop(): Promise<Said[]> {
    this.#stopped = true;
    await Promise.all(this.#all);
    return this.journal;
  }

  async #send(parley: Parley, chats: string[], random: Random, sender: number, pauseMs: number): Promise<void> {
    for (let n = 1; !this.#stopped; n++) {
      const said: Said = {
        chatId: random.pick(chats),
        content: `message ${n} of sender ${sender}`,
        sender,
        keyed: random.next() < 0.5,
        answer: null,
      };
      this.journal.push(said);
      await this.#say(parley, said);
      await delay(pauseMs);
    }
  }

  async #say(parley: Parley, said: Said): Promise<void> {
    const headers: Record<string, string> = said.keyed ? { "Idempotency-Key": said.content } : {};
    const until = running() + PATIENCE_MS;
    do {
      const path = `/chats/${said.chatId}/messages`;
      const { status, body } = await parley.api("POST", path, { content: said.content }, headers);
      if (status === 201) {
        said.answer = { id: body.message.id, seq: body.message.seq };
        return;
      }
      if (status !== 0 && status !== 503) throw new Error(`a send was answered ${status}: ${JSON.stringify(body)}`);
      await delay(AGAIN_AFTER_MS);
      if (running() > until) throw new Error("the service did not come back");
    } while (said.keyed);
  }
}
