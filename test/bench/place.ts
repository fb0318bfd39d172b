import { createHmac } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { Filling } from "./filling.ts";
import type { Server, Statement } from "./server.ts";

const MIGRATIONS = new URL("../../migrations/", import.meta.url);
/** Messages that one call stores in a chat that is being filled. */
const FILLED_AT_ONCE = 10_000;
/** A million in an hour is more than a run has time for, and keeps a key's window from ending in it. */
const HARDLY_LIMITED = { limit: 3_600_000, windowSeconds: 3_600 };

export const APP_SECRET = "bench-app-secret";
export const PHONE_NUMBER_ID = "15550001111";

interface Organization {
  id: string;
  memberId: string;
}

/** Makes what the cases need: through the operator's API where that is fast enough, else straight into the storage. */
export class Place {
  readonly #server: Server;
  readonly #adminToken: string;
  readonly #made = new Map<string, Promise<unknown>>();
  #count = 0;

  constructor(server: Server, adminToken: string) {
    this.#server = server;
    this.#adminToken = adminToken;
  }

  /** Gives the service's database its tables. */
  async migrate(): Promise<void> {
    const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith(".sql")).sort();
    for (const file of files) {
      const text = await readFile(new URL(file, MIGRATIONS), "utf8");
      const statements = text.split("--> statement-breakpoint").map((sql) => ({ sql, values: [] }));
      await this.sql("parley", statements);
    }
  }

  /** What several cases share, made for the first of them. */
  once<T>(what: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#made.get(what) as Promise<T> | undefined) ?? make();
    this.#made.set(what, made);
    return made;
  }

  async organization(): Promise<Organization> {
    const made = await this.#admin("POST", "/organizations", { name: "Acme", owner: { name: "Ada" } });
    return { id: made.organization.id, memberId: made.member.id };
  }

  /** A key's text, and the id to revoke it by. */
  async key(organization: Organization, rateLimit = HARDLY_LIMITED): Promise<{ id: string; secret: string }> {
    const body = { name: "Bench", rateLimit };
    const { key, secret } = await this.#admin("POST", `/organizations/${organization.id}/keys`, body);
    return { id: key.id, secret };
  }

  async revoke(keyId: string): Promise<void> {
    await this.#admin("DELETE", `/keys/${keyId}`);
  }

  async template(organization: Organization): Promise<string> {
    const body = { name: "order_shipped", language: "en", body: "Hello {{name}}, order {{order}} is on its way." };
    const { template } = await this.#admin("POST", `/organizations/${organization.id}/templates`, body);
    return template.id;
  }

  async channel(organization: Organization, kind: "web" | "whatsapp") {
    const credentials = { phoneNumberId: PHONE_NUMBER_ID, accessToken: "bench-token", appSecret: APP_SECRET };
    const body = { kind, name: "Support", ...(kind === "whatsapp" && { credentials }) };
    const { channel, identitySecret } = await this.#admin("POST", `/organizations/${organization.id}/channels`, body);
    const hashOf = (user: string) => createHmac("sha256", identitySecret).update(user).digest("hex");
    return { id: channel.id as string, kind, hashOf };
  }

  /** A chat of a web channel with so many messages. */
  async chat(organization: Organization, channelId: string, messages: number): Promise<string> {
    const contactAddress = `contact-${++this.#count}`;
    const body = { channelId, contact: { address: contactAddress } };
    const { chat } = await this.#admin("POST", `/organizations/${organization.id}/chats`, body);
    const createdAt = Date.parse(chat.createdAt) - messages;
    for (let from = 1; from <= messages; from += FILLED_AT_ONCE) {
      const count = Math.min(FILLED_AT_ONCE, messages - from + 1);
      const of = { chatId: chat.id, organizationId: organization.id, channelId, contactAddress, createdAt };
      const identity = { ...of, channelKind: "web" } as const;
      const filling: Filling = { identity, senderId: organization.memberId, from, count };
      await this.#fetch("/bench/fill", { method: "POST", body: JSON.stringify(filling) });
    }
    return chat.id;
  }

  /** So many chats without messages, `<name>-0` and so on; the ids in the order of their activity. */
  async chats(organization: Organization, channel: { id: string; kind: string }, name: string, count: number) {
    const stem = `cht_g${String(++this.#count).padStart(5, "0")}`;
    const numbers = `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ?1)`;
    const id = `?2 || printf('%010d', n)`;
    await this.sql("parley", [
      {
        sql: `insert into chats (id, organization_id, channel_id, channel_kind, contact_address, contact_name, metadata,
                created_at, last_message_at, active_at)
              ${numbers} select ${id}, ?3, ?4, ?5, ?6 || '-' || n, 'Contact ' || n, '{}', ?7 + n, ?7 + n, ?7 + n
              from numbers`,
        values: [count, stem, organization.id, channel.id, channel.kind, name, Date.now() - count],
      },
      {
        sql: `insert into chat_addresses (channel_id, address, chat_id)
              ${numbers} select ?3, ?4 || '-' || n, ${id} from numbers`,
        values: [count, stem, channel.id, name],
      },
      { sql: "update channels set chat_count = chat_count + ? where id = ?", values: [count, channel.id] },
    ]);
    return (n: number) => stem + String(n).padStart(10, "0");
  }

  /** So many keys that nobody uses. */
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

  /** One request to the service; the answer as it came. */
  async ask(path: string, init: RequestInit): Promise<Response> {
    return fetch(new URL(path, this.#server.url("parley")), init);
  }

  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever its route says
  async #admin(method: string, path: string, body?: object): Promise<any> {
    const headers = { Authorization: `Bearer ${this.#adminToken}` };
    const init = { method, headers, body: body ? JSON.stringify(body) : null };
    return JSON.parse(await this.#fetch(`/admin/v1${path}`, init));
  }

  async #fetch(path: string, init: RequestInit): Promise<string> {
    const response = await this.ask(path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return text;
  }
}
