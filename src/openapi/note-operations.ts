import * as z from "zod";
import { MAX_MENTIONS, noteBody, notesQuery } from "../chats/notes.ts";
import { MAX_CONTENT } from "../model/message.ts";
import { MAX_DRAFTS, MAX_NOTES } from "../model/note.ts";
import { examples } from "./examples.ts";
import { jsonResponse, tagged } from "./operation.ts";
import { walkResponse } from "./operator/lists.ts";
import { noteSchema } from "./resources.ts";
import { idempotencyKey, replayed } from "./uploads.ts";

const { note } = examples;
const oneNote = z.object({ note: noteSchema });

export const NOTE_OPERATIONS = tagged("Notes", [
  {
    route: "GET /chats/{id}/notes",
    id: "listNotes",
    summary: "List notes",
    description: "Lists a chat's notes, newest first. Deleted notes are not in the list.",
    query: {
      schema: notesQuery,
      descriptions: {
        limit: "The maximum number of rows on a page.",
        before: "The `cursor` of the previous page.",
      },
    },
    responses: walkResponse("notes", noteSchema, note),
  },
  {
    route: "POST /chats/{id}/notes",
    id: "addNote",
    summary: "Add a note",
    description: `Stores a note about the chat. A note is not a message: it has no \`seq\`, no list of messages shows it, and it is never sent to a network or a contact. A chat has at most ${MAX_NOTES.toLocaleString("en")} notes, besides drafts. The events \`note.created\` and \`note.deleted\` say who wrote the note and whom it mentions, but not what it says.`,
    headers: [
      idempotencyKey(
        "note-4711",
        "Makes adding a note safe to repeat. The same key in the same chat returns the first note again. The keys of notes and of messages are separate. The key of a deleted note counts for 30 more days.",
      ),
    ],
    body: {
      name: "NewNote",
      description: "The note.",
      schema: noteBody,
      descriptions: {
        content: `What it says: 1 to ${MAX_CONTENT.toLocaleString("en")} characters.`,
        mentions: `The ids of members whom it is for: at most ${MAX_MENTIONS}, each with the permission \`notes:read\`.`,
        draft: `\`true\`: it is a draft of a message, which a person sends, changes or deletes. Each key or member has one in a chat: the next replaces it. A chat has at most ${MAX_DRAFTS}.`,
      },
      example: { content: note.content, mentions: note.mentions },
    },
    responses: [jsonResponse(201, "The stored note.", oneNote, { note }, replayed("stored the note"))],
    errors: ["missing_field", "note_limit", "chat_full", "idempotency_mismatch"],
  },
  {
    route: "DELETE /chats/{id}/notes/{noteId}",
    id: "deleteNote",
    summary: "Delete a note",
    description:
      "Deletes a note and its text. Its author can delete it, and so can anyone who may delete the chat. Anyone with `notes:write` can delete a draft. For anyone else, the response is a 403.",
    responses: [
      jsonResponse(200, "The deleted note, which is blank.", oneNote, {
        note: { ...note, content: "", deletedAt: "2026-11-20T10:04:09.300Z" },
      }),
    ],
  },
]);
