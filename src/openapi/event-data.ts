import * as z from "zod";
import type { ListedType } from "../model/event.ts";
import { HANDLERS, HANDOVER_REASONS } from "../model/handover.ts";
import { MESSAGE_STATUSES } from "../model/message.ts";
import { DISABLED_REASONS } from "../model/webhook.ts";
import { WORK_STATES } from "../model/work-state.ts";
import { callerName, channelWarnings, chatSchema, marketingSchema, messageSchema, noteSchema } from "./resources.ts";
import { count, countOrNull, groupOrNull, id, oneOf, text, textOrNull, time, timeOrNull } from "./typed-schema.ts";

/**
 * The `data` of events of some types. `shown` is what a `thin` event leaves out, and `nameless` has the facts that it
 * shows without people's names.
 */
interface Variant {
  types: readonly ListedType[];
  facts: Record<string, z.ZodType>;
  shown: Record<string, z.ZodType>;
  nameless?: Record<string, z.ZodType>;
}

const chat = chatSchema.nullable().describe("The chat as it is now. Null if it is gone");
const message = messageSchema.nullable().describe("The message as it is now. Null once retention has deleted it");
const sample = z.literal(true).optional().describe("Only in a test call of a webhook");
const ofMessage = {
  messageId: textOrNull("The message's id. Null once retention has deleted the message"),
  seq: countOrNull("The message's number in the chat. Null if it has no place there"),
};

const ASSIGNED_BY = "Who assigned it. Null if the service unassigned the chat, because its member was removed";
const CHANGED_BY = "Who changed it. Null if the snooze ended, or a message of the contact opened the chat";
const noteFacts = noteSchema.omit({ content: true });
const HANDED_BY = "Who handed the chat over. Null: nobody did, or it is not known who wrote";
const NOTE = "The note, without what it says";
const DELETED_BY = "Who deleted it. Only in `note.deleted`";
const callerId = callerName.omit({ name: true });

const VARIANTS: Record<string, Variant> = {
  ChatEventData: { types: ["chat.created", "chat.updated"], facts: {}, shown: { chat } },
  ChatAssignedEventData: {
    types: ["chat.assigned"],
    facts: {
      assigneeId: textOrNull("The member to whom the chat was assigned. Null: it was unassigned"),
      by: callerName.nullable().describe(ASSIGNED_BY),
    },
    shown: { chat },
    nameless: { by: callerId.nullable().describe(ASSIGNED_BY) },
  },
  ChatConsentEventData: {
    types: ["chat.consent"],
    facts: { marketing: marketingSchema },
    shown: { chat },
  },
  ChatStateEventData: {
    types: ["chat.state"],
    facts: {
      state: oneOf(WORK_STATES, "The state that the chat got"),
      snoozedUntil: timeOrNull("When the snooze ends. Null unless `state` is `snoozed`"),
      by: callerName.nullable().describe(CHANGED_BY),
    },
    shown: { chat },
    nameless: { by: callerId.nullable().describe(CHANGED_BY) },
  },
  ChatHandoverEventData: {
    types: ["chat.handover"],
    facts: {
      to: oneOf(HANDLERS, "Who got the chat"),
      by: callerName.nullable().describe(HANDED_BY),
      reason: oneOf(
        HANDOVER_REASONS,
        "Why: a client asked for it; a person wrote; the bot was silent for too long; the channel has this bot no longer; the chat was closed",
      ),
    },
    shown: { chat },
    nameless: { by: callerId.nullable().describe(HANDED_BY) },
  },
  NoteEventData: {
    types: ["note.created", "note.deleted"],
    facts: {
      note: noteFacts.describe(NOTE),
      by: callerName.optional().describe(DELETED_BY),
    },
    shown: {},
    nameless: {
      note: noteFacts.extend({ author: callerId.describe("Who wrote it") }).describe(NOTE),
      by: callerId.optional().describe(DELETED_BY),
    },
  },
  MessageEventData: {
    types: ["message.received", "message.created", "message.edited"],
    facts: ofMessage,
    shown: { message },
  },
  MessageReactionEventData: {
    types: ["message.reaction"],
    facts: { ...ofMessage, by: oneOf(["contact", "organization"], "Who reacted, or took a reaction back") },
    shown: { message },
  },
  MessageRedactedEventData: {
    types: ["message.redacted"],
    facts: {
      ...ofMessage,
      by: oneOf(["contact", "organization"], "Set if its writer deleted it at the network: who that was").optional(),
    },
    shown: { message },
  },
  MessageStatusEventData: {
    types: ["message.status"],
    facts: {
      ...ofMessage,
      status: oneOf(MESSAGE_STATUSES, "The status that the message got. `message` has its status now"),
      error: groupOrNull("Why the message failed", {
        code: text("A stable code"),
        message: text("What happened, for people"),
      }),
    },
    shown: { message },
  },
  MessageScheduledEventData: {
    types: ["message.scheduled"],
    facts: { messageId: id("message"), scheduledAt: time("When the message is due") },
    shown: { message },
  },
  ChannelHealthEventData: {
    types: ["channel.health"],
    facts: {
      state: oneOf(["ok", "broken"], "`broken`: the network refuses the channel"),
      reason: textOrNull("Why the channel is broken"),
      since: time("When the state changed"),
      warnings: channelWarnings.optional(),
    },
    shown: {},
  },
  WebhookFailingEventData: {
    types: ["webhook.failing"],
    facts: {
      webhookId: id("webhook"),
      reason: oneOf(["no_success", "given_up"], "`no_success`: no call succeeds. `given_up`: events were given up"),
      givenUp: count.optional().describe("How many events were given up"),
      since: timeOrNull("Since when no call has succeeded"),
      disablesAt: timeOrNull("When the webhook will be disabled"),
    },
    shown: {},
  },
  WebhookDisabledEventData: {
    types: ["webhook.disabled"],
    facts: {
      webhookId: id("webhook"),
      reason: oneOf(DISABLED_REASONS, "Why it was disabled"),
      since: time("When it was disabled"),
    },
    shown: {},
  },
  ChatUnreadableEventData: {
    types: ["chat.unreadable"],
    facts: {
      first: count.describe("The number of the first event of the chat that could not be read"),
      last: count.describe("The number of the last one"),
    },
    shown: {},
  },
  EmptyEventData: { types: ["chat.deleted", "ping"], facts: {}, shown: {} },
};

/** Which schema describes the data of which types. */
export const DATA_BY_TYPE = Object.entries(VARIANTS)
  .map(([name, { types }]) => `${types.map((type) => `\`${type}\``).join(", ")}: \`${name}\``)
  .join("; ");

/** The `data` of an event. */
export const eventData = z.union(
  Object.entries(VARIANTS).map(([name, { types, facts, shown }]) => dataSchema(name, types, { ...facts, ...shown })),
);

/** The `data` of an event in a webhook's call with the payload `thin`. */
export const thinEventData = z.union(
  Object.entries(VARIANTS)
    .filter(([, { types }]) => !types.includes("chat.unreadable"))
    .map(([name, { types, facts, nameless }]) => dataSchema(`Thin${name}`, types, { ...facts, ...nameless })),
);

function dataSchema(
  name: string,
  types: readonly ListedType[],
  fields: Record<string, z.ZodType>,
): z.ZodType<Record<string, unknown>> {
  const description = `The data of ${types.map((type) => `\`${type}\``).join(", ")}.`;
  return z.object({ ...fields, sample }).meta({ id: name, title: name, description });
}
