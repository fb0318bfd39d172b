/**
 * The schema, as migration steps. An object runs the steps that it has not run yet. After a release, add steps and never
 * change one. A step may only add tables and nullable columns, because old code reads new rows during a deploy.
 */
export const CHAT_SCHEMA = [
  `create table messages (
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
     -- JSON of delivery/row.ts; null if no network delivers the message.
     delivery text,
     media text
   );
   -- Finds the message that an idempotency key or an inbound id stored first.
   create unique index messages_by_dedupe on messages (dedupe) where dedupe is not null;
   create table events (
     n integer primary key,
     type text not null,
     -- The message that the event is about; null if it is about none.
     seq integer,
     -- Further facts as JSON, for example a status. Never a text.
     note text,
     -- Unix milliseconds.
     at integer not null
   );`,
];
