import type { Message } from "../../../src/chats/message.ts";

const DAY = 86_400_000;
/** Why a message failed that the network had taken. */
export const GONE = { code: "network_131026", message: "Gone" };
const REDACTED = "The message was redacted";
const RANK = { QUEUED: 0, SENT: 1, DELIVERED: 2, READ: 3 } as const;

/** What the network does with the calls that come: it takes them, refuses them permanently or for now, or is not heard. */
export const WEATHERS = ["takes", "refuses", "is busy", "is not heard"] as const;
export type Weather = (typeof WEATHERS)[number];
export type Told = "SENT" | "DELIVERED" | "READ" | "FAILED";

export interface Row {
  id: string;
  seq: number;
  direction: Message["direction"];
  content: string;
  status: Message["status"];
  error: Message["error"];
  createdAt: number;
  updatedAt: number;
  /** When it got each status. */
  times: Partial<Record<Message["status"], number>>;
  /** The idempotency key, or the network's id, that it came with. */
  key: string | null;
  isRedacted: boolean;
  attempts: number;
  firstAt: number | null;
  nextAt: number | null;
  lastError: Message["error"];
  /** The network's ids of the calls that it took, heard or not. */
  taken: string[];
  /** The one of them that the chat knows, by an answer or by the first status. */
  named: string | null;
}

/** A chat in its plainest form: a list of messages, of which the first that waits is tried when its time has come. */
export class ChatModel {
  now: number;
  readonly #madeAt: number;
  weather: Weather = "takes";
  rows: Row[] = [];
  /** The texts that the network was called with. */
  wire: string[] = [];
  /** The newest message that the list of chats was told of. */
  reported = 0;
  /** The last report: the chat's state, and how often the network had been called. */
  told = { state: "", calls: 0 };

  constructor(now: number) {
    this.now = now;
    this.#madeAt = now;
  }

  /** The message that a key was used for before. */
  used(key: string | null): Row | undefined {
    return key === null ? undefined : this.rows.find((row) => row.key === key);
  }

  add(direction: Message["direction"], id: string, content: string, key: string | null): Row {
    const at = Math.max(this.now, this.rows.at(-1)?.createdAt ?? this.#madeAt);
    const row: Row = {
      id,
      seq: this.rows.length + 1,
      direction,
      content,
      status: direction === "OUTBOUND" ? "QUEUED" : "RECEIVED",
      error: null,
      createdAt: at,
      updatedAt: at,
      times: {},
      key,
      isRedacted: false,
      attempts: 0,
      firstAt: null,
      nextAt: null,
      lastError: null,
      taken: [],
      named: null,
    };
    this.rows.push(row);
    return row;
  }

  head(): Row | undefined {
    return this.rows.find((row) => row.status === "QUEUED");
  }

  /** When the first that waits is due: at its next attempt, or when it is given up. */
  dueAt(): number | null {
    const head = this.head();
    if (!head) return null;
    return Math.max(this.now, Math.min(head.nextAt ?? this.now, (head.firstAt ?? this.now) + DAY));
  }

  /** When the alarm rings: for what waits, or 2 s later for what is not reported. */
  alarmAt(): number | null {
    const due = this.dueAt();
    const { state, calls } = this.told;
    if (state === this.state() && calls === this.wire.length) return due;
    return Math.min(due ?? Number.POSITIVE_INFINITY, this.now + 2_000);
  }

  /** What a chat reports of its messages. */
  state(): string {
    const newest = this.rows.at(-1);
    const waiting = this.rows.filter((row) => row.status === "QUEUED");
    return JSON.stringify([newest?.seq, newest?.status, newest?.content, waiting.length, waiting[0]?.createdAt]);
  }

  /** Tries what is due, until something must wait. */
  work(): void {
    this.giveUp();
    for (let head = this.head(); head && this.dueAt() === this.now; head = this.head()) {
      this.#attempt(head);
      this.giveUp();
    }
  }

  /** What waits first fails if it was tried for a day. No call is needed for it. */
  giveUp(): void {
    for (let head = this.head(); head?.firstAt != null && this.now - head.firstAt >= DAY; head = this.head()) {
      const message = `Not delivered within a day: ${head.lastError?.message ?? "no attempt succeeded"}`;
      this.#become(head, "FAILED", { code: "delivery_timeout", message });
    }
  }

  #attempt(row: Row): void {
    this.wire.push(row.content);
    row.attempts++;
    row.firstAt ??= this.now;
    const backoff = Math.min(600_000, 2_000 * 2 ** (row.attempts - 1));
    if (this.weather === "takes" || this.weather === "is not heard") row.taken.push(networkId(this.wire.length));
    if (this.weather === "takes") {
      row.named = row.taken.at(-1) ?? null;
      this.#become(row, "SENT", null);
    }
    if (this.weather === "refuses") this.#become(row, "FAILED", { code: "network_131026", message: "No" });
    if (this.weather === "is busy") {
      row.nextAt = this.now + backoff;
      row.lastError = { code: "network_131016", message: "Busy" };
    }
    if (this.weather === "is not heard") {
      row.nextAt = this.now + Math.max(backoff, 90_000);
      row.lastError = { code: "outcome_unknown", message: "The connection was lost before the network answered" };
    }
  }

  /** The network tells what became of one of its calls for a message. */
  tell(row: Row, told: Told, id: string): void {
    // Of a copy: what else was sent stands for it.
    if (told === "FAILED" && row.named !== null && row.named !== id && row.attempts > 1) return;
    row.named ??= id;
    const why = row.isRedacted ? { ...GONE, message: REDACTED } : GONE;
    if (isNews(row.status, told)) this.#become(row, told, told === "FAILED" ? why : null);
  }

  redact(row: Row): void {
    row.isRedacted = true;
    row.content = "";
    if (row.error) row.error = { ...row.error, message: REDACTED };
    if (row.status !== "QUEUED") return;
    this.#become(row, "FAILED", { code: "redacted", message: `${REDACTED} before it was delivered` });
  }

  #become(row: Row, status: Message["status"], error: Message["error"]): void {
    const updatedAt = Math.max(this.now, row.updatedAt);
    if (status !== row.status) row.times[status] = updatedAt;
    Object.assign(row, { status, error, updatedAt });
  }
}

/** How the network calls what it took with its nth call. */
export function networkId(call: number): string {
  return `wamid.${call}`;
}

/** FAILED is final, unless the message came through after all; else a status goes forward alone. */
function isNews(was: Message["status"], told: Told): boolean {
  if (was === "RECEIVED" || was === "SCHEDULED" || was === "CANCELED") return false;
  if (told === "FAILED") return was === "QUEUED" || was === "SENT";
  if (was === "FAILED") return told !== "SENT";
  return RANK[told] > RANK[was];
}

function timeOf({ times }: Row, field: keyof Message, status: Message["status"]): Partial<Message> {
  const at = times[status];
  return at === undefined ? {} : { [field]: new Date(at).toISOString() };
}

/** A message as the API shows it. */
export function shown(row: Row, chatId: string, ownerId: string): Message {
  const { id, seq, direction, content, status, error, createdAt, updatedAt } = row;
  return {
    id,
    chatId,
    seq,
    direction,
    type: "TEXT",
    content,
    mediaUrl: null,
    senderId: direction === "OUTBOUND" ? ownerId : null,
    templateId: null,
    variables: null,
    text: content,
    status,
    error,
    metadata: {},
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    ...timeOf(row, "sentAt", "SENT"),
    ...timeOf(row, "deliveredAt", "DELIVERED"),
    ...timeOf(row, "readAt", "READ"),
    ...timeOf(row, "failedAt", "FAILED"),
  };
}
