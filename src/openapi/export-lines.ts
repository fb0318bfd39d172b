import * as z from "zod";
import type { presentSettings } from "../management/present-channel.ts";
import { channelSchema, labelSchema, memberSchema, replySchema, templateSchema } from "./operator/resources.ts";
import { chatSchema, messageSchema, noteSchema } from "./resources.ts";
import { count, id, resource, text } from "./typed-schema.ts";

const exportedChannel = resource<ReturnType<typeof presentSettings>>()(
  "ExportedChannel",
  "A channel in an export: its settings, without credentials and health.",
  channelSchema.omit({ credentials: true, webhook: true, health: true }),
);
const next = text("Continues the export, as `after`");

const LINES = {
  member: { member: memberSchema },
  channel: { channel: exportedChannel },
  template: { template: templateSchema },
  reply: { reply: replySchema },
  label: { label: labelSchema },
  chat: { chat: chatSchema },
  scheduled: { message: messageSchema },
  note: { note: noteSchema },
  message: { message: messageSchema },
  chat_deleted: { chatId: id("chat") },
  chat_unreadable: {
    chatId: id("chat"),
    next: next
      .nullable()
      .describe("Continues the export of this chat alone, as `after`. Null if none of its lines was exported"),
  },
  checkpoint: { next },
  end: {
    lastSeq: count.describe("The `seq` of the last message"),
    next: next.nullable().describe("Continues the export, as `after`. Null if it is complete"),
    unreadable: count
      .optional()
      .describe("How many chats could not be read since the beginning of the export. Absent if all could be"),
  },
};

/** A line of an export. */
export const exportLine = z
  .union(Object.entries(LINES).map(([type, fields]) => z.object({ type: z.literal(type), ...fields })))
  .meta({
    id: "ExportLine",
    title: "ExportLine",
    description: "A line of an export. Ignore types that you don't know.",
  });
