import type { SimulatedObject } from "../objects/object.ts";
import type { WebhookJudge } from "./judge.ts";
import type { WebhookWorld } from "./rules.ts";

/** A call as its receiver sees it. */
export interface Call {
  webhookId: string;
  subscriptionId: string;
  life: number;
  number: number;
  eventId: string;
  type: string;
  seq: number | null;
  previous: number | null;
  text: string | null;
  replayId: string | null;
  /** 1 for the first. */
  attempt: number;
  /** The chat's object, and how many of its instances were lost before. */
  chat: SimulatedObject;
  losses: number;
}

/** How a receiver answers. A status of 0 is a connection that breaks, and -1 one that hangs. */
interface Answer {
  status: number;
  retryAfterS?: number;
}

/** A receiver's connection ends when its caller's deadline has passed, also if the caller was lost. */
const CONNECTION_MS = 30_000;

/** The customers' servers. */
export class Receivers {
  judge!: WebhookJudge;
  /** Webhooks that do not work, and how they answer. */
  readonly sick = new Map<string, number>();
  /** Events that are not accepted, and with which status. */
  readonly poisoned = new Map<string, number>();
  /** Chats whose events are answered with a 429, and for how many seconds it asks to wait. */
  readonly pausing = new Map<string, number>();
  readonly #world: WebhookWorld;

  constructor(world: WebhookWorld) {
    this.#world = world;
  }

  /** A chat's object calls a webhook. */
  call(chat: SimulatedObject, { headers, body, signal }: RequestInit): Promise<Response> {
    const given = new Headers(headers);
    const event = JSON.parse(body as string) as Omit<Call, "eventId"> & { id: string };
    const { id: eventId, subscriptionId, life, number, type, seq, previous, text } = event;
    const call: Call = {
      webhookId: given.get("parley-webhook") ?? "",
      replayId: given.get("parley-replay"),
      attempt: Number(given.get("parley-attempt")),
      ...{ eventId, subscriptionId, life, number, type, seq, previous, text, chat, losses: chat.losses },
    };
    this.judge.begins(call);
    return new Promise((resolve, reject) => {
      let end = () => {};
      signal?.addEventListener("abort", () => {
        end();
        reject(new Error("The call was aborted"));
        this.judge.answered(call, null, null);
      });
      const answered = chat.request((reply) => {
        end = this.judge.leaves(call);
        this.#world.after(CONNECTION_MS, end);
        this.#answer(call, (answer) => {
          end();
          if (answer.status === 0) reply({ error: new Error("The connection broke") });
          else reply({ value: this.#response(call, answer) });
        });
      }) as Promise<Response>;
      answered.then(
        (response) => {
          resolve(response);
          this.judge.answered(call, response.status, response.headers.get("Retry-After"));
        },
        (error: unknown) => {
          reject(error as Error);
          this.judge.answered(call, null, null);
        },
      );
    });
  }

  #answer(call: Call, reply: (answer: Answer) => void): void {
    const world = this.#world;
    const answer = this.#decide(call);
    world.note(
      () => `${call.subscriptionId} calls ${call.webhookId}: ${call.number} try ${call.attempt} -> ${answer.status}`,
    );
    if (answer.status === -1) return;
    const ms = world.fault("slow answer", 0.1) ? world.between(1_000, 28_000) : world.between(5, 500);
    if (answer.status === 200) {
      const isLost = world.fault("accepted, answer lost", 0.05);
      world.after(ms, () => reply(isLost ? { status: 0 } : answer));
    } else world.after(ms, () => reply(answer));
  }

  #decide({ webhookId, subscriptionId, eventId }: Call): Answer {
    const world = this.#world;
    const retryAfterS = this.pausing.get(subscriptionId);
    if (retryAfterS !== undefined) return { status: 429, retryAfterS };
    const sick = this.sick.get(webhookId);
    if (sick !== undefined) return { status: sick };
    const poison = this.poisoned.get(eventId);
    if (poison !== undefined) return { status: poison };
    if (world.fault("event refused", 0.03)) return this.#poison(eventId, 400);
    if (world.fault("event poisoned", 0.03)) return this.#poison(eventId, 500);
    if (world.fault("receiver hangs", 0.05)) return { status: -1 };
    if (world.fault("5xx", 0.1)) return { status: 503 };
    if (world.fault("4xx", 0.05)) return { status: world.pick([400, 422, 404, 401]) };
    if (world.fault("410", 0.01)) return { status: 410 };
    if (world.fault("429 with Retry-After", 0.05)) {
      return { status: 429, retryAfterS: world.pick([1, 10, 120, 7_200]) };
    }
    if (world.fault("redirect", 0.03)) return { status: 302 };
    return { status: 200 };
  }

  #poison(eventId: string, status: number): Answer {
    this.poisoned.set(eventId, status);
    return { status };
  }

  /** A response without a stream, whose end Node would tell at a time that differs between runs. */
  #response({ text }: Call, { status, retryAfterS }: Answer): Response {
    const chunks = text ? [new TextEncoder().encode(`Got ${text}`)] : [];
    const reader = {
      read: async () => ({ done: chunks.length === 0, value: chunks.pop() }),
      cancel: async () => {},
    };
    const headers = new Headers(retryAfterS === undefined ? {} : { "Retry-After": String(retryAfterS) });
    return { status, headers, body: { getReader: () => reader } } as unknown as Response;
  }
}
