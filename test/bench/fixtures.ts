import { PERMISSIONS } from "../../src/model/permission.ts";
import { type Channel, createChannel, createChat, createKey, createOrganization } from "../support/world/factories.ts";
import { migrations } from "../support/world/workers.ts";
import { type World, worldAt } from "../support/world/world.ts";
import { type Chats, chatIdOf, type Messages } from "./filling.ts";
import type { Server, Statement } from "./server.ts";

/** How many messages, or chats, one call writes. */
const MESSAGES_AT_ONCE = 10_000;
const CHATS_AT_ONCE = 50_000;

/** An organization with a channel, a chat and a key with all permissions. */
export interface Office {
  channel: Channel;
  chatId: string;
  secret: string;
}

export async function createOffice(world: World): Promise<Office> {
  const organization = await createOrganization(world, { selfService: { maxKeys: 100 } });
  const channel = await createChannel(organization);
  const { id: chatId } = await createChat(channel);
  const { secret } = await createKey(organization, { permissions: PERMISSIONS });
  return { channel, chatId, secret };
}

/** The service that the cases measure. Factories create a few things by its API, its methods many in the storage. */
export class Place implements World {
  readonly adminToken: string;
  readonly call: World["call"];
  readonly #server: Server;
  readonly #made = new Map<string, Promise<unknown>>();
  #count = 0;

  constructor(server: Server, adminToken: string) {
    this.#server = server;
    this.adminToken = adminToken;
    this.call = worldAt(server.url("parley"), adminToken).call;
  }

  /** Gives the service's database its tables. */
  async migrate(): Promise<void> {
    for (const statements of await migrations()) {
      await this.sql(
        "parley",
        statements.map((sql) => ({ sql, values: [] })),
      );
    }
  }

  /** Makes what several cases share, when the first of them asks for it. */
  once<T>(what: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#made.get(what) as Promise<T> | undefined) ?? make();
    this.#made.set(what, made);
    return made;
  }

  /**
   * Makes a web chat with this number of messages, the first sent when the chat was created. Returns its id.
   * @param overrides of the request that creates it
   */
  async chat(channel: Channel, messages: number, sentAt?: number, overrides: object = {}): Promise<string> {
    const chat = await createChat(channel, overrides);
    const startsAt = sentAt ?? Date.parse(chat.createdAt);
    const senderId = channel.organization.memberId;
    for (const range of parts(1, messages, MESSAGES_AT_ONCE)) {
      await this.#fill("messages", { chatId: chat.id, senderId, startsAt, ...range } satisfies Messages);
    }
    return chat.id;
  }

  /**
   * Makes `count` chats without messages, with the contacts `<name>-0` and so on. No visitor reaches those of a web
   * channel, and every 25th is the first member's. Returns a function for the id of the nth chat, the least active first.
   * @param labelId for chats that were worked on: most are closed, some wait for an answer, some have this label
   */
  async chats({ organization, id: channelId }: Channel, name: string, count: number, labelId: string | null = null) {
    const stem = `cht_g${String(++this.#count).padStart(5, "0")}`;
    const { id: organizationId, memberId: assigneeId } = organization;
    const startsAt = Date.now() - count;
    const of = { organizationId, channelId, stem, name, assigneeId, labelId, startsAt };
    for (const range of parts(0, count, CHATS_AT_ONCE)) await this.#fill("chats", { ...of, ...range } satisfies Chats);
    return (n: number) => chatIdOf(of, n);
  }

  /** Makes these keys unused for more than an hour. */
  async ageKeys(keyIds: string[]): Promise<void> {
    await this.#fill("aged-keys", keyIds);
  }

  /** Runs statements on the D1 database of a service. */
  sql(front: "floors" | "literal" | "parley", statements: Statement[]): Promise<void> {
    return this.#server.sql(front, statements);
  }

  async #fill(what: "aged-keys" | "chats" | "messages", filling: string[] | Chats | Messages): Promise<void> {
    const response = await this.ask(`/bench/${what}`, { method: "POST", body: JSON.stringify(filling) });
    const text = await response.text();
    if (!response.ok) throw new Error(`/bench/${what}: got ${response.status}: ${text}`);
  }

  /** Sends one request to the service, or to the Worker of the floors. */
  async ask(path: string, init: RequestInit, front: "parley" | "floors" = "parley"): Promise<Response> {
    return fetch(new URL(path, this.#server.url(front)), init);
  }
}

/** The numbers from `first` on, in parts of at most `most`. */
function parts(first: number, count: number, most: number): { from: number; count: number }[] {
  return Array.from({ length: Math.ceil(count / most) }, (_, part) => {
    const done = part * most;
    return { from: first + done, count: Math.min(most, count - done) };
  });
}
