/**
 * What leads the schema of an older organization's object to the one of `ORGANIZATION_SCHEMA`. After a release, add an
 * update, change the schema in the same way, and never change an update. It only adds nullable columns or tables: during
 * a deploy, old code meets new rows.
 */
export const SCHEMA_UPDATES = [
  `alter table chats add column assignee text;
   alter table chats add column members text;
   drop index chats_by_activity;
   create index chats_by_activity on chats (active_at, id, assignee, channel_id) where active_at is not null;
   drop index chats_unanswered;
   create index chats_unanswered on chats (unanswered_since, id, assignee, channel_id) where unanswered_since is not null;
   create index chats_by_assignee on chats (assignee, active_at, id, channel_id)
     where assignee is not null and active_at is not null;
   create table leaving_members (id text primary key, at integer not null, is_removed integer not null) without rowid;
   create table members (id text primary key, history text not null) without rowid;`,
  `alter table members add column chats integer not null default 0;
   alter table members add column unanswered integer not null default 0;
   insert into members (id, history, chats, unanswered)
     select assignee, '{"hour":{},"day":{}}', count(*), count(unanswered_since) from chats
     where assignee is not null and active_at is not null group by assignee
     on conflict do update set chats = excluded.chats, unanswered = excluded.unanswered;`,
  `alter table chats add column told_version text;`,
  `alter table channels add column moves integer not null default 0;
   alter table chats add column unanswered_move integer;
   alter table chats add column scheduled_move integer;
   alter table chats add column name_move integer;
   drop index chats_unanswered;
   create index chats_unanswered on chats (unanswered_since, id, assignee, channel_id, unanswered_move)
     where unanswered_since is not null;
   drop index chats_scheduled;
   create index chats_scheduled on chats (next_scheduled_at, id, channel_id, scheduled_move)
     where next_scheduled_at is not null;`,
  `alter table chats add column next_due_at integer;
   create index chats_due on chats (next_due_at, id) where next_due_at is not null;`,
  `alter table chats add column username text;
   alter table chats add column same_as text;`,
  // - the update: What is known of the chats whose network may take free text now.
  `alter table chats add column contact_wrote_at integer;
   update chats set contact_wrote_at =
       case when last_message ->> '$.direction' = 'INBOUND' then last_message_at else unanswered_since end
     where active_at > (unixepoch() - 86400) * 1000;
   alter table chats add column marketing text;`,
  `alter table chats add column work_state text not null default 'open';
   alter table chats add column snoozed_until integer;
   drop index chats_by_channel;
   create index chats_by_channel on chats (channel_id, work_state, active_at, id) where active_at is not null;
   drop index chats_by_assignee;
   create index chats_by_assignee on chats (assignee, work_state, active_at, id, channel_id)
     where assignee is not null and active_at is not null;
   drop index chats_unanswered;
   create index chats_unanswered on chats (unanswered_since, id, assignee, channel_id, unanswered_move, work_state)
     where unanswered_since is not null;`,
  `alter table channels add column unanswered_not_open integer not null default 0;
   update channels set unanswered_not_open = found.chats
     from (select channel_id, count(*) as chats from chats
       where unanswered_since is not null and work_state <> 'open' group by channel_id) as found
     where found.channel_id = channels.id;`,
  `alter table chats add column person_id text;
   create index chats_by_person on chats (person_id, id) where person_id is not null;`,
  `create table labels (
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
   alter table chats add column labels text;`,
  `create table search_removals (
     deleted_at integer not null,
     chat_id text not null,
     life integer not null,
     primary key (deleted_at, chat_id)
   ) without rowid;`,
  `create table mentions (
     member_id text not null,
     at integer not null,
     chat_id text not null,
     move integer not null,
     primary key (member_id, at, chat_id)
   ) without rowid;
   alter table chats add column mentions text;`,
  `alter table channels add column bot text;
   alter table channels add column bot_version integer not null default 0;
   alter table channels add column open_of_bot integer not null default 0;
   alter table channels add column unanswered_of_bot integer not null default 0;
   alter table chats add column bot integer;
   drop index chats_by_activity;
   create index chats_by_activity on chats (active_at, id, assignee, channel_id, bot) where active_at is not null;
   drop index chats_by_channel;
   create index chats_by_channel on chats (channel_id, work_state, active_at, id, bot) where active_at is not null;
   drop index chats_by_assignee;
   create index chats_by_assignee on chats (assignee, work_state, active_at, id, channel_id, bot)
     where assignee is not null and active_at is not null;
   drop index chats_unanswered;
   create index chats_unanswered on chats (unanswered_since, id, assignee, channel_id, unanswered_move, work_state, bot)
     where unanswered_since is not null;
   create index chats_by_bot on chats (channel_id, bot, id) where bot is not null;`,
  `create index chats_opted_out on chats (id) where marketing ->> '$.optedOut';`,
];
