import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { admin, client, created, newChat, newKey, newOrganization, send } from "../../../support/harness.ts";
import { report } from "../inbound.ts";
import { stopTheClock } from "./delivery/conversation.ts";

stopTheClock();

/** Makes an object's storage what it was after the first step of its schema, and its next call one of a new instance. */
async function afterFirstStep(object: DurableObjectStub, undo: string): Promise<void> {
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec(undo);
    storage.kv.put("schema", 1);
  });
  await evictDurableObject(object);
}

test("objects of the version before notes, assignments and response times keep their data and go on", async () => {
  const { organizationId, ownerId, channelId, api } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const { secret } = await newKey(organizationId, { permissions: ["notes:read", "notes:write"] });
  const first = await send(api, id);
  await report(id);
  await afterFirstStep(
    env.CHATS.getByName(id),
    `drop table notes; alter table messages drop column named; alter table scheduled drop column named`,
  );
  await afterFirstStep(
    env.ORGANIZATIONS.getByName(organizationId),
    `drop table members; drop table leaving_members; drop index chats_by_assignee; drop index chats_by_activity;
     drop index chats_unanswered; alter table chats drop column assignee; alter table chats drop column members;
     create index chats_by_activity on chats (active_at, id) where active_at is not null;
     create index chats_unanswered on chats (unanswered_since, id, channel_id) where unanswered_since is not null`,
  );
  expect((await api("GET", "/chats")).body.chats).toMatchObject([
    { id, assigneeId: null, lastMessage: { id: first.id } },
  ]);
  const second = await send(api, id, { senderId: ownerId });
  created(await client(secret)("POST", `/chats/${id}/notes`, { content: "A note" }));
  expect((await api("PATCH", `/chats/${id}`, { assigneeId: ownerId })).body.chat.assigneeId).toBe(ownerId);
  expect((await api("GET", `/chats?assignee=${ownerId}`)).body.chats).toMatchObject([{ id }]);
  const { messages } = (await api("GET", `/chats/${id}/messages`)).body;
  expect(messages.map((message: { id: string }) => message.id)).toEqual([second.id, first.id]);
  const { history } = (await admin("GET", `/stats/history?of=${channelId}`)).body;
  expect(history.buckets.at(-1)).toMatchObject({ sent: 2, newChats: 1 });
});
