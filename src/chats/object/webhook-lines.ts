import type {
  ChatIdentity,
  RetryEventAnswer,
  SkipEventAnswer,
  Unknown,
  WebhookLineAnswer,
} from "../../model/chat-answers.ts";
import { EVENT_TYPES, type EventType, eventId, lifeDigits, parseEventId } from "../../model/event.ts";
import { matches } from "../../model/event-filter.ts";
import type { WebhookFilter } from "../../model/webhook.ts";
import type { LineHost } from "../../webhooks/line/host.ts";
import { type LinesObject, ObjectLines } from "../../webhooks/line/object-lines.ts";
import { linePorts } from "../../webhooks/line/ports.ts";
import type { Adoption } from "./identity.ts";
import type { MessageLog } from "./log/message-log.ts";
import type { ChatEvents } from "./rendered-events.ts";

/** The parts of the chat that its lines use. */
interface Parts extends LinesObject {
  env: Env;
  storage: DurableObjectStorage;
  log: MessageLog;
  events: ChatEvents;
  adoption: Adoption;
}

/** The lines that deliver a chat's events to webhooks. They run beside the delivery of messages and the chat's report. */
export class EventLines extends ObjectLines {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    super(parts);
    this.#parts = parts;
  }

  version(): string | null {
    return this.lines.version;
  }

  async describe(webhookId: string): Promise<Exclude<WebhookLineAnswer, Unknown>> {
    const line = await this.lines.describe(webhookId);
    return line ? { outcome: "ok", line } : { outcome: "no_line" };
  }

  /** Gives up the event of an id, if it is the first that waits. */
  async skip(identity: ChatIdentity, webhookId: string, id: string): Promise<Exclude<SkipEventAnswer, Unknown>> {
    await this.#parts.alarm.standing();
    const number = parseEventId(id)?.number ?? 0;
    const isOfChat = id === eventId(identity.chatId, lifeDigits(identity.life), number);
    const outcome = this.lines.skip(webhookId, isOfChat ? number : 0);
    if (outcome === "skipped") await this.startSafely();
    return { outcome };
  }

  /** Tries the first event that waits at once. */
  async retry(webhookId: string): Promise<Exclude<RetryEventAnswer, Unknown>> {
    await this.#parts.alarm.standing();
    this.lines.retry(webhookId);
    await this.startSafely();
    return { outcome: "ok" };
  }

  /** A message was redacted. */
  forgetResponses(): void {
    this.lines.forgetResponses();
  }

  protected override lineHost(): LineHost | null {
    const { adoption, alarm, env, events, log, storage } = this.#parts;
    const identity = adoption.identity();
    if (!identity) return null;
    const { chatId, channelId, life } = identity;
    const exists = () => adoption.exists(life);
    return {
      ...linePorts(env),
      kv: storage.kv,
      lineId: chatId,
      exists,
      newest: () => log.events.newest,
      matching: (range, filter, limit) => log.events.matching(range, typesOf(filter, channelId), limit),
      count: (range, filter) => log.events.count(range, typesOf(filter, channelId)),
      eventId: (number) => eventId(chatId, lifeDigits(life), number),
      redactions: () => log.redactions,
      async render(fact, payload, previous) {
        const { data, ...event } = await events.render(identity, fact, payload);
        return exists() ? JSON.stringify({ ...event, previous, data }) : null;
      },
      standBy: (at) => alarm.by(at),
    };
  }
}

/** The types that a filter lets through in a channel. */
function typesOf(filter: WebhookFilter, channelId: string): EventType[] {
  return EVENT_TYPES.filter((type) => matches(filter, type, channelId));
}
