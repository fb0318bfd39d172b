import { CHANNEL_KINDS } from "../channels/kinds.ts";
import type { ChatsContext } from "../chats/context.ts";
import { readChat } from "../chats/get-chat.ts";
import { openFeed, waitForEvents } from "../events/poll.ts";
import { MAX_WAIT } from "../events/query.ts";
import { MESSAGE_TYPES } from "../model/content.ts";
import { HANDLERS } from "../model/handover.ts";
import { MAX_PAGE } from "../model/list-page.ts";
import { DIRECTIONS, MESSAGE_STATUSES } from "../model/message.ts";
import { WORK_STATES } from "../model/work-state.ts";
import {
  byRoute,
  flagArgument,
  type Given,
  idArgument,
  integerArgument,
  READS,
  type Tool,
  textArgument,
} from "./tool.ts";

const limit = integerArgument("How many rows a page has. Default: 20.", 1, MAX_PAGE);
const before = textArgument("The cursor of the previous page: continues behind it.");
const channel = textArgument(`A channel's id, or a kind: ${CHANNEL_KINDS.join(", ")}.`);
const assignee = textArgument("A member's id, or none: the chats of this member, or of nobody.");

/** The messages that a wait returns at once. */
const WAITED = 20;

/** The tools that change nothing. */
export const READING_TOOLS: Record<string, Tool> = {
  list_chats: {
    title: "List chats",
    description:
      "Lists chats, latest activity first. A lastMessage has the first 160 characters of its text. Continue with pagination.cursor: as after with unanswered, scheduled or search, else as before.",
    needs: ["chats:read"],
    arguments: {
      limit,
      before,
      after: textArgument("Like before, for the lists of unanswered, scheduled and search."),
      channel,
      contact: textArgument("Only the chat with exactly this address."),
      unanswered: flagArgument("Only chats that wait for an answer, longest wait first."),
      scheduled: flagArgument("Only chats with scheduled messages, soonest first."),
      search: textArgument("Only contacts whose address begins with this, or whose name has words that do."),
      assignee,
      state: textArgument("Only chats in this state.", { enum: WORK_STATES }),
      handler: textArgument("Only chats that the bot has, or that people have.", { enum: HANDLERS }),
      person: textArgument("Only chats of this person, by your own key of the person."),
      label: textArgument("Only chats with this label, by its id."),
      optedOut: flagArgument("Only chats whose contact has opted out of marketing."),
      mentioned: textArgument("Only chats whose notes mention this member, by its id."),
    },
    required: [],
    annotations: READS,
    call: byRoute((query) => ({ method: "GET", path: "/chats", query })),
  },
  find_contact: {
    title: "Find a contact",
    description: "Finds the chats with a contact by its address, such as a phone number with its country code.",
    needs: ["chats:read"],
    arguments: { address: textArgument("The contact's whole address.") },
    required: ["address"],
    annotations: READS,
    call: byRoute(({ address }) => ({ method: "GET", path: "/chats", query: { contact: address } })),
  },
  get_chat: {
    title: "Read a chat",
    description: "Reads one chat: its contact, state, assignee, labels, and until when its network takes free text.",
    needs: ["chats:read"],
    arguments: { chatId: idArgument("the chat") },
    required: ["chatId"],
    annotations: READS,
    call: byRoute(({ chatId }) => ({ method: "GET", path: `/chats/${chatId}` })),
  },
  list_messages: {
    title: "List messages",
    description: "Lists a chat's messages, newest first. INBOUND is from the contact, OUTBOUND from your organization.",
    needs: ["messages:read"],
    arguments: {
      chatId: idArgument("the chat"),
      before: textArgument("The id of a message: lists those before it."),
      limit,
      status: textArgument("Only messages with this status.", { enum: MESSAGE_STATUSES }),
      direction: textArgument("Only one side's messages.", { enum: DIRECTIONS }),
      type: textArgument("Only messages of this type.", { enum: MESSAGE_TYPES }),
      search: textArgument("Only messages that contain this text."),
    },
    required: ["chatId"],
    annotations: READS,
    call: byRoute(({ chatId, ...query }) => ({ method: "GET", path: `/chats/${chatId}/messages`, query })),
  },
  search_messages: {
    title: "Search messages",
    description: "Finds the messages of all chats that contain a text, newest first.",
    needs: ["search:read"],
    arguments: {
      search: textArgument("The text, of at least two characters."),
      before,
      limit,
      channel,
      assignee,
      direction: textArgument("Only one side's messages.", { enum: DIRECTIONS }),
      since: textArgument("Only messages since this time, RFC 3339."),
      until: textArgument("Only messages before this time, RFC 3339."),
    },
    required: ["search"],
    annotations: READS,
    call: byRoute((query) => ({ method: "GET", path: "/messages", query })),
  },
  wait_for_messages: {
    title: "Wait for messages",
    description:
      "Waits until a contact writes, and returns the new messages; none if nobody wrote in that time. Without after it begins now: pass the cursor of each answer as after of the next call, so that you miss none in between. unreadableChats are chats that could not be read: list their messages later.",
    needs: ["events:read"],
    arguments: {
      chatId: idArgument("the only chat to wait for"),
      seconds: integerArgument("For how long to wait.", 0, MAX_WAIT),
      after: textArgument("The cursor of the answer before."),
    },
    required: ["seconds"],
    annotations: READS,
    call: waitForMessages,
  },
  list_templates: {
    title: "List templates",
    description: "Lists the templates, which a network takes also when it takes no free text.",
    needs: ["templates:read"],
    arguments: { page: integerArgument("The page, from 1 on.", 1), limit },
    required: [],
    annotations: READS,
    call: byRoute((query) => ({ method: "GET", path: "/templates", query })),
  },
};

/** Waits as a stream: it takes one of the organization's places. */
async function waitForMessages(c: ChatsContext, { chatId, seconds, after }: Given) {
  if (chatId !== undefined) await readChat(c.env, c.var.caller, chatId);
  const start = after === undefined ? "now" : { text: after, name: "after" };
  const feed = await openFeed(c, { types: "message.received", chat: chatId }, start);
  const { events, cursor, hasMore } = await waitForEvents(
    c,
    feed,
    { limit: WAITED, wait: seconds },
    {
      stream: crypto.randomUUID(),
    },
  );
  const read = events.map(({ doc }) => JSON.parse(doc) as { type: string; chatId: string; data: { message?: object } });
  const unreadable = read.filter(({ type }) => type === "chat.unreadable").map((event) => event.chatId);
  return {
    messages: read.flatMap(({ data }) => data.message ?? []),
    ...(unreadable.length > 0 && { unreadableChats: [...new Set(unreadable)] }),
    cursor,
    hasMore,
  };
}
