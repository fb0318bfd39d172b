import { MAX_IDEMPOTENCY_KEY } from "../chats/idempotency.ts";
import { fault } from "../http/validation.ts";
import { HANDLERS } from "../model/handover.ts";
import { MAX_CONTENT } from "../model/message.ts";
import { WORK_STATES } from "../model/work-state.ts";
import { byRoute, idArgument, integerArgument, type Tool, textArgument } from "./tool.ts";

const chatId = idArgument("the chat");
const content = textArgument("What it says.", { minLength: 1, maxLength: MAX_CONTENT });
const KEY = {
  minLength: 1,
  maxLength: MAX_IDEMPOTENCY_KEY,
  // What a header can have, without commas.
  pattern: "^[!-+\\--~](?:[ -+\\--~]*[!-+\\--~])?$",
};
const idempotencyKey = textArgument("Your own key of this message: calls with the same key send one message.", KEY);
const actKey = textArgument("Your own key of this act: calls with the same key do it once.", KEY);
const ifSeq = integerArgument("Only if the chat's newest message has this seq, else the fault chat_moved_on.", 0);

/** What an agent can't take back. */
const SENDS = { readOnlyHint: false, destructiveHint: true, idempotentHint: true };
const SETS = { readOnlyHint: false, destructiveHint: false, idempotentHint: true };

/** The tools that change something. */
export const WRITING_TOOLS: Record<string, Tool> = {
  send_message: {
    title: "Send a message",
    description:
      "Sends a text to the contact. With draft it only writes a draft, which a person sends, changes or drops; your next draft in the chat replaces it.",
    needs: ["contact:reach", "notes:write"],
    arguments: {
      chatId,
      content,
      idempotencyKey,
      ifSeq,
      draft: { type: "boolean", description: "Writes a draft instead. Not with ifSeq." },
    },
    required: ["chatId", "content", "idempotencyKey"],
    annotations: SENDS,
    call: byRoute(({ chatId: chat, idempotencyKey: key, draft, ...body }) => {
      if (draft && body.ifSeq !== undefined) throw fault("ifSeq", "can't be given with draft");
      return {
        method: "POST",
        path: `/chats/${chat}/${draft ? "notes" : "messages"}`,
        body: draft ? { ...body, draft } : body,
        idempotencyKey: key,
      };
    }),
  },
  send_template: {
    title: "Send a template",
    description: "Sends a template to the contact, filled with variables.",
    needs: ["contact:reach"],
    arguments: {
      chatId,
      templateId: idArgument("the template"),
      variables: {
        type: "object",
        description: "The value of each placeholder, by its name. A number is a text too.",
        additionalProperties: { type: "string" },
      },
      idempotencyKey,
    },
    required: ["chatId", "templateId", "variables", "idempotencyKey"],
    annotations: SENDS,
    call: byRoute(({ chatId: chat, idempotencyKey: key, ...body }) => ({
      method: "POST",
      path: `/chats/${chat}/messages`,
      // A message needs a content. What is sent is the filled template.
      body: { ...body, content: body.templateId },
      idempotencyKey: key,
    })),
  },
  assign_chat: {
    title: "Assign a chat",
    description: "Gives a chat to a member.",
    needs: ["chats:write"],
    arguments: { chatId, assigneeId: { type: ["string", "null"], description: "The member's id; null for nobody." } },
    required: ["chatId", "assigneeId"],
    annotations: SETS,
    call: byRoute(({ chatId: chat, ...body }) => ({ method: "PATCH", path: `/chats/${chat}`, body })),
  },
  set_state: {
    title: "Open, snooze or close a chat",
    description: "Sets the state of the work in a chat. A message of the contact opens it again.",
    needs: ["chats:write"],
    arguments: {
      chatId,
      state: textArgument("The new state.", { enum: WORK_STATES }),
      snoozedUntil: textArgument("When the snooze ends, RFC 3339. Only with snoozed, which needs it."),
      ifSeq,
    },
    required: ["chatId", "state"],
    annotations: SETS,
    call: byRoute(({ chatId: chat, ...body }) => ({ method: "PATCH", path: `/chats/${chat}`, body })),
  },
  write_note: {
    title: "Write a note",
    description: "Writes a note about a chat. Only people of your organization see it.",
    needs: ["notes:write"],
    arguments: { chatId, content, idempotencyKey: actKey },
    required: ["chatId", "content"],
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    call: byRoute(({ chatId: chat, idempotencyKey: key, ...body }) => ({
      method: "POST",
      path: `/chats/${chat}/notes`,
      body,
      idempotencyKey: key,
    })),
  },
  hand_over: {
    title: "Hand a chat over",
    description:
      "Hands a chat to people or to the channel's bot, with a last message to the contact and a note for the team. When people have a chat, its bot can't send.",
    needs: ["chats:write"],
    arguments: {
      chatId,
      to: textArgument("Who gets it.", { enum: HANDLERS }),
      message: textArgument("A last message to the contact.", { minLength: 1, maxLength: MAX_CONTENT }),
      note: textArgument("A note for the team.", { minLength: 1, maxLength: MAX_CONTENT }),
      idempotencyKey: actKey,
    },
    required: ["chatId", "to"],
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    call: byRoute(({ chatId: chat, message, idempotencyKey: key, ...body }) => ({
      method: "POST",
      path: `/chats/${chat}/handover`,
      idempotencyKey: key,
      body: { ...body, ...(message !== undefined && { message: { content: message } }) },
    })),
  },
};
