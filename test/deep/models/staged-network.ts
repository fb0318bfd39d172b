import { expect } from "vitest";
import type { Message } from "../../../src/chats/message.ts";
import type { Kind } from "../../service/chats/object/delivery/conversation.ts";
import { asOwner } from "../../support/as-owner.ts";
import { saw } from "./hold.ts";
import type { Stage } from "./stage.ts";

/** What becomes of a call; `unheard`: it is taken, and the connection breaks; `silent`: no answer ever comes. */
export const FATES = ["taken", "unheard", "silent", "busy", "refused", "throttled", "broken"] as const;
export type Fate = (typeof FATES)[number];
export type Told = "SENT" | "DELIVERED" | "READ" | "FAILED";

interface Call {
  /** The number in the message's text, and which of its parts. */
  number: number;
  part: number;
  attempts: number;
  /** By how much time had passed. */
  at: number;
  id: string;
  fate: Fate;
  /** The chat was answered that it is taken. */
  isHeard: boolean;
}

const GONE = { code: "undeliverable", message: "Gone" };
const UNKNOWN_WAIT_MS = 90_000;
const CODES = {
  whatsapp: { busy: 131016, refused: 131026, throttled: 130429, broken: 190 },
  telegram: { busy: 500, refused: 400, throttled: 429, broken: 401 },
} as const;

/** The network under a staged chat: it judges the calls that reach it, and tells of those that it took. */
export class StagedNetwork {
  readonly calls: Call[] = [];
  /** The messages that clients sent, by the numbers in their texts. */
  readonly sent = new Map<number, { id: string; isLong: boolean }>();
  /** What comes next; when nothing is left, all is taken and nothing told. */
  script: { fate: Fate; told: Told[] }[];
  /** Of which messages it told what. */
  readonly told: { id: string; status: Told }[] = [];
  readonly #stage: Stage;
  readonly #kind: Kind;

  constructor(stage: Stage, kind: Kind, script: { fate: Fate; told: Told[] }[]) {
    this.#stage = stage;
    this.#kind = kind;
    this.script = [...script];
  }

  /** In place of `fetch`. */
  async fetch(body: string, signal: AbortSignal): Promise<Response> {
    const given = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    return Promise.race([this.#answer(body, signal), given]);
  }

  async #answer(body: string, signal: AbortSignal): Promise<Response> {
    const number = Number(/~(\d+)~/.exec(body)?.[1]);
    const message = this.messageOf(number);
    const part = this.sent.get(number)?.isLong && !body.includes("media.test") ? 1 : 0;
    await this.#stage.turn(`${message.seq} reaches the network`);
    if (signal.aborted) return new Promise(() => {});
    const { fate, told } = this.script.shift() ?? { fate: "taken", told: [] };
    const { attempts } = this.#stage.row(message.seq).delivery;
    const id = `${this.#kind === "whatsapp" ? "wamid." : ""}${this.calls.length + 1}`;
    const call: Call = { number, part, attempts, at: this.#stage.elapsed, id, fate, isHeard: false };
    // Not thrown: to the chat it would be a broken connection.
    await this.#stage.watch(Promise.try(() => this.#judge(call, message.status)));
    this.calls.push(call);
    saw(fate);
    if (this.#kind === "whatsapp" && (fate === "taken" || fate === "unheard")) this.#tell(call, message, told);
    await this.#stage.turn(`${message.seq} is answered: ${fate}`);
    if (fate === "silent") return new Promise(() => {});
    if (fate === "unheard") throw new Error("Network connection lost.");
    // After its deadline nobody listens.
    if (fate === "taken") call.isHeard = !signal.aborted;
    return answer(this.#kind, fate, id);
  }

  /** In the order of the sequence, nothing that is done with, nothing twice that is known to be out. */
  #judge(call: Call, begunAs: Message["status"]): void {
    const { number, part, attempts } = call;
    const rows = this.#stage.messages();
    const row = this.messageOf(number);
    const said = `message ${row.seq}, part ${part}, attempt ${attempts}`;
    const before = rows.filter(({ seq, status }) => seq < row.seq && status === "QUEUED");
    expect(before, `${said} comes before those before it`).toEqual([]);
    const same = this.calls.filter((one) => one.number === number);
    const isFirst = !same.some((one) => one.attempts === attempts);
    // One that is redacted on its way was not when its call began.
    if (isFirst) expect(begunAs, said).toBe("QUEUED");
    const again = same.filter((one) => one.part === part);
    expect(
      again.some(({ isHeard }) => isHeard),
      `${said} is out already`,
    ).toBe(false);
    const last = again.at(-1);
    if (last) saw("a call again");
    if (this.#kind === "whatsapp" && last && ["unheard", "silent", "taken"].includes(last.fate)) {
      expect(call.at - last.at, `${said} after one of unknown outcome`).toBeGreaterThanOrEqual(UNKNOWN_WAIT_MS);
    }
  }

  #tell({ id }: Call, { id: messageId }: Message, told: Told[]): void {
    const { organizationId, channelId } = this.#stage.identity;
    this.#stage.begin(
      told.map((status) => [
        `the network tells ${status} of ${id}`,
        async () => {
          const news = { messageId, networkId: id, status, error: status === "FAILED" ? GONE : null, addresses: [] };
          this.told.push({ id: messageId, status });
          expect(await this.#stage.chat.applyStatus(asOwner(organizationId), channelId, news)).toEqual({
            outcome: "ok",
          });
        },
      ]),
    );
  }

  messageOf(number: number): Message {
    const id = this.sent.get(number)?.id ?? "";
    return this.#stage.messages().find((each) => each.id.startsWith(id)) as Message;
  }
}

function answer(kind: Kind, fate: Exclude<Fate, "unheard" | "silent">, id: string): Response {
  if (fate === "taken") {
    return json(kind === "whatsapp" ? { messages: [{ id }] } : { ok: true, result: { message_id: Number(id) } });
  }
  const code = CODES[kind][fate];
  if (kind === "whatsapp") return json({ error: { code, message: fate } }, 400);
  return json({ ok: false, error_code: code, description: fate, parameters: { retry_after: 5 } }, code);
}

/** Its body is ready when it is read: one of the runtime's own would be read in a time of its own. */
function json(body: object, status = 200): Response {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return new Response(stream, { status });
}
