import { FOLDING_VERSION } from "../../model/folding.ts";

/**
 * The schema of an organization's object, in steps. An object runs the steps that it has not run yet, and keeps its data.
 * After a release, add steps and never change one. A step only adds nullable columns or tables: during a deploy, old
 * code meets new rows. Times are Unix milliseconds.
 */
export const ORGANIZATION_SCHEMA = [
  `create table channels (
     id text primary key,
     kind text not null,
     name text not null,
     created_at integer not null,
     -- How many chats it has, without those that are being deleted.
     chats integer not null default 0,
     -- How many chats it may have; null for no limit.
     chat_limit integer,
     -- 1 once it is being deleted. The row stays, so that a late call can't create a chat in it.
     closed integer not null default 0,
     -- How many of its chats wait for an answer, and how many have a scheduled message.
     unanswered integer not null default 0,
     scheduled integer not null default 0,
     -- How many messages wait in its chats.
     depth integer not null default 0,
     -- ChannelCounts as JSON.
     attempts text not null default '{}',
     -- ChannelHealth as JSON; null until the channel's object reports it.
     health text,
     -- When the depth or the counts changed last.
     counted_at integer,
     -- Its counts by hour and by day: History as JSON.
     history text,
     -- ChatRetention as JSON; null if the channel never had one.
     retention text,
     -- Set while chats are notified of a change: the walk's place, as JSON.
     retention_walk text
   ) without rowid;
   create table chats (
     id text primary key,
     channel_id text not null,
     -- 'created', 'adopted' by its object, or 'deleting'.
     state text not null,
     -- Grows each time that an address gets a new chat.
     life integer not null,
     address text not null,
     -- The contact's other addresses, as JSON; null if there are none.
     others text,
     name text,
     metadata text not null,
     created_at integer not null,
     -- The time of the last message, or of the creation if there is none; null while the chat is being deleted.
     active_at integer,
     last_message_at integer,
     -- LastMessage as JSON.
     last_message text,
     -- When the contact wrote the first message that the organization has not answered.
     unanswered_since integer,
     -- When the chat's next scheduled message is due.
     next_scheduled_at integer,
     -- The seq up to which a client has read; null if none has.
     read_up_to integer,
     -- The number of the chat's last report, and what it said of its queue.
     report integer not null default 0,
     depth integer not null default 0,
     oldest integer,
     attempts text not null default '{}',
     -- The last of its events that the feed points to.
     events integer not null default 0,
     -- The same when the chat first got a list of webhooks; null once it has the list.
     told_after integer
   ) without rowid;
   -- GET /chats, latest activity first.
   create index chats_by_activity on chats (active_at, id) where active_at is not null;
   -- GET /chats of a channel; also finds the chats of a channel that is being deleted.
   create index chats_by_channel on chats (channel_id, active_at, id) where active_at is not null;
   -- GET /chats?unanswered=true and ?scheduled=true. The channel is in them so that a filter reads no row of a chat.
   create index chats_unanswered on chats (unanswered_since, id, channel_id) where unanswered_since is not null;
   create index chats_scheduled on chats (next_scheduled_at, id, channel_id) where next_scheduled_at is not null;
   -- Finds the chats that no object has adopted yet.
   create index chats_created on chats (created_at) where state = 'created';
   -- Finds the chats whose deletion was interrupted.
   create index chats_deleting on chats (channel_id) where state = 'deleting';
   -- Finds a channel's oldest waiting message.
   create index chats_waiting on chats (channel_id, oldest) where oldest is not null;
   create table addresses (
     channel_id text not null,
     address text not null,
     chat_id text not null,
     primary key (channel_id, address)
   ) without rowid;
   create table keys (
     id text primary key,
     -- RequestCounts as JSON.
     counts text not null,
     at integer not null,
     -- Its requests by hour and by day: History as JSON.
     history text
   ) without rowid;
   -- The tables of the feed, feed_<day>, and the first position in each. The day, counted from 1970, is a number: a
   -- further table of a day has the next one.
   create table feed_days (
     day integer primary key,
     first integer not null,
     -- When the table began.
     since integer not null
   );
   -- The events of the organization itself.
   create table own_events (
     n integer primary key,
     type text not null,
     -- Its facts, as JSON.
     note text not null,
     -- What made it: one source makes one event.
     source text,
     at integer not null
   );
   -- The audit log.
   create table audit (
     -- Sorts by the time of the act, which it contains.
     id text primary key,
     actor_type text not null,
     actor_id text not null,
     actor_name text not null,
     -- Who made the sign-in link with which the actor's session began; null if none did.
     link_by text,
     action text not null,
     target text,
     -- Null until the act ends.
     status integer,
     request_id text not null,
     -- Names of fields, as JSON.
     changed text not null,
     -- How many requests the row stands for; null for one.
     count integer,
     -- What the requests of the row have in common: see mergedBy in audit-log.ts. Null for a row of one request.
     merged text
   ) without rowid;
   create unique index audit_merged on audit (merged) where merged is not null;
   -- How many rows each actor wrote on its last day, and with an empty id the organization. A day is counted from 1970.
   create table audit_days (
     actor_id text primary key,
     day integer not null,
     rows integer not null
   ) without rowid;
   -- GET /chats?search=. The terms are those of termsOf in contact-search.ts; kind: 0 for an address, 1 for a name.
   create table contact_terms (
     kind integer not null,
     term text not null,
     chat_id text not null,
     -- So that a filter reads no row of a chat.
     channel_id text not null,
     primary key (kind, term, chat_id)
   ) without rowid;
   -- The version of the folding that made the terms.
   create table contact_folding (version integer not null);
   insert into contact_folding (version) values (${FOLDING_VERSION});
   -- The last chat whose terms are filled in. It has a row only after a new folding, until all are.
   create table contact_fill (after text not null);
   -- The chats for whose object a step of the background work failed.
   create table retries (
     chat_id text not null,
     -- 'adopt', 'delete', 'free' or 'retain'.
     work text not null,
     -- How often it failed, and when it is tried again.
     tries integer not null,
     next_at integer not null,
     primary key (chat_id, work)
   ) without rowid;
   create index retries_due on retries (work, next_at);
   -- The chats whose objects could not be read lately: since when, and when that was last seen.
   create table unreadable_chats (
     chat_id text primary key,
     since integer not null,
     at integer not null
   ) without rowid;
   -- Sessions of members that ended before their time.
   create table session_ends (
     member_id text not null,
     -- A session's id; empty for all of the member's sessions that began by since.
     session_id text not null,
     since integer,
     -- When the sessions would have ended anyway.
     until integer not null,
     primary key (member_id, session_id)
   ) without rowid;
   -- Finds the rows that no longer mean anything.
   create index session_ends_by_time on session_ends (until);`,
  `-- The member whose chat it is; null for nobody.
   alter table chats add column assignee text;
   -- The counts of members that it said: MemberCounts as JSON; null if it never said any.
   alter table chats add column members text;
   -- The last columns are in the indexes so that a filter reads no row of a chat.
   drop index chats_by_activity;
   create index chats_by_activity on chats (active_at, id, assignee, channel_id) where active_at is not null;
   drop index chats_unanswered;
   create index chats_unanswered on chats (unanswered_since, id, assignee, channel_id) where unanswered_since is not null;
   -- GET /chats?assignee= of a member. A chat that is nobody's costs no row.
   create index chats_by_assignee on chats (assignee, active_at, id, channel_id)
     where assignee is not null and active_at is not null;
   -- Members that were removed, or may be, so that their chats are freed and their numbers deleted.
   create table leaving_members (
     id text primary key,
     -- When the directory is asked whether the member was removed, or the row goes.
     at integer not null,
     is_removed integer not null
   ) without rowid;
   create table members (
     id text primary key,
     -- What it did by hour and by day: History as JSON.
     history text not null
   ) without rowid;`,
  `-- How many chats are the member's, and how many of them wait for an answer.
   alter table members add column chats integer not null default 0;
   alter table members add column unanswered integer not null default 0;
   insert into members (id, history, chats, unanswered)
     select assignee, '{"hour":{},"day":{}}', count(*), count(unanswered_since) from chats
     where assignee is not null and active_at is not null group by assignee
     on conflict do update set chats = excluded.chats, unanswered = excluded.unanswered;`,
  `-- The version of the list of webhooks that \`told_after\` is about.
   alter table chats add column told_version text;`,
  `-- The greatest number of a move of its chats: see ChannelTable.lastMove.
   alter table channels add column moves integer not null default 0;
   -- The numbers of the chat's last moves in the lists of unanswered and of scheduled chats, and in searches.
   alter table chats add column unanswered_move integer;
   alter table chats add column scheduled_move integer;
   alter table chats add column name_move integer;
   -- The last column is in the indexes so that a walk reads no row of a chat that it leaves out.
   drop index chats_unanswered;
   create index chats_unanswered on chats (unanswered_since, id, assignee, channel_id, unanswered_move)
     where unanswered_since is not null;
   drop index chats_scheduled;
   create index chats_scheduled on chats (next_scheduled_at, id, channel_id, scheduled_move)
     where next_scheduled_at is not null;`,
  `-- When the chat has other work at a later time: ChatState.nextDueAt.
   alter table chats add column next_due_at integer;
   -- Finds the chats whose work is overdue.
   create index chats_due on chats (next_due_at, id) where next_due_at is not null;`,
  `-- The contact's public name on the network.
   alter table chats add column username text;
   -- Other chats of the contact, which began before the network said so: ids as JSON; null if there are none.
   alter table chats add column same_as text;`,
  `-- When the contact last wrote; null if it never did, and until a chat of an earlier version reports again.
   alter table chats add column contact_wrote_at integer;
   -- What is known of the chats whose network may take free text now.
   update chats set contact_wrote_at =
       case when last_message ->> '$.direction' = 'INBOUND' then last_message_at else unanswered_since end
     where active_at > (unixepoch() - 86400) * 1000;
   -- Marketing as JSON; null if nobody has said anything.
   alter table chats add column marketing text;`,
];
