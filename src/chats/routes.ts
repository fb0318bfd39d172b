import { Hono } from "hono/quick";
import { callChat } from "../calls/call-chat.ts";
import { created, json, jsonOrNotModified } from "../http/etag.ts";
import { afterQuery } from "../http/pagination.ts";
import { noQuery, validQuery } from "../http/validation.ts";
import { daily, keyAccess } from "../keys/access.ts";
import { auditedSearch } from "../keys/audited.ts";
import { requirePermission } from "../keys/guard.ts";
import { refusalNow } from "../keys/key-watch.ts";
import { ApiError } from "../model/error.ts";
import { resendBody, sendBody } from "../model/message.ts";
import { shownChat, shownMessage, shownNote, shownSend } from "../model/withheld.ts";
import { markRead, react, reactionBody, readBody, showTyping, typingBody } from "./acts.ts";
import { cancelMessage, messagePatch, moveMessage, readAttempts, resendMessage } from "./cancel-and-resend.ts";
import { answeredBody, chatPatch, labelChat, markAnswered, markUnanswered, patchChat } from "./change-chat.ts";
import type { ChatsEnv } from "./context.ts";
import { createChat, newChatBody } from "./create-chat.ts";
import { readChat } from "./get-chat.ts";
import { handOver, handoverBody } from "./hand-over.ts";
import { readIdempotencyKey } from "./idempotency.ts";
import { chatsQuery, readChats, readChatsAhead } from "./list-chats.ts";
import { messagesQuery, readMessages, readMessagesAhead } from "./list-messages.ts";
import { listScheduled } from "./list-scheduled.ts";
import { readMedia } from "./media.ts";
import { addNote, deleteNote, listNotes, noteBody, notesQuery } from "./notes.ts";
import { sendMessage } from "./send-message.ts";
import { uploadMedia, uploadQuery } from "./upload-media.ts";

const searchOfChats = auditedSearch(keyAccess, "chat.search", chatsQuery);
const searchOfMessages = auditedSearch(keyAccess, "message.search", messagesQuery);

/** Chats and their messages, for the clients of an organization. */
export const chatRoutes = new Hono<ChatsEnv>()
  .get("/chats", requirePermission("chats:read", readChatsAhead), searchOfChats, async (c) => {
    return jsonOrNotModified(c, await readChats(c));
  })
  .post("/chats", daily("chats:write", "chat.create", { body: newChatBody }), async (c) => {
    const { chat, created } = await createChat(c.env, c.var.caller, c.req.valid("json"));
    if (c.var.act) c.var.act.target = chat.id;
    return c.json({ chat: shownChat(c.var.caller, chat, created) }, created ? 201 : 200);
  })
  .get("/chats/:id", requirePermission("chats:read"), noQuery, async (c) => {
    const { chat } = await readChat(c.env, c.var.caller, c.req.param("id"));
    return c.json({ chat: shownChat(c.var.caller, chat) });
  })
  .patch("/chats/:id", daily("chats:write", null, { body: chatPatch }), async (c) => {
    const chat = await patchChat(c.env, c.var.caller, c.req.param("id"), c.req.valid("json"));
    return c.json({ chat: shownChat(c.var.caller, chat) });
  })
  .post("/chats/:id/answered", daily("chats:write", null, { body: answeredBody, mayBeEmpty: true }), async (c) => {
    const chat = await markAnswered(c.env, c.var.caller, c.req.param("id"), c.req.valid("json"));
    return c.json({ chat: shownChat(c.var.caller, chat) });
  })
  .delete("/chats/:id/answered", daily("chats:write", null), async (c) => {
    const chat = await markUnanswered(c.env, c.var.caller, c.req.param("id"));
    return c.json({ chat: shownChat(c.var.caller, chat) });
  })
  .post("/chats/:id/handover", daily("chats:write", null, { body: handoverBody }), async (c) => {
    const request = { body: c.req.valid("json"), idempotencyKey: readIdempotencyKey(c), url: c.req.url };
    const { chat, doc, replayed } = await handOver(c.env, c.executionCtx, c.var.caller, c.req.param("id"), request);
    if (replayed) c.header("Idempotent-Replayed", "true");
    const message = doc === null ? null : JSON.parse(shownMessage(c.var.caller, doc));
    return c.json({ chat: shownChat(c.var.caller, chat), message });
  })
  .put("/chats/:id/labels/:labelId", daily("chats:write", null), async (c) => {
    const chat = await labelChat(c.env, c.var.caller, c.req.param("id"), c.req.param("labelId"), true);
    return c.json({ chat: shownChat(c.var.caller, chat) });
  })
  .delete("/chats/:id/labels/:labelId", daily("chats:write", null), async (c) => {
    const chat = await labelChat(c.env, c.var.caller, c.req.param("id"), c.req.param("labelId"), false);
    return c.json({ chat: shownChat(c.var.caller, chat) });
  })
  .get("/chats/:id/messages", requirePermission("messages:read", readMessagesAhead), searchOfMessages, async (c) => {
    return jsonOrNotModified(c, await readMessages(c, c.req.param("id")));
  })
  .get("/chats/:id/messages/:messageId", requirePermission("messages:read"), noQuery, async (c) => {
    const answer = await callChat(c.env, c.var.caller, c.req.param("id"), (chat, as) =>
      chat.get(as, c.req.param("messageId")),
    );
    if (answer.outcome === "no_message") throw new ApiError("message_not_found");
    return json(c, `{"message":${answer.doc}}`);
  })
  .patch("/chats/:id/messages/:messageId", daily("contact:reach", null, { body: messagePatch }), async (c) => {
    const ids = { chatId: c.req.param("id"), messageId: c.req.param("messageId") };
    const doc = await moveMessage(c.env, c.var.caller, ids, c.req.valid("json"));
    return json(c, `{"message":${shownMessage(c.var.caller, doc)}}`);
  })
  .get("/chats/:id/scheduled", requirePermission("messages:read"), validQuery(afterQuery), async (c) => {
    return json(c, await listScheduled(c.env, c.var.caller, c.req.param("id"), c.req.valid("query")));
  })
  .post("/chats/:id/messages/:messageId/cancel", daily("contact:reach", null), async (c) => {
    const ids = { chatId: c.req.param("id"), messageId: c.req.param("messageId") };
    return json(c, `{"message":${shownMessage(c.var.caller, await cancelMessage(c.env, c.var.caller, ids))}}`);
  })
  .post(
    "/chats/:id/messages/:messageId/resend",
    daily("contact:reach", null, { body: resendBody, mayBeEmpty: true }),
    async (c) => {
      const ids = { chatId: c.req.param("id"), messageId: c.req.param("messageId") };
      const sent = await resendMessage(c.env, c.executionCtx, c.var.caller, ids, c.req.valid("json"));
      return created(c, `{"message":${shownMessage(c.var.caller, sent.doc)}}`, sent.replayed);
    },
  )
  .put("/chats/:id/messages/:messageId/reaction", daily("contact:reach", null, { body: reactionBody }), async (c) => {
    const ids = { chatId: c.req.param("id"), messageId: c.req.param("messageId") };
    const doc = await react(c.env, c.var.caller, ids, c.req.valid("json").emoji);
    return json(c, `{"message":${shownMessage(c.var.caller, doc)}}`);
  })
  .delete("/chats/:id/messages/:messageId/reaction", daily("contact:reach", null), async (c) => {
    const ids = { chatId: c.req.param("id"), messageId: c.req.param("messageId") };
    return json(c, `{"message":${shownMessage(c.var.caller, await react(c.env, c.var.caller, ids, null))}}`);
  })
  .post("/chats/:id/read", daily("contact:reach", null, { body: readBody }), async (c) => {
    const { messageId } = c.req.valid("json");
    return c.json({ shown: await markRead(c.env, c.var.caller, c.req.param("id"), messageId) });
  })
  .post("/chats/:id/typing", daily("contact:reach", null, { body: typingBody, mayBeEmpty: true }), async (c) => {
    return c.json({ shown: await showTyping(c.env, c.var.caller, c.req.param("id")) });
  })
  .get("/chats/:id/messages/:messageId/attempts", requirePermission("messages:read"), noQuery, async (c) => {
    const ids = { chatId: c.req.param("id"), messageId: c.req.param("messageId") };
    return c.json(await readAttempts(c.env, c.var.caller, ids));
  })
  .get("/chats/:id/messages/:messageId/media", requirePermission("messages:read"), noQuery, (c) =>
    readMedia(c.env, c.var.caller, { chatId: c.req.param("id"), messageId: c.req.param("messageId") }, c.req.raw),
  )
  .get("/chats/:id/notes", requirePermission("notes:read"), validQuery(notesQuery), async (c) => {
    return json(c, await listNotes(c.env, c.var.caller, c.req.param("id"), c.req.valid("query")));
  })
  .post("/chats/:id/notes", daily("notes:write", null, { body: noteBody }), async (c) => {
    const idempotencyKey = readIdempotencyKey(c);
    const { doc, replayed } = await addNote(
      c.env,
      c.var.caller,
      c.req.param("id"),
      c.req.valid("json"),
      idempotencyKey,
    );
    return created(c, `{"note":${shownNote(c.var.caller, doc, true)}}`, replayed);
  })
  .delete("/chats/:id/notes/:noteId", daily("notes:delete", null), async (c) => {
    const ids = { chatId: c.req.param("id"), noteId: c.req.param("noteId") };
    return json(c, `{"note":${shownNote(c.var.caller, await deleteNote(c.env, c.var.caller, ids))}}`);
  })
  .post("/chats/:id/media", daily("messages:send", null, { query: uploadQuery }), async (c) => {
    const { fileName = null } = c.req.valid("query");
    const given = { fileName, idempotencyKey: readIdempotencyKey(c) };
    const refusal = () => refusalNow(c, "messages:send");
    const { doc, replayed } = await uploadMedia(c.env, c.var.caller, c.req.param("id"), c.req.raw, given, refusal);
    return created(c, `{"media":${doc}}`, replayed);
  })
  .post("/chats/:id/messages", daily("contact:reach", null, { body: sendBody }), async (c) => {
    const body = c.req.valid("json");
    const idempotencyKey = readIdempotencyKey(c);
    const sent = await sendMessage(c.env, c.executionCtx, c.var.caller, c.req.param("id"), {
      body,
      idempotencyKey,
      url: c.req.url,
    });
    const doc = shownSend(c.var.caller, sent);
    return created(c, `{"message":${doc}}`, sent.replayed);
  });
