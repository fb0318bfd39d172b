import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { newId } from "../../../src/model/id.ts";
import type { Note } from "../../../src/model/note.ts";
import type { ChatReport } from "../../../src/model/organization.ts";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { replaceMethod } from "../../support/faults.ts";
import {
  admin,
  client,
  created,
  expectError,
  expectFaults,
  newChannel,
  newChat,
  newKey,
} from "../../support/harness.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { team } from "./assignment-fixtures.ts";
import { report } from "./inbound.ts";
import { labelsOf } from "./label-fixtures.ts";
import { alarmOf, pass, stopTheClock } from "./object/delivery/conversation.ts";
import { retainedPlace } from "./object/retention/fixtures.ts";

stopTheClock();

/** A client with all permissions. */
async function clientOf(organizationId: string) {
  return client((await newKey(organizationId, { permissions: [...PERMISSIONS] })).secret);
}

/** A team whose notes mention each other. */
async function desk() {
  const place = await team();
  const { ann, channelId, organizationId } = place;
  const api = await clientOf(organizationId);
  let address = 4_711;
  return {
    ...place,
    api,
    open: async (channel = channelId): Promise<string> => (await newChat(api, channel, String(address++))).id,
    note: async (chatId: string, ...mentions: string[]): Promise<Note> => {
      pass(1_000);
      const { note } = created(await api("POST", `/chats/${chatId}/notes`, { content: "Please look", mentions }));
      await report(chatId);
      return note;
    },
    remove: async (chatId: string, noteId: string) => {
      expect((await api("DELETE", `/chats/${chatId}/notes/${noteId}`)).status).toBe(200);
      await report(chatId);
    },
    listed: async (more = ""): Promise<Chat[]> => (await api("GET", `/chats?mentioned=${ann}${more}`)).body.chats,
    of: async (memberId: string, more = ""): Promise<string[]> => {
      const answer = await api("GET", `/chats?mentioned=${memberId}${more}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.chats.map(({ id }: Chat) => id);
    },
    /** The stored pairs of members and chats. */
    pairs: () => place.rows("select member_id, chat_id from mentions"),
  };
}

test("GET /chats lists the chats in which a member is mentioned, newest mention first, each with the note", async () => {
  const { api, ann, ben, open, note, listed, of, write } = await desk();
  const [first, second, plain] = [await open(), await open(), await open()];
  await note(first, ann);
  await write(second);
  await report(second);
  const inSecond = await note(second, ann, ben);
  await note(plain);
  expect(await of(ann)).toEqual([second, first]);
  expect(await of(ben)).toEqual([second]);
  const again = await note(first, ann);
  // A message is no mention.
  await write(second);
  await report(second);
  const mentionOf = ({ id, afterSeq, createdAt }: Note) => ({ noteId: id, afterSeq, createdAt });
  expect((await listed()).map(({ id, mention }) => [id, mention])).toEqual([
    [first, mentionOf(again)],
    [second, mentionOf(inSecond)],
  ]);
  expect(inSecond.afterSeq).toBe(1);
  for (const { body } of [await api("GET", "/chats"), await api("GET", "/chats?state=open")]) {
    expect(JSON.stringify(body)).not.toContain('"mention"');
  }
  expect((await api("GET", `/chats/${first}`)).body.chat.mention).toBeUndefined();
});

test("pages of mentions continue with a cursor, which belongs to its list", async () => {
  const { api, ann, ben, open, note, of } = await desk();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    ids.unshift(await open());
    await note(ids[0] ?? "", ann);
  }
  const { chats, pagination } = (await api("GET", `/chats?mentioned=${ann}&limit=2`)).body;
  expect(chats.map(({ id }: Chat) => id)).toEqual(ids.slice(0, 2));
  expect(pagination).toEqual({ limit: 2, hasMore: true, cursor: expect.any(String) });
  const { cursor } = pagination;
  expect(await of(ann, `&before=${cursor}`)).toEqual(ids.slice(2));
  // A chat that moved to the front is in no later page, and the page says so.
  await note(ids[4] ?? "", ann);
  const next = (await api("GET", `/chats?mentioned=${ann}&limit=5&before=${cursor}`)).body;
  expect(next.chats.map(({ id }: Chat) => id)).toEqual(ids.slice(2, 4));
  expect(next.pagination).toEqual({ limit: 5, hasMore: false, cursor: null, hasNewer: true });
  for (const query of [`mentioned=${ben}`, `mentioned=${ann}&state=open`, "state=open"]) {
    expectFaults(await api("GET", `/chats?${query}&before=${cursor}`), "before");
  }
  expectFaults(await api("GET", `/chats?mentioned=${ann}&before=${ids[0]}`), "before");
  expectFaults(await api("GET", `/chats?mentioned=${ann}&after=${cursor}`), "after");
  expectFaults(await api("GET", `/chats?mentioned=${ann}&page=1`), "page");
});

test("the list of mentions goes with the other filters", async () => {
  const { api, ann, ben, organizationId, open, note, of } = await desk();
  const labels = labelsOf(organizationId);
  const label = await labels.make("Refund");
  const telegram = await newChannel(organizationId, "telegram");
  const [closed, bens, labeled, other] = [await open(), await open(), await open(), await open(telegram)];
  for (const id of [closed, bens, labeled, other]) await note(id, ann);
  await api("PATCH", `/chats/${closed}`, { state: "closed" });
  await api("PATCH", `/chats/${bens}`, { assigneeId: ben });
  await api("PATCH", `/chats/${bens}`, { contact: { personId: "p1" } });
  await api("PUT", `/chats/${labeled}/labels/${label}`);
  expect(await of(ann, "&state=closed")).toEqual([closed]);
  expect(await of(ann, `&assignee=${ben}`)).toEqual([bens]);
  expect(await of(ann, "&assignee=none&state=open")).toEqual([other, labeled]);
  expect(await of(ann, "&person=p1")).toEqual([bens]);
  expect(await of(ann, `&label=${label}`)).toEqual([labeled]);
  expect(await of(ann, "&channel=telegram")).toEqual([other]);
  expect((await admin("GET", `/organizations/${organizationId}/chats?mentioned=${ann}`)).body.chats).toHaveLength(4);
});

test("a deleted note is no mention: an older one counts, and then none", async () => {
  const { ann, ben, open, note, remove, listed, of, pairs } = await desk();
  const [one, two] = [await open(), await open()];
  const older = await note(one, ann);
  await note(two, ann);
  const newer = await note(one, ann, ben);
  expect(await of(ann)).toEqual([one, two]);
  await remove(one, newer.id);
  expect((await listed()).map(({ id, mention }) => [id, mention?.noteId])).toMatchObject([
    [two, expect.any(String)],
    [one, older.id],
  ]);
  expect(await of(ben)).toEqual([]);
  await remove(one, older.id);
  expect(await of(ann)).toEqual([two]);
  expect(await pairs()).toEqual([{ member_id: ann, chat_id: two }]);
});

test("a chat that moves back in the list while it is walked is not met twice", async () => {
  const { api, ann, open, note, remove } = await desk();
  const [one, two, three] = [await open(), await open(), await open()];
  for (const id of [one, two, three]) await note(id, ann);
  const newest = await note(one, ann);
  const page = async (more: string) => (await api("GET", `/chats?mentioned=${ann}&limit=1${more}`)).body;
  const first = await page("");
  expect(first.chats).toMatchObject([{ id: one }]);
  await remove(one, newest.id);
  const rest = (await api("GET", `/chats?mentioned=${ann}&before=${first.pagination.cursor}`)).body;
  expect(rest.chats).toMatchObject([{ id: three }, { id: two }]);
  expect(rest.pagination).toEqual({ limit: 20, hasMore: false, cursor: null, hasNewer: true });
});

test("a deleted chat leaves no mention, and one that begins again has none", async () => {
  const { api, ann, channelId, note, of, pairs, ring } = await desk();
  const chat = await newChat(api, channelId, "99");
  await note(chat.id, ann);
  await admin("DELETE", `/chats/${chat.id}`);
  expect(await of(ann)).toEqual([]);
  await ring();
  expect(await pairs()).toEqual([]);
  const again = await newChat(api, channelId, "99");
  await report(again.id);
  expect(await of(ann)).toEqual([]);
});

test("a deleted channel's chats are in no list of mentions", async () => {
  const { ann, organizationId, open, note, of } = await desk();
  const channel = await newChannel(organizationId, "telegram");
  await note(await open(channel), ann);
  expect(await of(ann)).toHaveLength(1);
  await admin("DELETE", `/channels/${channel}`);
  expect(await of(ann)).toEqual([]);
});

test("a report of an object that runs an earlier version keeps the mentions", async () => {
  const { ann, open, note, of, write } = await desk();
  const id = await open();
  await note(id, ann);
  replaceMethod("ORGANIZATIONS", "report", (original) => (given) => {
    const { mentions: _unknown, ...earlier } = given as ChatReport;
    return original(earlier);
  });
  await write(id);
  await report(id);
  vi.restoreAllMocks();
  expect(await of(ann)).toEqual([id]);
});

test("a removed member is in no list, also if a chat reports the mention only then", async () => {
  const { api, ann, ben, object, open, note, of, pairs, ring } = await desk();
  const [one, two] = [await open(), await open()];
  await note(one, ann, ben);
  pass(1_000);
  created(await api("POST", `/chats/${two}/notes`, { content: "Late", mentions: [ann, ben] }));
  await admin("DELETE", `/members/${ann}`);
  await ring();
  expect(await of(ann)).toEqual([]);
  await report(two);
  pass(1_000);
  expect(await alarmOf(object)).toBeLessThanOrEqual(Date.now());
  await ring();
  expect(await of(ann)).toEqual([]);
  expect(await of(ben)).toEqual([two, one]);
  expect(await pairs()).toHaveLength(2);
});

test("a member whose removal nobody reported is looked up a day after a mention", async () => {
  const { ann, open, note, pairs, ring } = await desk();
  await note(await open(), ann);
  await env.DB.prepare("delete from members where id = ?").bind(ann).run();
  pass(86_400_000);
  await ring();
  expect(await pairs()).toEqual([]);
});

test("retention deletes a mention with its note", async () => {
  const retained = await retainedPlace();
  const { organizationId, chatId, ownerId } = retained;
  const api = await clientOf(organizationId);
  const note = async () => created(await api("POST", `/chats/${chatId}/notes`, { content: "Hi", mentions: [ownerId] }));
  const listed = async () => (await api("GET", `/chats?mentioned=${ownerId}`)).body.chats;
  const { note: old } = await note();
  await report(chatId);
  expect(await listed()).toMatchObject([{ id: chatId, mention: { noteId: old.id } }]);
  await retained.passDays(20);
  await retained.sendSome("Younger than the note");
  await retained.passDays(12);
  expect((await api("GET", `/chats/${chatId}/notes`)).body.notes).toEqual([]);
  expect(await listed()).toEqual([]);
});

test("mentions need notes:read", async () => {
  const { organizationId, ann } = await desk();
  const { secret } = await newKey(organizationId, { permissions: ["chats:read"] });
  const answer = await client(secret)("GET", `/chats?mentioned=${ann}`);
  expectError(answer, 403, "permission_denied");
  expect(answer.text).toContain("notes:read");
});

test.each([
  ["mentioned=", "mentioned"],
  ["mentioned=none", "mentioned"],
  ["mentioned=ann", "mentioned"],
  [`mentioned=${newId("mbr", null)}&unanswered=true`, "mentioned"],
  [`mentioned=${newId("mbr", null)}&scheduled=true`, "mentioned"],
  [`mentioned=${newId("mbr", null)}&search=ada`, "mentioned"],
  [`mentioned=${newId("mbr", null)}&contact=x`, "mentioned"],
])("GET /chats?%s is a 400 that names %s", async (query, path) => {
  const { api } = await desk();
  expectFaults(await api("GET", `/chats?${query}`), path);
});

test("an organization without chats, and a member of another one, have no mentions", async () => {
  const [{ api, ann }, other] = [await desk(), await desk()];
  const nothing = { chats: [], pagination: { limit: 20, hasMore: false, cursor: null } };
  await other.note(await other.open(), other.ann);
  for (const id of [ann, other.ann]) expect((await api("GET", `/chats?mentioned=${id}`)).body).toEqual(nothing);
});

test("a message writes no further row in a chat whose notes mention many", async () => {
  const { ann, ben, ownerId, object, open, note, write } = await desk();
  const [plain, mentioned] = [await open(), await open()];
  await note(plain);
  await note(mentioned, ann, ben, ownerId);
  const cost = async (id: string) => {
    const act = async () => {
      await write(id);
      await report(id);
    };
    await act();
    pass(60_000);
    const listed = await objectWrites({ object: () => object }, act);
    vi.restoreAllMocks();
    const chat = await objectWrites({ object: () => env.CHATS.getByName(id) }, act);
    vi.restoreAllMocks();
    return { listed, chat };
  };
  expect(await cost(mentioned)).toEqual(await cost(plain));
});

test("a page of 25,000 mentions reads only its own chats", async () => {
  const { api, ann, object, channelId, open, rows } = await desk();
  await open();
  await rows(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 25000)
    insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at)
    select printf('cht_g%015d', n), '${channelId}', 'adopted', 1, 'contact ' || n, '{}', 1, n from numbers`);
  await rows("update channels set chats = 25001, moves = 1");
  await rows(`insert into mentions (member_id, at, chat_id, move)
    select '${ann}', active_at, id, 1 from chats where active_at <= 25000`);
  const cost = async (query: string) => {
    await evictDurableObject(object);
    const each = await rowsRead(object, async () => {
      expect((await api("GET", `/chats?limit=20&${query}`)).body.chats).toHaveLength(20);
    });
    return each.reduce((sum, read) => sum + read, 0);
  };
  expect(await cost(`mentioned=${ann}`)).toBeLessThan((await cost("")) + 80);
  // A page examines 10,000 mentions, also if no chat of them is listed.
  const closed = `/chats?mentioned=${ann}&state=closed`;
  const first = (await api("GET", closed)).body;
  expect(first).toMatchObject({ chats: [], pagination: { hasMore: true } });
  await rows("update chats set work_state = 'closed' where id = 'cht_g000000000000001'");
  const second = (await api("GET", `${closed}&before=${first.pagination.cursor}`)).body;
  expect(second).toMatchObject({ chats: [], pagination: { hasMore: true } });
  const third = (await api("GET", `${closed}&before=${second.pagination.cursor}`)).body;
  expect(third).toMatchObject({ chats: [{ id: "cht_g000000000000001" }], pagination: { hasMore: false } });
});
