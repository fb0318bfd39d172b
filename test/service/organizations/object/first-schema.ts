/** The tables of an organization's object as the first release made them. Objects of that time run all later steps. */
export const FIRST_SCHEMA = `
   create table channels (
     id text primary key,
     kind text not null,
     name text not null,
     created_at integer not null,
     chats integer not null default 0,
     chat_limit integer,
     closed integer not null default 0,
     unanswered integer not null default 0,
     scheduled integer not null default 0,
     depth integer not null default 0,
     attempts text not null default '{}',
     health text,
     counted_at integer,
     history text,
     retention text,
     retention_walk text
   ) without rowid;
   create table chats (
     id text primary key,
     channel_id text not null,
     state text not null,
     life integer not null,
     address text not null,
     others text,
     name text,
     metadata text not null,
     created_at integer not null,
     active_at integer,
     last_message_at integer,
     last_message text,
     unanswered_since integer,
     next_scheduled_at integer,
     read_up_to integer,
     report integer not null default 0,
     depth integer not null default 0,
     oldest integer,
     attempts text not null default '{}',
     events integer not null default 0,
     told_after integer
   ) without rowid;
   create index chats_by_activity on chats (active_at, id) where active_at is not null;
   create index chats_by_channel on chats (channel_id, active_at, id) where active_at is not null;
   create index chats_unanswered on chats (unanswered_since, id, channel_id) where unanswered_since is not null;
   create index chats_scheduled on chats (next_scheduled_at, id, channel_id) where next_scheduled_at is not null;
   create index chats_created on chats (created_at) where state = 'created';
   create index chats_deleting on chats (channel_id) where state = 'deleting';
   create index chats_waiting on chats (channel_id, oldest) where oldest is not null;
   create table addresses (
     channel_id text not null,
     address text not null,
     chat_id text not null,
     primary key (channel_id, address)
   ) without rowid;
   create table keys (
     id text primary key,
     counts text not null,
     at integer not null,
     history text
   ) without rowid;
   create table feed_days (
     day integer primary key,
     first integer not null,
     since integer not null
   );
   create table own_events (
     n integer primary key,
     type text not null,
     note text not null,
     source text,
     at integer not null
   );
   create table audit (
     id text primary key,
     actor_type text not null,
     actor_id text not null,
     actor_name text not null,
     link_by text,
     action text not null,
     target text,
     status integer,
     request_id text not null,
     changed text not null,
     count integer,
     merged text
   ) without rowid;
   create unique index audit_merged on audit (merged) where merged is not null;
   create table audit_days (
     actor_id text primary key,
     day integer not null,
     rows integer not null
   ) without rowid;
   create table contact_terms (
     kind integer not null,
     term text not null,
     chat_id text not null,
     channel_id text not null,
     primary key (kind, term, chat_id)
   ) without rowid;
   create table contact_folding (version integer not null);
   insert into contact_folding (version) values (1);
   create table contact_fill (after text not null);
   create table retries (
     chat_id text not null,
     work text not null,
     tries integer not null,
     next_at integer not null,
     primary key (chat_id, work)
   ) without rowid;
   create index retries_due on retries (work, next_at);
   create table unreadable_chats (
     chat_id text primary key,
     since integer not null,
     at integer not null
   ) without rowid;
   create table session_ends (
     member_id text not null,
     session_id text not null,
     since integer,
     until integer not null,
     primary key (member_id, session_id)
   ) without rowid;
   create index session_ends_by_time on session_ends (until);
`;
