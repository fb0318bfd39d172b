/**
 * The tables of a chat with their indexes. Each is created before its first row: an empty table costs two rows written
 * and 4 KiB, an index one and 4 KiB, and most chats never need most of them. Comments stand outside of the statements:
 * they would be part of the Worker, and of each chat.
 */
export const CHAT_TABLES = {
  // - doc: The message's public JSON. SQLite joins pages from it.
  // - queued: How many messages up to this one were queued when stored. The difference of two rows is the number between
  //   them.
  // - delivery: JSON of delivery-column.ts; null if no network delivers the message.
  // - scheduled_id: The id of a message that was scheduled. It does not end with the message's seq.
  // - expires_at: From then on no attempt begins, in Unix milliseconds; null for never.
  // - edit_heard_at, reaction_heard_at: The contact's latest edit and reaction that changed nothing, in Unix
  //   milliseconds; see heard-changes.ts.
  // - named: 1 if a member's session sent it, or the request named its sender: it counts in the member's numbers.
  // - by_bot: 1 if the key of the channel's bot sent it.
  // - answers_nothing: 1 if it leaves the contact waiting: the message of a handover, or an away message.
  // - messages_by_dedupe: Finds the message that an idempotency key or an inbound id stored first.
  messages: `create table messages (
     seq integer primary key,
     doc text not null,
     status text generated always as (doc ->> '$.status') virtual,
     dedupe text,
     fingerprint text,
     template text,
     redacted_at integer,
     queued integer not null default 0,
     delivery text,
     media text,
     scheduled_id text,
     expires_at integer,
     edit_heard_at integer,
     reaction_heard_at integer,
     named integer,
     by_bot integer,
     answers_nothing integer
   );
   create unique index messages_by_dedupe on messages (dedupe) where dedupe is not null;
   create unique index messages_by_scheduled_id on messages (scheduled_id) where scheduled_id is not null;`,
  // What happened, in order. The first event, `chat.created`, is a row only once another one follows: see EventLog.
  // - seq: The message that the event is about; null if it is about none.
  // - note: Further facts as JSON, for example a status. Never a text.
  // - at: Unix milliseconds.
  events: `create table events (
     n integer primary key,
     type text not null,
     seq integer,
     note text,
     at integer not null
   );`,
  // Messages that wait for their time. They have no place in the chat.
  // - doc: The message's public JSON.
  // - due_at, turn: When it takes its place, in Unix milliseconds, and in which order if several do at once.
  // - media: JSON of the file that it sends; null if it sends none.
  // - moved: The number of the event with which the message last got another time; null if it has its first one.
  // - if_open: 1 if the message takes its place only while the network takes free text.
  // - by_bot: 1 if the key of the channel's bot sent it: it takes its place only while the bot has the chat.
  scheduled: `create table scheduled (
     id text primary key,
     doc text not null,
     due_at integer not null,
     turn integer not null,
     dedupe text,
     fingerprint text,
     template text,
     media text,
     named integer,
     moved integer,
     if_open integer,
     by_bot integer
   ) without rowid;`,
  // Messages that ended without a place, oldest first. They are kept for 30 days.
  // - redacted_by: The name of the request that redacted it; null if it was not redacted.
  // - ended_at: Unix milliseconds.
  unplaced: `create table unplaced (
     n integer primary key,
     id text not null unique,
     doc text not null,
     dedupe text,
     fingerprint text,
     template text,
     media text,
     redacted_by text,
     ended_at integer not null
   );
   create unique index unplaced_by_dedupe on unplaced (dedupe) where dedupe is not null;`,
  // Files that no message shows, and those that several do. Their bytes are in R2.
  // - meta: JSON of files/file-rows.ts.
  // - delete_at: When the bytes go, in Unix milliseconds.
  files: `create table files (
     id text primary key,
     meta text not null,
     delete_at integer not null
   ) without rowid;`,
  // Uploads with an idempotency key.
  // - doc: What the client was answered; null while the upload is under way.
  uploads: `create table uploads (
     dedupe text primary key,
     id text not null,
     size integer not null,
     doc text
   ) without rowid;`,
  // What the company wrote elsewhere while the chat did not know what became of a message of its own; see echoes.ts.
  // - network_id: The id at the network.
  // - draft: JSON of the draft.
  // - held_at: Unix milliseconds.
  held: `create table held (
     n integer primary key,
     network_id text not null,
     draft text not null,
     held_at integer not null
   );`,
  // Notes of the company. They are not messages.
  // - doc: The note's public JSON; blank once it is deleted.
  // - created_at: Unix milliseconds.
  notes: `create table notes (
     n integer primary key,
     id text not null unique,
     doc text not null,
     dedupe text,
     fingerprint text,
     created_at integer not null,
     deleted_at integer
   );
   create unique index notes_by_dedupe on notes (dedupe) where dedupe is not null;`,
  // Messages whose text changed, or went, since they went to the search index; see search-corrections.ts.
  reworded: `create table reworded (
     n integer primary key,
     seq integer not null
   );`,
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
  { messages: "by_bot integer", scheduled: "by_bot integer" },
  { messages: "answers_nothing integer" },
];
