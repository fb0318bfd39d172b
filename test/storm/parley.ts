import { setTimeout as delay } from "node:timers/promises";
import type { Server } from "./server.ts";
import { running } from "./storm.ts";

export interface Message {
  id: string;
  seq: number;
  direction: "INBOUND" | "OUTBOUND";
  content: string;
  status: string;
}

export interface Channel {
  id: string;
  webhook: { url: string; verifyToken: string };
  /** Of a web channel. */
  identitySecret: string;
}

/** What a call came to; status 0 where nobody answered. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever its route says
  body: any;
}

/** Longer than a machine stands still: the call goes on with it. */
const CALL_PATIENCE_MS = 600_000;
const AGAIN_AFTER_MS = 30;
const BACK_WITHIN_MS = 180_000;

/** One organization on a server, its key, and what the storm asks of the service. */
export class Parley {
  readonly organizationId: string;
  readonly key: string;
  readonly #server: Server;

  private constructor(server: Server, organizationId: string, key: string) {
    this.#server = server;
    this.organizationId = organizationId;
    this.key = key;
  }

  static async begin(server: Server): Promise<Parley> {
    const body = { name: "Storm", owner: { name: "Owner" } };
    const { organization } = wanted(
      201,
      await call(server, server.adminToken, "POST", "/admin/v1/organizations", body),
    );
    const parley = new Parley(server, organization.id, "");
    return parley.as((await parley.newKey()).secret);
  }

  /**
   * Another key of the organization, which has no limit that a storm would meet unless `settings` say so. Its window is
   * short: each kill may cost a twentieth of it.
   */
  async newKey(settings: object = {}): Promise<{ id: string; secret: string }> {
    const body = { name: "Storm", rateLimit: { limit: 10_000, windowSeconds: 10 }, ...settings };
    const { key, secret } = wanted(201, await this.admin("POST", `/organizations/${this.organizationId}/keys`, body));
    return { id: key.id, secret };
  }

  /** The same organization, with another key. */
  as(secret: string): Parley {
    return new Parley(this.#server, this.organizationId, secret);
  }

  /** A call as the operator; never throws. */
  admin(method: string, path: string, body?: object): Promise<Answer> {
    return call(this.#server, this.#server.adminToken, method, `/admin/v1${path}`, body);
  }

  /** A call with the key; never throws. */
  api(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer> {
    return call(this.#server, this.key, method, `/api/v1${path}`, body, headers);
  }

  /**
   * As `api`, again and again while nobody answers or the service asks for it; `lost` counts the calls without an answer.
   * @throws Error when the service does not come back
   */
  async insist(...asked: Parameters<Parley["api"]>): Promise<Answer & { lost: number }> {
    const end = running() + BACK_WITHIN_MS;
    for (let lost = 0; ; ) {
      const answer = await this.api(...asked);
      if (answer.status !== 0 && answer.status !== 503) return { ...answer, lost };
      if (answer.status === 0) lost++;
      if (running() > end) throw new Error("the service did not come back");
      await delay(AGAIN_AFTER_MS);
    }
  }

  async channel(kind: string, credentials?: object): Promise<Channel> {
    const settings = kind === "web" ? {} : { perSecond: 1_000 };
    const body = { kind, name: kind, settings, ...(credentials && { credentials }) };
    const path = `/organizations/${this.organizationId}/channels`;
    const { channel, identitySecret } = wanted(201, await this.admin("POST", path, body));
    return { ...channel, identitySecret };
  }

  /** The id of a new chat. */
  async chat(channelId: string, address: string, name?: string): Promise<string> {
    const contact = { address, ...(name && { name }) };
    return wanted(201, await this.api("POST", "/chats", { channelId, contact })).chat.id;
  }

  /** The id of the contact's chat, which a webhook has made. */
  async chatOf(channelId: string, address: string): Promise<string | null> {
    const path = `/chats?channel=${channelId}&contact=${encodeURIComponent(address)}`;
    return wanted(200, await this.api("GET", path)).chats[0]?.id ?? null;
  }

  /** All messages of a chat, the oldest first, and how many there are said to be. */
  async messages(chatId: string): Promise<{ messages: Message[]; total: number }> {
    const messages: Message[] = [];
    for (let page = 1; ; page++) {
      const answer = await this.api("GET", `/chats/${chatId}/messages?limit=100&page=${page}`);
      const { messages: found, pagination } = wanted(200, answer);
      messages.push(...found);
      if (!pagination.hasMore) return { messages: messages.reverse(), total: pagination.total };
    }
  }

  /** How many messages of a chat wait. */
  async depth(chatId: string): Promise<number> {
    return wanted(200, await this.admin("GET", `/chats/${chatId}`)).queue.depth;
  }
}

async function call(
  { base }: Server,
  token: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  try {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...headers },
      body: body ? JSON.stringify(body) : null,
      signal: AbortSignal.timeout(CALL_PATIENCE_MS),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  } catch (error) {
    const told = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { status: 0, headers: new Headers(), body: { why: told instanceof Error ? told.message : null } };
  }
}

/** @throws Error for an answer of another status */
export function wanted(status: number, answer: Answer): Answer["body"] {
  if (answer.status === status) return answer.body;
  throw new Error(`answered ${answer.status} in place of ${status}: ${JSON.stringify(answer.body)}`);
}
