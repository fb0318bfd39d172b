/**
 * `chats` gives a chat a number, because its id is long, and says of which of its lives the messages are. `messages.id` is ordered by seconds, see `MessageTable`.
 * `gram_tables` describes the tables of FTS5, which `GramTables` creates; its `characters` is their weight, and `removals` says how many messages each lost.
 * The first step is the whole schema, for a new object.
 */
export const INDEX_SCHEMA = [
  `create table chats (number integer primary key, id text not null unique, life integer not null);
  create table messages (id integer primary key, chat integer not null, seq integer not null, at integer not null,
    gram_table integer not null, unique (chat, seq));
  create table gram_tables (number integer primary key, messages integer not null, characters integer not null,
    low integer not null, high integer not null, shift integer not null);
  create table removals (gram_table integer primary key, messages integer not null)`,
  // A table of its own, because older code, to which a service can return, names no columns when it writes `gram_tables`.
  "create table removals (gram_table integer primary key, messages integer not null)",
] as const;
