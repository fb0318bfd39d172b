import { type Event, type EventFact, type EventType, lifeDigits } from "../../model/event.ts";
import { renderEvent, showsChat } from "../../model/event-json.ts";
import { CHAT as chat, MESSAGE as message, NOTE as note } from "../../model/example.ts";
import { withoutContent } from "../../model/note.ts";
import type { Payload } from "../../model/webhook.ts";

const scheduledAt = "2026-11-21T09:00:00.000Z";
const CHANNEL = { channelId: chat.channel.id, channelKind: chat.channel.kind };

/** An event for trying a webhook: `ping` has no data, and the others are those of the documents, with `sample: true`. */
export function sampleEvent(
  { organizationId, webhookId }: { organizationId: string; webhookId: string },
  type: EventType,
  payload: Payload,
  now: number,
): Event {
  const isOfChat = /^(message|note)\./.test(type) || showsChat(type);
  const fact: EventFact = {
    number: 1,
    type,
    seq: type.startsWith("message.") && type !== "message.scheduled" ? message.seq : null,
    note: noteOf(type, webhookId, now),
    at: now,
  };
  const contactAddress = chat.contact.address;
  const origin = { id: chat.id, life: now, ...CHANNEL, contactAddress };
  // The time makes the id another one for each call.
  const { data, ...event } = renderEvent(
    fact,
    { organizationId, chat: isOfChat ? origin : null },
    lifeDigits(now),
    { chat, message: messageOf(type) },
    payload,
  );
  return { ...event, previous: null, data: type === "ping" ? data : { ...data, sample: true } };
}

function messageOf(type: EventType) {
  const received = { ...message, direction: "INBOUND", senderId: null, status: "RECEIVED" } as const;
  const at = message.updatedAt;
  if (type === "message.received") return received;
  if (type === "message.edited") return { ...received, editedAt: at };
  if (type === "message.redacted") return { ...received, content: "", text: "", metadata: {}, deletedAt: at };
  if (type === "message.scheduled") return { ...message, seq: null, status: "SCHEDULED", scheduledAt } as const;
  const sent = { ...message, status: "SENT", sentAt: message.updatedAt } as const;
  if (type === "message.reaction") return { ...sent, reactions: [{ by: "contact" as const, emoji: "👍", at }] };
  return type === "message.status" ? sent : message;
}

function noteOf(type: EventType, webhookId: string, now: number): EventFact["note"] {
  const since = new Date(now).toISOString();
  if (type === "message.status") return { status: "SENT" };
  if (type === "message.reaction" || type === "message.redacted") return { by: "contact" };
  if (type === "message.scheduled") return { messageId: message.id, scheduledAt };
  if (type === "chat.assigned") return { assigneeId: message.senderId, by: null };
  if (type === "chat.consent") return { marketing: { optedOut: true, at: since, by: "contact" } };
  if (type === "chat.state") return { state: "snoozed", snoozedUntil: scheduledAt, by: note.author };
  if (type === "chat.handover") return { to: "people", by: note.author, reason: "asked" };
  if (type === "note.created") return { note: withoutContent(note) };
  if (type === "note.deleted") return { note: { ...withoutContent(note), deletedAt: since }, by: note.author };
  if (type === "chat.deleted") return { chatId: chat.id, ...CHANNEL };
  if (type === "channel.health") return { ...CHANNEL, state: "ok", reason: null, since, warnings: [] };
  if (type === "webhook.failing") return { webhookId, reason: "no_success", since, disablesAt: since };
  return type === "webhook.disabled" ? { webhookId, reason: "customer", since } : null;
}
