import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { admin, client, created, newChat, newKey, newOrganization, send, statsOf } from "../../../support/harness.ts";
import { report, writeAsContact } from "../inbound.ts";
import { stopTheClock } from "./delivery/conversation.ts";

stopTheClock();

/** Takes back the steps of an organization's object that number the moves of chats in lists, and later ones. */
const UNDO_MOVES = `drop index chats_opted_out; drop index chats_by_bot; drop index chats_by_activity;
   drop index chats_by_channel; drop index chats_by_assignee;
   drop index chats_unanswered; alter table chats drop column bot; alter table channels drop column bot;
   alter table channels drop column bot_version; alter table channels drop column unanswered_of_bot;
   alter table channels drop column open_of_bot;
   create index chats_by_activity on chats (active_at, id, assignee, channel_id) where active_at is not null;
   drop table mentions; drop table search_removals; alter table chats drop column mentions;
   drop table labels; drop table chat_labels; alter table chats drop column labels;
   drop index chats_by_person; alter table chats drop column person_id; alter table channels drop column unanswered_not_open;
  alter table chats drop column work_state; alter table chats drop column snoozed_until;
  create index chats_by_channel on chats (channel_id, active_at, id) where active_at is not null;
  create index chats_by_assignee on chats (assignee, active_at, id, channel_id)
    where assignee is not null and active_at is not null;
  alter table chats drop column username; alter table chats drop column same_as;
  alter table chats drop column marketing; alter table chats drop column contact_wrote_at; drop index chats_due; alter table chats drop column next_due_at; drop index chats_scheduled;
  alter table channels drop column moves; alter table chats drop column unanswered_move;
  alter table chats drop column scheduled_move; alter table chats drop column name_move;
  create index chats_unanswered on chats (unanswered_since, id, assignee, channel_id) where unanswered_since is not null;
  create index chats_scheduled on chats (next_scheduled_at, id, channel_id) where next_scheduled_at is not null;`;

/** Makes an object's storage what it was after a step of its schema, and its next call one of a new instance. */
async function afterStep(step: number, object: DurableObjectStub, undo: string): Promise<void> {
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec(undo);
    if (!storage.kv.get("lean")) storage.kv.put("schema", step);
  });
  await evictDurableObject(object);
}

test("objects of the version before notes, assignments and response times keep their data and go on", async () => {
  const { organizationId, ownerId, channelId, api } = await newOrganization();
  await runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) => {
    // The chat has all tables, as those of that version.
    storage.kv.put("leanFrom", Date.now() + 1);
  });
  const { id } = await newChat(api, channelId);
  const { secret } = await newKey(organizationId, { permissions: ["notes:read", "notes:write"] });
  const first = await send(api, id);
  const later = await send(api, id, { scheduledAt: new Date(Date.now() + 60_000).toISOString() });
  await report(id);
  await afterStep(
    1,
    env.CHATS.getByName(id),
    `drop table notes; alter table messages drop column named; alter table scheduled drop column named;
     alter table scheduled drop column moved; alter table scheduled drop column if_open;
     alter table messages drop column by_bot; alter table scheduled drop column by_bot;
     alter table messages drop column answers_nothing`,
  );
  await afterStep(
    1,
    env.ORGANIZATIONS.getByName(organizationId),
    `${UNDO_MOVES} drop table members; drop table leaving_members; drop index chats_by_assignee; drop index chats_by_activity;
     drop index chats_unanswered; alter table chats drop column assignee; alter table chats drop column members;
     alter table chats drop column told_version;
     create index chats_by_activity on chats (active_at, id) where active_at is not null;
     create index chats_unanswered on chats (unanswered_since, id, channel_id) where unanswered_since is not null`,
  );
  expect((await api("GET", "/chats")).body.chats).toMatchObject([
    { id, assigneeId: null, lastMessage: { id: first.id } },
  ]);
  const second = await send(api, id, { senderId: ownerId });
  created(await client(secret)("POST", `/chats/${id}/notes`, { content: "A note" }));
  expect((await api("GET", `/chats/${id}/scheduled`)).body.messages).toMatchObject([{ id: later.id }]);
  expect((await api("PATCH", `/chats/${id}`, { assigneeId: ownerId })).body.chat.assigneeId).toBe(ownerId);
  expect((await api("GET", `/chats?assignee=${ownerId}`)).body.chats).toMatchObject([{ id }]);
  const { messages } = (await api("GET", `/chats/${id}/messages`)).body;
  expect(messages.map((message: { id: string }) => message.id)).toEqual([second.id, first.id]);
  const { history } = (await admin("GET", `/stats/history?of=${channelId}`)).body;
  expect(history.buckets.at(-1)).toMatchObject({ sent: 2, newChats: 1 });
});

test("an organization of the version before members' chats were counted counts those that it has", async () => {
  const { organizationId, ownerId, channelId, api } = await newOrganization();
  const [waiting, quiet, gone] = [
    await newChat(api, channelId),
    await newChat(api, channelId),
    await newChat(api, channelId),
  ];
  for (const { id } of [waiting, quiet, gone]) await api("PATCH", `/chats/${id}`, { assigneeId: ownerId });
  await send(api, quiet.id, { senderId: ownerId });
  for (const { id } of [waiting, gone]) await writeAsContact(organizationId, id);
  for (const { id } of [waiting, quiet, gone]) await report(id);
  expect((await admin("DELETE", `/chats/${gone.id}`)).status).toBe(200);
  const history = async () => (await admin("GET", `/stats/history?of=${ownerId}`)).body.history;
  const [before, numbers] = [await history(), (await statsOf(organizationId)).members];
  await afterStep(
    2,
    env.ORGANIZATIONS.getByName(organizationId),
    `${UNDO_MOVES} alter table members drop column chats; alter table members drop column unanswered;
     alter table chats drop column told_version`,
  );
  const { members } = await statsOf(organizationId);
  expect(members).toEqual(numbers);
  expect(members).toMatchObject([{ id: ownerId, chats: 2, unanswered: 1 }]);
  expect(await history()).toEqual(before);
});

test("an organization of the version before walks were numbered walks the chats that it has", async () => {
  const { organizationId, channelId, api } = await newOrganization();
  const ids: string[] = [];
  while (ids.length < 3) {
    const { id } = await newChat(api, channelId);
    await writeAsContact(organizationId, id);
    await report(id);
    ids.push(id);
  }
  await afterStep(4, env.ORGANIZATIONS.getByName(organizationId), UNDO_MOVES);
  const walk = async (after: string) => (await api("GET", `/chats?unanswered=true&limit=1${after}`)).body;
  const first = await walk("");
  const [shown] = first.chats;
  vi.setSystemTime(Date.now() + 1_000);
  await send(api, shown.id);
  await report(shown.id);
  await writeAsContact(organizationId, shown.id);
  await report(shown.id);
  const second = await walk(`&after=${first.pagination.cursor}`);
  const third = await walk(`&after=${second.pagination.cursor}`);
  const walked = [first, second, third].flatMap(({ chats }) => chats.map(({ id }: { id: string }) => id));
  expect(walked).toHaveLength(ids.length);
  expect(new Set(walked)).toEqual(new Set(ids));
  expect(third.pagination).toEqual({ limit: 1, total: 3, hasMore: false, cursor: null, hasNewer: true });
});

test("a chat of the version before scheduled messages were walked once lists and moves those that it has", async () => {
  const { channelId, api } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const first = await send(api, id, { scheduledAt: at(60_000) });
  const second = await send(api, id, { scheduledAt: at(120_000) });
  await afterStep(
    2,
    env.CHATS.getByName(id),
    "alter table scheduled drop column moved; alter table scheduled drop column if_open",
  );
  const walk = async (after: string) => (await api("GET", `/chats/${id}/scheduled?limit=1${after}`)).body;
  const one = await walk("");
  await api("PATCH", `/chats/${id}/messages/${first.id}`, { scheduledAt: at(180_000) });
  const two = await walk(`&after=${one.pagination.cursor}`);
  expect([...one.messages, ...two.messages]).toMatchObject([{ id: first.id }, { id: second.id }]);
  expect(two.pagination).toEqual({ limit: 1, hasMore: false, cursor: null, hasNewer: true });
});
