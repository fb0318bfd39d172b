import type { Adapter } from "../../../channels/network/adapter.ts";
import { ADAPTERS } from "../../../channels/registry.ts";
import type { NetworkKind } from "../../../model/channel-kind.ts";
import type { ChatIdentity, Media, StatusNews } from "../../../model/chat-answers.ts";
import type { OutboundFile } from "../../../model/file.ts";
import type { Message } from "../../../model/message.ts";
import type { Outbound } from "../../../model/network.ts";
import { type Price, priceCount } from "../../../model/received.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Logger } from "../../../platform/log.ts";
import type { StandingAlarm } from "../../../platform/object/alarm.ts";
import type { ChatReporter } from "../chat-report.ts";
import type { Consent } from "../consent.ts";
import type { ContactAddresses } from "../contact-addresses.ts";
import type { Adoption } from "../identity.ts";
import type { DeliveryError, DeliveryKnown, QueuedMessage } from "../log/delivery-column.ts";
import type { MessageLog } from "../log/message-log.ts";
import { known, partsKept } from "./head.ts";
import type { Known } from "./parts.ts";
import { countParts } from "./send-parts.ts";

export interface DeliveryParts {
  env: Env;
  clock: Clock;
  logger: Logger;
  log: MessageLog;
  adoption: Adoption;
  alarm: StandingAlarm;
  contact: ContactAddresses;
  report: ChatReporter;
  consent: Consent;
  /** See `Echoes`. */
  echoes: { onOutcome(): void };
}

/** What a status says besides the state of its part. */
type StatusFacts = Pick<StatusNews, "price" | "failedAt">;

/** A chat whose messages a network delivers. */
export class NetworkChat {
  readonly parts: DeliveryParts;
  readonly identity: ChatIdentity;
  readonly kind: NetworkKind;
  readonly adapter: Adapter;

  constructor(parts: DeliveryParts, identity: ChatIdentity, kind: NetworkKind) {
    this.parts = parts;
    this.identity = identity;
    this.kind = kind;
    this.adapter = ADAPTERS[kind];
  }

  /** False after the chat was deleted. Then the log is gone too. */
  exists(): boolean {
    return this.parts.adoption.exists(this.identity.life);
  }

  /** A message as it is sent. */
  outbound({ seq, message, parts, template: used }: QueuedMessage): Outbound {
    const template = used?.isText ? null : used;
    const { contact, log } = this.parts;
    const { chatId } = this.identity;
    const address = contact.current(this.identity);
    const { id: messageId, type, content, mediaUrl, text, replyTo } = message;
    const { interactive = null, location = null, contacts = null } = message;
    const quoted = replyTo === undefined ? null : log.byId(replyTo);
    const quote = quoted && log.networkIds.of(quoted.seq);
    const file = type === "TEXT" ? null : fileOfMedia(log.mediaOf(seq));
    const said = { type, content, mediaUrl, file, text, template, interactive, location, contacts };
    const isVoice = message.voice;
    const { topic } = contact;
    return { chatId, messageId, address, ...said, isVoice, quote, topic, partsSent: parts.ids };
  }

  /** The state of a message's delivery. @param of the number of parts; a redacted message no longer shows it */
  known(row: QueuedMessage, of?: number): Known {
    return known(row, of ?? row.parts.of ?? countParts(this.adapter, this.outbound(row)));
  }

  /** Stores a message's new state, if it differs from the old one. @param news what a status says besides */
  save(row: QueuedMessage, before: Known, after: Known, { price, failedAt }: StatusFacts = {}): void {
    const { seq, delivery, lastError } = row;
    const isPriced = price !== undefined && !isSame(price, row.message.price);
    const message = isPriced ? { ...row.message, price } : row.message;
    const parts = after.parts === before.parts ? null : partsKept(after);
    if (after.status !== before.status || after.error !== before.error || isPriced) {
      this.change(message, after.status, after.error, parts ? { delivery, parts, lastError } : undefined, failedAt);
      // Later statuses repeat the price, or name another one. A write that failed is tried again.
      if (price && !row.message.price) this.parts.report.counted(priceCount(price));
    } else if (parts) this.parts.log.writeDelivery(seq, { delivery, parts, lastError });
  }

  /** Stores a message's new status, and the state of its delivery if that changed too. @param failedAt see `save` */
  change(
    message: Message,
    status: Message["status"],
    error: DeliveryError | null,
    state?: DeliveryKnown,
    failedAt?: number,
  ): void {
    const { clock, consent, log } = this.parts;
    const now = clock.now();
    log.writeStatus(message, { status, error, at: now }, state);
    if (status === "FAILED" && message.status !== "FAILED" && error && this.adapter.isOptOut?.(error.code))
      consent.refused(failedAt ?? now);
    if (message.status === "QUEUED" && status !== "QUEUED") log.queue.left(message.seq);
  }
}

function isSame(price: Price, other: Price | undefined): boolean {
  return JSON.stringify(price) === JSON.stringify(other);
}

/** The uploaded file that a message sends; null if it has none. */
function fileOfMedia(media: Media | null): OutboundFile | null {
  if (!media || !("fileId" in media)) return null;
  const { fileId, ...info } = media;
  return { id: fileId, ...info };
}
