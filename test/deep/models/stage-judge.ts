import { expect } from "vitest";
import type { Message } from "../../../src/chats/message.ts";
import { type Delivery, wakeAt } from "../../../src/chats/object/delivery/retry.ts";
import type { RedactAnswer, SendAnswer, Unknown } from "../../../src/chats/rpc.ts";
import { asOwner } from "../../support/as-owner.ts";
import { saw } from "./hold.ts";
import type { Stage } from "./stage.ts";
import type { StagedNetwork } from "./staged-network.ts";

const RANK = { QUEUED: 0, SENT: 1, DELIVERED: 2, READ: 3 } as const;
/** The longest time that an instance at work lets its alarm wait, should it be lost: an attempt's lease. */
const LEASE_MS = 60_000;
/** After this time a chat gives up its call to its organization. */
const REPORT_TIMEOUT_MS = 30_000;

/** What must hold of a staged chat, whatever the order in which things happen to it. */
export class StageJudge {
  readonly #stage: Stage;
  readonly #network: StagedNetwork;
  #before = new Map<string, Message>();
  readonly #acknowledged = new Set<string>();
  readonly #byKey = new Map<string, string>();
  readonly #redacted = new Set<string>();
  /** The page that a reader has. */
  #page: { version: string; text: string } | undefined;

  constructor(stage: Stage, network: StagedNetwork) {
    this.#stage = stage;
    this.#network = network;
  }

  /** A client was told that its message is stored: it stays, and is the one of its key. */
  acknowledged(answers: SendAnswer[] | Unknown, key: string | null): void {
    if (!Array.isArray(answers)) throw new Error("the chat does not know itself");
    for (const answer of answers) {
      if (answer.outcome !== "stored") throw new Error(`a send is refused: ${answer.code}`);
      const { id } = JSON.parse(answer.doc) as Message;
      this.#acknowledged.add(id);
      if (key === null) continue;
      expect(answer.replayed).toBe(this.#byKey.has(key));
      expect(this.#byKey.get(key) ?? id).toBe(id);
      this.#byKey.set(key, id);
    }
  }

  /** A reader has the chat as it is, be it by a page that it had before. */
  read(): void {
    const { organizationId } = this.#stage.identity;
    const place = { page: 1, limit: 100 };
    const answer = this.#stage.chat.list(asOwner(organizationId), place, this.#page?.version);
    if (answer.outcome === "ok") {
      this.#page = { version: answer.version, text: new TextDecoder().decode(answer.body) };
    } else {
      expect(answer.outcome).toBe("unchanged");
      saw("a page that is unchanged");
    }
    expect(JSON.parse(this.#page?.text ?? "").messages).toEqual(this.#stage.messages().reverse());
  }

  /** As a client does: if the report timed out, the same redaction is asked for again. */
  async redact(id: string): Promise<void> {
    this.#redacted.add(id);
    const call = crypto.randomUUID();
    let answer: RedactAnswer;
    let waitedMs: number;
    do {
      const startedAt = this.#stage.elapsed;
      answer = await this.#stage.chat.redact(asOwner(this.#stage.identity.organizationId), id, call);
      waitedMs = this.#stage.elapsed - startedAt;
    } while (answer.outcome === "not_reported" && waitedMs >= REPORT_TIMEOUT_MS);
    expect(answer).toMatchObject({ outcome: "ok" });
  }

  /** After each thing that happened; should the instance be lost right then, its alarm is all that the chat has. */
  async look(): Promise<void> {
    const messages = this.#stage.messages();
    expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, at) => at + 1));
    const ids = new Set(messages.map(({ id }) => id));
    for (const id of this.#acknowledged) expect(ids, "an acknowledged message").toContain(id);
    for (const message of messages) this.#expectForward(message);
    this.#before = new Map(messages.map((message) => [message.id, message]));
    await this.#expectAlarm((delivery) => Math.max(wakeAt(delivery, Date.now()), this.#stage.alarmSetAt + LEASE_MS));
  }

  #expectForward({ id, seq, status }: Message): void {
    const before = this.#before.get(id);
    if (!before || before.status === status) return;
    saw(`${before.status} to ${status}`);
    const text = `message ${seq} went from ${before.status} (${before.error?.code}) to ${status}`;
    const isProven = this.#network.told.some((told) => told.id === id && ["DELIVERED", "READ"].includes(told.status));
    if (before.status === "FAILED") expect(isProven || before.error?.code === "redacted", text).toBe(true);
    else if (status === "FAILED") expect(["QUEUED", "SENT"], text).toContain(before.status);
    else expect(rank(status), text).toBeGreaterThan(rank(before.status));
  }

  /**
   * Nothing is under way, so the alarm is all that the chat has. An instance that has worked its line off leaves none
   * that stands later than what waits was due to it; what was overdue then is due at once, by a clock that may have
   * been set back since. One that has not worked since another was lost has the alarm that `look` judges.
   */
  async rest(): Promise<void> {
    const { workedAt } = this.#stage;
    if (workedAt !== undefined) await this.#expectAlarm((delivery) => wakeAt(delivery, Math.max(Date.now(), workedAt)));
  }

  /** Where a message waits an alarm stands, no later than what `latest` says of the one whose turn it is. */
  async #expectAlarm(latest: (delivery: Delivery) => number): Promise<void> {
    const head = this.#stage.messages().find(({ status }) => status === "QUEUED");
    if (!head) return;
    const alarm = await this.#stage.alarm();
    expect(alarm, "the alarm while a message waits").not.toBeNull();
    expect(alarm, "the alarm of what waits").toBeLessThanOrEqual(latest(this.#stage.row(head.seq).delivery));
  }

  /** All is done: each message is final, and for a cause. */
  end(): void {
    for (const message of this.#stage.messages()) {
      const { id, direction, status, seq } = message;
      if (direction === "INBOUND") continue;
      const [number = 0, { isLong } = { isLong: false }] =
        [...this.#network.sent].find(([, sent]) => id.startsWith(sent.id)) ?? [];
      const calls = this.#network.calls.filter((call) => call.number === number);
      const text = `message ${seq} is ${status} (${message.error?.code}) after ${calls.map(({ fate }) => fate).join()}`;
      if (status === "FAILED") {
        const isRefused = calls.some(({ fate }) => fate === "refused");
        const isTold = this.#network.told.some((told) => told.id === id && told.status === "FAILED");
        expect(isRefused || isTold || this.#redacted.has(id), text).toBe(true);
      } else {
        expect(["SENT", "DELIVERED", "READ"], text).toContain(status);
        const isOut = (part: number) =>
          calls.some((call) => call.part === part && (call.fate === "taken" || call.fate === "unheard"));
        expect(isOut(0) && (!isLong || isOut(1)), text).toBe(true);
      }
    }
  }
}

function rank(status: Message["status"]): number {
  return status in RANK ? RANK[status as keyof typeof RANK] : -1;
}
