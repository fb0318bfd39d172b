import { callOrganization } from "../../calls/call-organization.ts";
import { type Chat, withActivity } from "../../model/chat.ts";
import type { ChatIdentity, EventsAsked, ReadEventsAnswer } from "../../model/chat-answers.ts";
import { type EventFact, type EventOrigin, lifeDigits } from "../../model/event.ts";
import { matches } from "../../model/event-filter.ts";
import { idWithoutSeq, renderEvent, showsChat } from "../../model/event-json.ts";
import type { ShownMessage } from "../../model/message.ts";
import type { Payload } from "../../model/webhook.ts";
import type { ChatLabels } from "./chat-labels.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { ContactAddresses } from "./contact-addresses.ts";
import type { Handover } from "./handover.ts";
import type { Adoption } from "./identity.ts";
import type { MessageLog } from "./log/message-log.ts";

const MAX_EVENTS = 100;

interface Parts {
  env: Env;
  log: MessageLog;
  adoption: Adoption;
  contact: ContactAddresses;
  report: ChatReporter;
  labels: Pick<ChatLabels, "ids">;
  handover: Pick<Handover, "bot">;
  /** The JSON of a message, with or without a place in the chat; null if it is gone. */
  messageById(id: string): string | null;
}

/** Renders a chat's events from its rows as they are now, so that a redaction holds for old events too. */
export class ChatEvents {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Reads up to 100 events of a range, including both ends.
   * @param exists false after the chat was deleted
   * @param types only these, or families such as `message.*`; null for all
   * @throws ApiError `unavailable` if an event shows the chat and the organization's object does not answer
   */
  async read(
    identity: ChatIdentity,
    { first, last, life }: EventsAsked,
    types: string[] | null,
    exists: () => boolean,
  ): Promise<ReadEventsAnswer> {
    if (life && life !== identity.life) return { outcome: "unknown" };
    const upTo = Math.min(last, first + MAX_EVENTS - 1, this.#parts.log.events.newest);
    const facts = this.#parts.log.events
      .range(first, upTo)
      .filter(({ type }) => matches({ types, channels: null }, type, identity.channelId));
    const chat = facts.some(({ type }) => showsChat(type)) ? await this.#chat(identity) : null;
    if (!exists()) return { outcome: "unknown" };
    const { newest } = this.#parts.log.events;
    const events = facts.map((fact) => {
      const event = renderEvent(fact, this.#originOf(identity), lifeDigits(identity.life), this.#subject(fact, chat));
      return { number: fact.number, type: fact.type, doc: JSON.stringify(event) };
    });
    return { outcome: "ok", events, upTo, newest };
  }

  /** An event as an object, as it is now. @throws as `read` */
  async render(identity: ChatIdentity, fact: EventFact, payload: Payload) {
    const chat = payload === "full" && showsChat(fact.type) ? await this.#chat(identity) : null;
    return renderEvent(fact, this.#originOf(identity), lifeDigits(identity.life), this.#subject(fact, chat), payload);
  }

  #subject(fact: EventFact, chat: Chat | null) {
    const doc = this.#messageOf(fact);
    return { chat, message: doc ? (JSON.parse(doc) as ShownMessage) : null };
  }

  #messageOf(fact: EventFact): string | null {
    if (fact.seq !== null) {
      return fact.seq <= this.#parts.log.floor.seq
        ? null
        : this.#parts.log.documents.joined({ low: fact.seq, high: fact.seq });
    }
    const id = idWithoutSeq(fact);
    return id === null ? null : this.#parts.messageById(id);
  }

  async #chat(identity: ChatIdentity): Promise<Chat | null> {
    const { organizationId, chatId, life } = identity;
    const { adoption, env, handover, labels, report } = this.#parts;
    // The event of a label or of a handover can come before the report of it.
    const ids = labels.ids();
    const chat = await callOrganization(env, organizationId, (organization) =>
      organization.find(chatId, ids, handover.bot),
    );
    return chat && adoption.exists(life) ? withActivity(chat, report.activity()) : null;
  }

  #originOf(identity: ChatIdentity): EventOrigin {
    const { organizationId, chatId: id, life, channelId, channelKind } = identity;
    return {
      organizationId,
      chat: { id, life, channelId, channelKind, contactAddress: this.#parts.contact.current(identity) },
    };
  }
}
