import type { ChannelRecord } from "../../../src/calls/channel-record.ts";
import { type Isolate, Requests } from "../objects/requests.ts";
import type { Judge } from "./judge.ts";
import type { Service } from "./load-service.ts";
import type { OrganizationWorld } from "./rules.ts";

/** See `simulate.ts`. */
type VisitCall = (
  visitor: { chatId: string; organizationId: string; channelId: string; address: string },
  dedupe: string,
) => Promise<{ outcome: string }>;
type Channel = Pick<ChannelRecord, "id" | "kind">;

const ORIGIN = "https://parley.example";
const OPERATOR_VIEW = {
  scope: "any",
  origin: ORIGIN,
  hasTokens: true,
  actor: { scope: "any", type: "operator", id: "operator", name: "Operator" },
} as const;

/** The service's callers: clients of the API, contacts on a network, visitors, and the operator. */
export class Clients extends Requests {
  readonly #service: Service;
  readonly #judge: Judge;
  readonly #organizationId: string;
  readonly channels: readonly Channel[];

  constructor(
    world: OrganizationWorld,
    service: Service,
    judge: Judge,
    isolates: readonly Isolate[],
    organization: { id: string; channels: readonly Channel[] },
  ) {
    super(world, isolates, service.isOutage);
    this.#service = service;
    this.#judge = judge;
    this.#organizationId = organization.id;
    this.channels = organization.channels;
  }

  /** `POST /chats`. */
  create(channel: Channel, address: string): void {
    this.request("POST /chats", async ({ env }) => {
      const owner = { organizationId: this.#organizationId };
      await this.#service.createChat(env, owner, {
        channelId: channel.id,
        contact: { address, name: undefined, personId: undefined },
        metadata: {},
      });
    });
  }

  /** `POST /chats/{id}/messages`, repeated with its idempotency key. */
  send(): void {
    const chatId = this.#pick(this.#judge.chatIds());
    if (chatId === undefined) return;
    const content = this.name("text");
    this.request("send", async ({ env }) => {
      const caller = {
        principal: { type: "key" as const, id: "key", name: "Key" },
        organizationId: this.#organizationId,
        permissions: [],
        defaultSenderId: "member",
        region: null,
      };
      const context = { waitUntil: () => {} };
      const body = {
        body: { content, metadata: {} },
        idempotencyKey: content,
        url: "https://parley.test/",
      } as Parameters<Service["sendMessage"]>[4];
      const { doc } = await this.#service.sendMessage(env, context, caller, chatId, body);
      this.#judge.acknowledged.add((JSON.parse(doc) as { id: string }).id);
    });
  }

  /** A contact writes on a network, which repeats the webhook until it is accepted. */
  write(channel: Channel, address: string, others: string[]): void {
    const networkId = this.name("inbound");
    const item = {
      kind: "message" as const,
      networkId,
      address,
      addresses: others,
      name: null,
      type: "TEXT" as const,
      content: networkId,
      media: null,
    };
    this.request("webhook", async ({ env }) => {
      const outcome = await this.#service.storeItem(env, this.#record(channel), ORIGIN, item);
      if (outcome === "stored" || outcome === "repeated") this.#judge.acknowledged.add(networkId);
      this.world.count(`webhook: ${outcome}`);
    });
  }

  /** A contact's address changes. */
  move(channel: Channel, from: string, to: string): void {
    this.request("address change", async ({ env }) => {
      await this.#service.storeItem(env, this.#record(channel), ORIGIN, {
        kind: "address",
        from: [from],
        to: [to],
        at: this.world.now,
      });
    });
  }

  /** A visitor writes on the page, which repeats the frame until it is stored. */
  visit(channel: Channel, address: string): void {
    const dedupe = this.name("visit");
    this.request("visitor", async ({ env }) => {
      const chatId = await this.#service.webChatId(channel.id, address);
      const chat = env.CHATS.getByName(chatId) as unknown as { visit: VisitCall };
      const visitor = { chatId, organizationId: this.#organizationId, channelId: channel.id, address };
      const { outcome } = await chat.visit(visitor, dedupe);
      if (outcome === "stored" || outcome === "repeated") this.#judge.acknowledged.add(dedupe);
      return outcome !== "unknown" && outcome !== "deleting";
    });
  }

  /** The operator redacts a message, mostly the newest that a client knows of. */
  redact(): void {
    const { messages } = this.#judge;
    const known = this.world.random() < 0.7 ? messages.at(-1) : this.#pick(messages);
    if (!known) return;
    const { chatId, messageId } = known;
    this.request("redact", async ({ env }) => {
      const call = this.name("request");
      const owner = { organizationId: this.#organizationId };
      const answer = await this.#service.callChat(env, owner, chatId, (chat, as) => chat.redact(as, messageId, call));
      this.world.count(`redaction: ${answer.outcome}`);
      if (answer.outcome === "ok") this.#judge.redactionAnswered(known);
      return answer.outcome !== "not_reported";
    });
  }

  /** The operator deletes a chat. @param then what follows at once, now and then */
  deleteChat(then: () => void): void {
    const chatId = this.#pick(this.#judge.chatIds());
    if (chatId === undefined) return;
    this.request("DELETE chat", async ({ env }) => {
      this.#judge.asked.add(chatId);
      await this.#service.eraseChat(env, "any", chatId);
      if (this.world.random() < 0.5) this.world.after(0, then);
    });
  }

  /** The operator deletes a channel, and repeats this until it is done. */
  deleteChannel({ id }: Channel): void {
    this.request("DELETE channel", async ({ env }) => {
      this.#judge.asked.add(id);
      await this.#service.eraseChannel(env, OPERATOR_VIEW, id);
      this.#judge.channelErased(id);
    });
  }

  /** The operator deletes the organization, and repeats this until it is done. */
  deleteOrganization(): void {
    this.request("DELETE organization", async ({ env }) => {
      for (const { id } of this.channels) this.#judge.asked.add(id);
      await this.#service.eraseOrganization(env, this.#organizationId);
      this.#judge.isOrganizationErased = true;
      for (const { id } of this.channels) this.#judge.channelErased(id);
    });
  }

  /** `GET /chats`. The judge reads the page when it leaves. */
  list(): void {
    this.request("GET /chats", async ({ env }) => {
      await this.#service.callOrganization(env, this.#organizationId, (organization) =>
        organization.list({}, { page: 1, limit: 100 }, true),
      );
    });
  }

  /** A channel, as far as `storeItem` reads it. */
  #record({ id, kind }: Channel): ChannelRecord {
    return { id, kind, organizationId: this.#organizationId, region: null, settings: {} } as ChannelRecord;
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from.length === 0 ? undefined : this.world.pick(from);
  }
}
