import { setTimeout as delay } from "node:timers/promises";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import type { Endpoint } from "../../support/webhook-receiver.ts";
import type { DevServer } from "../../support/world/dev-server.ts";
import {
  type Channel,
  createChannel,
  createChat,
  createKey,
  createOrganization,
  type Organization,
} from "../../support/world/factories.ts";
import { running } from "../../support/world/patience.ts";
import { type Answer, type World, wanted } from "../../support/world/world.ts";

/** An event of a chat. */
export interface ChatEvent {
  id: string;
  type: string;
  chatId: string;
  number: number;
  data: { messageId?: string; seq?: number; status?: string };
}

export interface Message {
  id: string;
  seq: number;
  direction: "INBOUND" | "OUTBOUND";
  content: string;
  /** What the contact sees: the filled template, or the content. */
  text: string;
  status: string;
}

/** Longer than a machine pauses, because the call continues after it. */
const CALL_PATIENCE_MS = 600_000;
const AGAIN_AFTER_MS = 30;
const BACK_WITHIN_MS = 180_000;

/** One organization on a server, its key, and the calls that a storm makes. */
export class Parley {
  readonly #organization: Organization;
  readonly #key: { id: string; secret: string };

  private constructor(organization: Organization, key: { id: string; secret: string }) {
    this.#organization = organization;
    this.#key = key;
  }

  /** The key has all permissions. Its window is short, because each kill can cost a twentieth of it. */
  static async begin({ world }: DevServer, limits: object = {}): Promise<Parley> {
    const organization = await createOrganization(patient(world));
    const rateLimit = { limit: 10_000, windowSeconds: 10 };
    const key = await createKey(organization, { rateLimit, permissions: [...PERMISSIONS], ...limits });
    return new Parley(organization, key);
  }

  /** How many of its requests the key has counted. */
  async used(): Promise<number> {
    return wanted(200, await this.admin("GET", `/keys/${this.#key.id}/usage`)).usage.used;
  }

  get organizationId(): string {
    return this.#organization.id;
  }

  /** A call as the operator. Never throws. */
  admin(method: string, path: string, body?: object): Promise<Answer> {
    const { call, adminToken } = this.#organization.world;
    return call(adminToken, method, `/admin/v1${path}`, body);
  }

  /** A call with the key. Never throws. */
  api(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer> {
    return this.#organization.world.call(this.#key.secret, method, `/api/v1${path}`, body, headers && { headers });
  }

  /**
   * Like `api`, repeated without a response or if the service asks for it.
   * @throws Error if the service does not recover
   */
  async insist(...asked: Parameters<Parley["api"]>): Promise<Answer> {
    const end = running() + BACK_WITHIN_MS;
    for (;;) {
      const answer = await this.api(...asked);
      if (answer.status !== 0 && answer.status !== 503) return answer;
      if (running() > end) throw new Error("the service did not come back");
      await delay(AGAIN_AFTER_MS);
    }
  }

  channel(kind: Channel["kind"], credentials?: object): Promise<Channel> {
    const settings = kind === "web" ? {} : { perSecond: 1_000 };
    return createChannel(this.#organization, { kind, settings, ...(credentials && { credentials }) });
  }

  /** Creates a chat. Returns its id. */
  async chat(id: string, address: string, name?: string): Promise<string> {
    const contact = { address, ...(name && { name }) };
    return (await createChat({ organization: this.#organization, id }, { contact })).id;
  }

  /** The id of the contact's chat, which a webhook has created. */
  async chatOf(channelId: string, address: string): Promise<string | null> {
    const path = `/chats?channel=${channelId}&contact=${encodeURIComponent(address)}`;
    return wanted(200, await this.api("GET", path)).chats[0]?.id ?? null;
  }

  /** All messages of a chat, oldest first, and the total that the list reports. */
  async messages(chatId: string): Promise<{ messages: Message[]; total: number }> {
    const messages: Message[] = [];
    for (let page = 1; ; page++) {
      const answer = await this.api("GET", `/chats/${chatId}/messages?limit=100&page=${page}`);
      const { messages: found, pagination } = wanted(200, answer);
      messages.push(...found);
      if (!pagination.hasMore) return { messages: messages.reverse(), total: pagination.total };
    }
  }

  /** All events of a chat, oldest first. */
  async events(chatId: string): Promise<ChatEvent[]> {
    const events: ChatEvent[] = [];
    for (;;) {
      const after = events.at(-1)?.number ?? 0;
      const page = wanted(200, await this.api("GET", `/chats/${chatId}/events?limit=100&after=${after}`));
      events.push(...page.events);
      if (!page.hasMore) return events;
    }
  }

  /** Creates a webhook that calls a receiver. Returns its id. */
  async webhook(endpoint: Endpoint, settings: object = {}): Promise<string> {
    const path = `/organizations/${this.organizationId}/webhooks`;
    const { webhook, secret } = wanted(201, await this.admin("POST", path, { url: endpoint.url, ...settings }));
    endpoint.secret = secret;
    return webhook.id;
  }

  /** Whether no message in these chats waits. */
  async isIdle(chatIds: string[]): Promise<boolean> {
    const chats = await Promise.all(chatIds.map((id) => this.admin("GET", `/chats/${id}`)));
    return chats.every((answer) => wanted(200, answer).queue.depth === 0);
  }
}

/** A world whose calls never throw: a call without a response has status 0. */
function patient({ adminToken, call }: World): World {
  return {
    adminToken,
    call: async (token, method, path, body, sent) => {
      const signal = AbortSignal.timeout(CALL_PATIENCE_MS);
      return call(token, method, path, body, { ...sent, signal }).catch((error: unknown) => {
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
        return { status: 0, headers: new Headers(), body: { why: cause instanceof Error ? cause.message : null } };
      });
    },
  };
}
