import { FOLDING_VERSION } from "../../model/folding.ts";
import { SCHEMA_UPDATES } from "./schema-updates.ts";

/**
 * The schema of an organization's object. A new object runs the first step, the whole schema. An older one keeps its data
 * and runs the updates that it has not run yet. Comments stand outside of the statements: they would be part of the
 * Worker, and of each object. Times are Unix milliseconds.
 */
export const ORGANIZATION_SCHEMA = [
  // - channels.chats: How many chats it has, without those that are being deleted.
  // - channels.chat_limit: How many chats it may have; null for no limit.
  // - channels.closed: 1 once it is being deleted. The row stays, so that a late call can't create a chat in it.
  // - channels.unanswered: How many of its chats wait for an answer, and how many have a scheduled message.
  // - channels.depth: How many messages wait in its chats.
  // - channels.attempts: ChannelCounts as JSON.
  // - channels.health: ChannelHealth as JSON; null until the channel's object reports it.
  // - channels.counted_at: When the depth or the counts changed last.
  // - channels.history: Its counts by hour and by day: History as JSON.
  // - channels.retention: ChatRetention as JSON; null if the channel never had one.
  // - channels.retention_walk: Set while chats are notified of a change: the walk's place, as JSON.
  // - channels.moves: The greatest number of a move of its chats: see ChannelTable.lastMove.
  // - channels.unanswered_not_open: How many of its unanswered chats are snoozed or closed.
  // - channels.bot: KnownBot as JSON; null if it has none.
  // - channels.bot_version: See KnownChannel.
  // - channels.open_of_bot: How many of its open chats the bot has.
  // - channels.unanswered_of_bot: How many of these are unanswered.
  // - chats.state: 'created', 'adopted' by its object, or 'deleting'.
  // - chats.life: Grows each time that an address gets a new chat.
  // - chats.others: The contact's other addresses, as JSON; null if there are none.
  // - chats.active_at: The time of the last message, or of the creation if there is none; null while the chat is being
  //   deleted.
  // - chats.last_message: LastMessage as JSON.
  // - chats.unanswered_since: When the contact wrote the first message that the organization has not answered.
  // - chats.next_scheduled_at: When the chat's next scheduled message is due.
  // - chats.read_up_to: The seq up to which a client has read; null if none has.
  // - chats.report: The number of the chat's last report, and what it said of its queue.
  // - chats.events: The last of its events that the feed points to.
  // - chats.told_after: The same when the chat first got a list of webhooks; null once it has the list.
  // - chats.told_version: The version of that list.
  // - chats.assignee: The member whose chat it is; null for nobody.
  // - chats.members: The counts of members that it said: MemberCounts as JSON; null if it never said any.
  // - chats.unanswered_move: The numbers of the chat's last moves in the lists of unanswered and of scheduled chats,
  //   and in searches.
  // - chats.next_due_at: When the chat has other work at a later time: ChatState.nextDueAt.
  // - chats.username: The contact's public name on the network.
  // - chats.same_as: Other chats of the contact, which began before the network said so: ids as JSON; null if there are
  //   none.
  // - chats.contact_wrote_at: When the contact last wrote; null if it never did, and until a chat of an earlier version
  //   reports again.
  // - chats.marketing: Marketing as JSON; null if nobody has said anything.
  // - chats.work_state: 'open', 'snoozed' or 'closed'. An earlier version that creates a chat does not name it.
  // - chats.snoozed_until: When the snooze ends; null unless it is snoozed.
  // - chats.person_id: The company's own key of the person; null if it has given none.
  // - chats.labels: The ids of the chat's labels as JSON, also of deleted ones; null if there are none. It is in no
  //   index, so that a label costs no row when its chat becomes active.
  // - chats.mentions: What the chat last reported of them: Mentions as JSON; null if no note mentions anybody. It is in no
  //   index, so that a mention costs no row when its chat becomes active.
  // - chats.bot: The version of the bot that has the chat; null if people have it. Chats of a former bot are people's.
  // - chats_by_activity: GET /chats, latest activity first. It has no state, because a list that merges states is slower.
  //   In it and the next three, the columns after those that sort are there so that a filter reads no row of a chat.
  // - chats_by_channel: GET /chats of a channel; also finds the chats of a channel that is being deleted. The state comes
  //   before the time, so that a list of one state reads no chat of another one. A list of all states merges three.
  // - chats_by_assignee: GET /chats?assignee= of a member, in the same way. A chat that is nobody's costs no row.
  // - chats_unanswered: GET /chats?unanswered=true and ?scheduled=true. With the move, so that a walk reads no row of a
  //   chat that it leaves out.
  // - chats_by_bot: Finds the chats of former bots. A chat that people have costs no row.
  // - chats_due: Finds the chats whose work is overdue.
  // - chats_created: Finds the chats that no object has adopted yet.
  // - chats_deleting: Finds the chats whose deletion was interrupted.
  // - chats_waiting: Finds a channel's oldest waiting message.
  // - chats_by_person: GET /chats?person=. Without the time of the activity, so that a message writes no row of it.
  // - chats_opted_out: GET /chats?optedOut=true. In the same way.
  // - keys.counts: RequestCounts as JSON.
  // - keys.history: Its requests by hour and by day: History as JSON.
  // - feed_days: The tables of the feed, feed_<day>, and the first position in each. The day, counted from 1970, is a
  //   number: a further table of a day has the next one.
  // - feed_days.since: When the table began.
  // - own_events: The events of the organization itself.
  // - own_events.note: Its facts, as JSON.
  // - own_events.source: What made it: one source makes one event.
  // - audit: The audit log.
  // - audit.id: Sorts by the time of the act, which it contains.
  // - audit.link_by: Who made the sign-in link with which the actor's session began; null if none did.
  // - audit.status: Null until the act ends.
  // - audit.changed: Names of fields, as JSON.
  // - audit.count: How many requests the row stands for; null for one.
  // - audit.merged: What the requests of the row have in common: see mergedBy in audit-log.ts. Null for a row of one
  //   request.
  // - audit_days: How many rows each actor wrote on its last day, and with an empty id the organization. A day is
  //   counted from 1970.
  // - contact_terms: GET /chats?search=. The terms are those of termsOf in contact-search.ts; kind: 0 for an address, 1
  //   for a name.
  // - contact_terms.channel_id: So that a filter reads no row of a chat.
  // - contact_folding: The version of the folding that made the terms.
  // - contact_fill: The last chat whose terms are filled in. It has a row only after a new folding, until all are.
  // - retries: The chats for whose object a step of the background work failed.
  // - retries.work: 'adopt', 'delete', 'free' or 'retain'.
  // - retries.tries: How often it failed, and when it is tried again.
  // - unreadable_chats: The chats whose objects could not be read lately: since when, and when that was last seen.
  // - session_ends: Sessions of members that ended before their time.
  // - session_ends.session_id: A session's id; empty for all of the member's sessions that began by since.
  // - session_ends.until: When the sessions would have ended anyway.
  // - session_ends_by_time: Finds the rows that no longer mean anything.
  // - members.history: What it did by hour and by day: History as JSON.
  // - members.chats: How many chats are the member's, and how many of them wait for an answer.
  // - leaving_members: Members that were removed, or may be, so that their chats are freed and their numbers deleted.
  // - leaving_members.at: When the directory is asked whether the member was removed, or the row goes.
  // - labels.chats: How many chats have it, without those that are being deleted.
  // - labels.deleted_at: Null until it is deleted. Then no chat shows it, and the alarm removes its rows.
  // - chat_labels: Which chats have a label. The ids of a chat's labels are in its row too.
  // - search_removals: Deleted chats that may still be in a search index.
  // - mentions: The chats with notes that mention a member.
  // - mentions.at: When the newest of these notes was written.
  // - mentions.move: The number of the chat's last move in this list: see ChannelTable.lastMove.
  `create table channels (
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
     retention_walk text,
     moves integer not null default 0,
     unanswered_not_open integer not null default 0,
     bot text,
     bot_version integer not null default 0,
     open_of_bot integer not null default 0,
     unanswered_of_bot integer not null default 0
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
     told_after integer,
     assignee text,
     members text,
     told_version text,
     unanswered_move integer,
     scheduled_move integer,
     name_move integer,
     next_due_at integer,
     username text,
     same_as text,
     contact_wrote_at integer,
     marketing text,
     work_state text not null default 'open',
     snoozed_until integer,
     person_id text,
     labels text,
     mentions text,
     bot integer
   ) without rowid;
   create index chats_by_activity on chats (active_at, id, assignee, channel_id, bot) where active_at is not null;
   create index chats_by_channel on chats (channel_id, work_state, active_at, id, bot) where active_at is not null;
   create index chats_by_assignee on chats (assignee, work_state, active_at, id, channel_id, bot)
     where assignee is not null and active_at is not null;
   create index chats_unanswered on chats (unanswered_since, id, assignee, channel_id, unanswered_move, work_state, bot)
     where unanswered_since is not null;
   create index chats_by_bot on chats (channel_id, bot, id) where bot is not null;
   create index chats_scheduled on chats (next_scheduled_at, id, channel_id, scheduled_move)
     where next_scheduled_at is not null;
   create index chats_due on chats (next_due_at, id) where next_due_at is not null;
   create index chats_created on chats (created_at) where state = 'created';
   create index chats_deleting on chats (channel_id) where state = 'deleting';
   create index chats_waiting on chats (channel_id, oldest) where oldest is not null;
   create index chats_by_person on chats (person_id, id) where person_id is not null;
   create index chats_opted_out on chats (id) where marketing ->> '$.optedOut';
   create table addresses (
     channel_id text not null,
     address text not null,
     chat_id text not null,
     primary key (channel_id, address)
   ) without rowid;
   create table keys (id text primary key, counts text not null, at integer not null, history text) without rowid;
   create table feed_days (day integer primary key, first integer not null, since integer not null);
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
   create table audit_days (actor_id text primary key, day integer not null, rows integer not null) without rowid;
   create table contact_terms (
     kind integer not null,
     term text not null,
     chat_id text not null,
     channel_id text not null,
     primary key (kind, term, chat_id)
   ) without rowid;
   create table contact_folding (version integer not null);
   insert into contact_folding (version) values (${FOLDING_VERSION});
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
   create table members (
     id text primary key,
     history text not null,
     chats integer not null default 0,
     unanswered integer not null default 0
   ) without rowid;
   create table leaving_members (id text primary key, at integer not null, is_removed integer not null) without rowid;
   create table labels (
     id text primary key,
     name text not null,
     color text,
     chats integer not null default 0,
     created_at integer not null,
     deleted_at integer
   ) without rowid;
   create table chat_labels (
     label_id text not null,
     chat_id text not null,
     primary key (label_id, chat_id)
   ) without rowid;
   create table search_removals (
     deleted_at integer not null,
     chat_id text not null,
     life integer not null,
     primary key (deleted_at, chat_id)
   ) without rowid;
   create table mentions (
     member_id text not null,
     at integer not null,
     chat_id text not null,
     move integer not null,
     primary key (member_id, at, chat_id)
   ) without rowid;`,
  ...SCHEMA_UPDATES,
];
