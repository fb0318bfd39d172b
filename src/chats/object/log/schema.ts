/**
 * The tables of a chat with their indexes. Each is created before its first row: an empty table costs two rows written
 * and 4 KiB, an index one and 4 KiB, and most chats never need most of them.
 */
export const CHAT_TABLES = {
  messages: `create table messages (
     seq integer primary key,
     -- The message's public JSON. SQLite joins pages from it.
     doc text not null,
     status text generated always as (doc ->> '$.status') virtual,
     dedupe text,
     fingerprint text,
     template text,
     redacted_at integer,
     -- How many messages up to this one were queued when stored. The difference of two rows is the number between them.
     queued integer not null default 0,
     -- JSON of delivery-column.ts; null if no network delivers the message.
     delivery text,
     media text,
     -- The id of a message that was scheduled. It does not end with the message's seq.
     scheduled_id text,
     -- From then on no attempt begins, in Unix milliseconds; null for never.
     expires_at integer,
     -- The contact's latest edit and reaction that changed nothing, in Unix milliseconds; see heard-changes.ts.
     edit_heard_at integer,
     reaction_heard_at integer,
     -- 1 if a member's session sent it, or the request named its sender: it counts in the member's numbers.
     named integer
   );
   -- Finds the message that an idempotency key or an inbound id stored first.
   create unique index messages_by_dedupe on messages (dedupe) where dedupe is not null;
   create unique index messages_by_scheduled_id on messages (scheduled_id) where scheduled_id is not null;`,
  // What happened, in order. The first event, `chat.created`, is a row only once another one follows: see EventLog.
  events: `create table events (
     n integer primary key,
     type text not null,
     -- The message that the event is about; null if it is about none.
     seq integer,
     -- Further facts as JSON, for example a status. Never a text.
     note text,
     -- Unix milliseconds.
     at integer not null
   );`,
  // Messages that wait for their time. They have no place in the chat.
  scheduled: `create table scheduled (
     id text primary key,
     -- The message's public JSON.
     doc text not null,
     -- When it takes its place, in Unix milliseconds, and in which order if several do at once.
     due_at integer not null,
     turn integer not null,
     dedupe text,
     fingerprint text,
     template text,
     -- JSON of the file that it sends; null if it sends none.
     media text,
     named integer,
     -- The number of the event with which the message last got another time; null if it has its first one.
     moved integer,
     -- 1 if the message takes its place only while the network takes free text.
     if_open integer
   ) without rowid;`,
  // Messages that ended without a place, oldest first. They are kept for 30 days.
  unplaced: `create table unplaced (
     n integer primary key,
     id text not null unique,
     doc text not null,
     dedupe text,
     fingerprint text,
     template text,
     media text,
     -- The name of the request that redacted it; null if it was not redacted.
     redacted_by text,
     -- Unix milliseconds.
     ended_at integer not null
   );
   create unique index unplaced_by_dedupe on unplaced (dedupe) where dedupe is not null;`,
  // Files that no message shows, and those that several do. Their bytes are in R2.
  files: `create table files (
     id text primary key,
     -- JSON of files/file-rows.ts.
     meta text not null,
     -- When the bytes go, in Unix milliseconds.
     delete_at integer not null
   ) without rowid;`,
  // Uploads with an idempotency key.
  uploads: `create table uploads (
     dedupe text primary key,
     id text not null,
     size integer not null,
     -- What the client was answered; null while the upload is under way.
     doc text
   ) without rowid;`,
  // What the company wrote elsewhere while the chat did not know what became of a message of its own; see echoes.ts.
  held: `create table held (
     n integer primary key,
     -- The id at the network.
     network_id text not null,
     -- JSON of the draft.
     draft text not null,
     -- Unix milliseconds.
     held_at integer not null
   );`,
  // Notes of the company. They are not messages.
  notes: `create table notes (
     n integer primary key,
     id text not null unique,
     -- The note's public JSON; blank once it is deleted.
     doc text not null,
     dedupe text,
     fingerprint text,
     -- Unix milliseconds.
     created_at integer not null,
     deleted_at integer
   );
   create unique index notes_by_dedupe on notes (dedupe) where dedupe is not null;`,
} as const;

export type ChatTableName = keyof typeof CHAT_TABLES;

/**
 * The columns that later versions added, for the chats that have the table already. The first step leads from version 1
 * to 2. After a release, add steps, change `CHAT_TABLES` in the same way, and never change a step. A column must be
 * nullable, because old code reads and writes new tables during a deploy.
 */
export const CHAT_STEPS: readonly Partial<Record<ChatTableName, string>>[] = [
  { messages: "named integer", scheduled: "named integer" },
  { scheduled: "moved integer" },
  { scheduled: "if_open integer" },
];
