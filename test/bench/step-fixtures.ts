import { caller, type World, worldAt } from "../support/world/world.ts";
import { createOffice, type Office, Place } from "./fixtures.ts";
import type { Server, Statement } from "./server.ts";
import type { Named, StepCall } from "./step-call.ts";

/** The numbers from ? to ?, as `numbers`. */
const NUMBERS = "with recursive numbers (n) as (select ? union all select n + 1 from numbers where n + 1 <= ?)";
const WRITTEN_AT_ONCE = 50_000;

/** A service whose objects' storage can be filled from outside. */
export class StepPlace implements Pick<World, "call" | "adminToken"> {
  readonly adminToken: string;
  readonly call: World["call"];
  readonly admin: ReturnType<typeof caller>;
  readonly #url: URL;

  constructor(server: Server, adminToken: string) {
    this.#url = server.url("parley");
    const world = worldAt(this.#url, adminToken);
    this.adminToken = adminToken;
    this.call = world.call;
    this.admin = caller(world, "/admin/v1", adminToken);
  }

  static async migrate(server: Server, adminToken: string): Promise<void> {
    await new Place(server, adminToken).migrate();
  }

  office(): Promise<Office> {
    return createOffice(this);
  }

  /** Calls the public API with the office's key. */
  api({ secret }: Office, ...request: [method: string, path: string, body?: object]) {
    return caller(this, "/api/v1", secret)(...request);
  }

  /** Sends a request and reads its answer as it comes. @throws Error for a status that is not wanted */
  async request(path: string, secret: string, statuses: number[] = [200], init: RequestInit = {}): Promise<void> {
    const headers = { Authorization: `Bearer ${secret}`, "CF-Connecting-IP": "203.0.113.7" };
    const response = await fetch(new URL(path, this.#url), { ...init, headers });
    let text = "";
    for await (const part of response.body ?? [])
      text ||= Buffer.from(part as Uint8Array)
        .toString()
        .slice(0, 200);
    if (!statuses.includes(response.status)) throw new Error(`${path} was answered ${response.status}: ${text}`);
  }

  object(binding: StepCall["binding"], id: string) {
    const ask = async (statements: Statement[], repeated: Pick<StepCall, "times" | "by"> = {}) => {
      const body = JSON.stringify({ binding, id, statements, ...repeated } satisfies StepCall);
      const response = await fetch(new URL("/bench/object", this.#url), { method: "POST", body });
      if (!response.ok) throw new Error(`${binding} ${id}: ${await response.text()}`);
      return (await response.json()) as Record<string, string | number | null>[];
    };
    return {
      sql: (sql: string, ...values: Statement["values"]) => ask([{ sql, values }]),
      /** Runs a statement that begins with `NUMBERS` for the numbers from 1 to `count`, a part of them at a time. */
      each: async (from: number, count: number, sql: string, ...values: Statement["values"]) => {
        for (let first = from; first <= count; first += WRITTEN_AT_ONCE) {
          const last = Math.min(count, first + WRITTEN_AT_ONCE - 1);
          await ask([{ sql: `${NUMBERS} ${sql}`, values: [first, last, ...values] }]);
        }
      },
      /** Runs a statement again and again; see `StepCall`. */
      repeat: (sql: string, times: number, by?: Named) => ask([{ sql, values: [] }], { times, ...(by && { by }) }),
      ring: () => ask([]),
    };
  }

  /** Writes copies of the chat's first message until it has `count`, with this text if one is given. */
  async messages(office: Office, count: number, text: string | null = null, at?: string) {
    const { chatId, channel } = office;
    const senderId = channel.organization.memberId;
    const { message } = await this.api(office, "POST", `/chats/${chatId}/messages`, {
      content: "The first message",
      senderId,
    });
    const doc = JSON.stringify({ ...message, status: "SENT", ...(at && { createdAt: at, updatedAt: at }) });
    const chat = this.object("CHATS", chatId);
    const given = text === null ? "json_set(?, '$.seq', n)" : "json_set(?, '$.seq', n, '$.text', ?)";
    const values = text === null ? [doc] : [doc, text];
    await chat.each(2, count, `insert into messages (seq, doc) select n, ${given} from numbers`, ...values);
    return message.id as string;
  }
}
