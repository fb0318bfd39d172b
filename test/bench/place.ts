import { type Channel, createChat, type Organization } from "../support/world/factories.ts";
import { migrations } from "../support/world/workers.ts";
import { type World, worldAt } from "../support/world/world.ts";
import type { Filling } from "./filling.ts";
import type { Server, Statement } from "./server.ts";

/** Messages that one call writes into a chat. */
const FILLED_AT_ONCE = 10_000;

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

  /** Makes a web chat with this number of messages. Returns its id. */
  async chat(channel: Channel, messages: number): Promise<string> {
    const { organization } = channel;
    const chat = await createChat(channel);
    const createdAt = Date.parse(chat.createdAt) - messages;
    for (let from = 1; from <= messages; from += FILLED_AT_ONCE) {
      const count = Math.min(FILLED_AT_ONCE, messages - from + 1);
      const of = { chatId: chat.id, organizationId: organization.id, channelId: channel.id, createdAt };
      const identity = { ...of, channelKind: "web", contactAddress: chat.contact.address } as const;
      const filling: Filling = { identity, senderId: organization.memberId, from, count };
      const response = await this.ask("/bench/fill", { method: "POST", body: JSON.stringify(filling) });
      const text = await response.text();
      if (!response.ok) throw new Error(`/bench/fill: got ${response.status}: ${text}`);
    }
    return chat.id;
  }

  /**
   * Makes `count` chats without messages, with the contacts `<name>-0` and so on. Returns a function for the id of the
   * nth chat, the least active first.
   */
  async chats({ organization, id: channelId, kind }: Channel, name: string, count: number) {
    const stem = `cht_g${String(++this.#count).padStart(5, "0")}`;
    const numbers = `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ?1)`;
    const id = `?2 || printf('%010d', n)`;
    await this.sql("parley", [
      {
        sql: `insert into chats (id, organization_id, channel_id, channel_kind, contact_address, contact_name, metadata,
                created_at, last_message_at, active_at)
              ${numbers} select ${id}, ?3, ?4, ?5, ?6 || '-' || n, 'Contact ' || n, '{}', ?7 + n, ?7 + n, ?7 + n
              from numbers`,
        values: [count, stem, organization.id, channelId, kind, name, Date.now() - count],
      },
      {
        sql: `insert into chat_addresses (channel_id, address, chat_id)
              ${numbers} select ?3, ?4 || '-' || n, ${id} from numbers`,
        values: [count, stem, channelId, name],
      },
      { sql: "update channels set chat_count = chat_count + ? where id = ?", values: [count, channelId] },
    ]);
    return (n: number) => stem + String(n).padStart(10, "0");
  }

  /** Makes this number of keys, which nobody uses. */
  async otherKeys(organization: Organization, count: number): Promise<void> {
    await this.sql("parley", [
      {
        sql: `insert into api_keys (id, organization_id, name, hash, permissions, rate_limit, window_seconds, created_at)
              with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ?1)
              select 'key_g' || printf('%015d', n), ?2, 'Other', hex(randomblob(32)), '[]', 300, 60, ?3 from numbers`,
        values: [count, organization.id, Date.now()],
      },
    ]);
  }

  /** Runs statements on the D1 database of a service. */
  sql(front: "floors" | "literal" | "parley", statements: Statement[]): Promise<void> {
    return this.#server.sql(front, statements);
  }

  /** Sends one request to the service. */
  async ask(path: string, init: RequestInit): Promise<Response> {
    return fetch(new URL(path, this.#server.url("parley")), init);
  }
}
