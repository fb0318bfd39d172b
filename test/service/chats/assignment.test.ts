import { evictDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { aroundCall } from "../../support/faults.ts";
import { admin, created, expectError, expectFaults } from "../../support/harness.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { TAKES, team } from "./assignment-fixtures.ts";
import { report } from "./inbound.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

test("a chat is given to a member and freed, all routes show it, and each change is an event", async () => {
  const { api, ann, newChat, assign, assignments } = await team();
  const chat = await newChat();
  expect(chat.assigneeId).toBeNull();
  const given = await assign(chat.id, ann);
  expect([given.status, given.body]).toEqual([200, { chat: { ...chat, assigneeId: ann } }]);
  expect((await api("GET", "/chats")).body.chats).toEqual([{ ...chat, assigneeId: ann }]);
  expect((await api("GET", `/chats/${chat.id}`)).body.chat.assigneeId).toBe(ann);
  await assign(chat.id, ann);
  expect((await assign(chat.id, null)).body.chat.assigneeId).toBeNull();
  const by = { type: "key", id: expect.stringMatching(/^key_/), name: expect.any(String) };
  expect(await assignments(chat.id)).toEqual([
    { assigneeId: ann, by, chat },
    { assigneeId: null, by, chat },
  ]);
});

test("with ifAssigneeId, of two who assign at once one is refused, and nothing of the refused patch is stored", async () => {
  const { api, ann, ben, newChat, assign, assigneeOf, assignments } = await team();
  const { id } = await newChat();
  const answers = await Promise.all([
    assign(id, ann, { ifAssigneeId: null }),
    assign(id, ben, { ifAssigneeId: null, metadata: { by: "ben" } }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
  const [refused] = answers.filter(({ status }) => status === 409);
  if (refused) expectError(refused, 409, "chat_reassigned");
  const winner = await assigneeOf(id);
  expect(answers.find(({ status }) => status === 200)?.body.chat.assigneeId).toBe(winner);
  expect(await assignments(id)).toHaveLength(1);
  expect((await api("GET", `/chats/${id}`)).body.chat.metadata).toEqual(winner === ben ? { by: "ben" } : {});
  expect((await assign(id, null, { ifAssigneeId: winner })).status).toBe(200);
  expectError(await assign(id, null, { ifAssigneeId: winner }), 409, "chat_reassigned");
});

test("a removed member, another organization's and an invented one get no chat", async () => {
  const { organizationId, ann, newChat, assign, assigneeOf } = await team();
  const other = await team();
  const { id } = await newChat();
  await admin("DELETE", `/members/${ann}`);
  for (const member of [ann, other.ann, "mbr_g0000000000000000", "nobody"]) {
    expectError(await assign(id, member), 404, "member_not_found");
  }
  expectFaults(await assign(id, "x".repeat(300)), "assigneeId");
  expect(await assigneeOf(id)).toBeNull();
  expectFaults(await (await team()).api("PATCH", `/chats/${id}`, { ifAssigneeId: null }), "ifAssigneeId");
  expect(organizationId).toMatch(/^org_/);
});

test("only a member who may answer or change chats is assigned one", async () => {
  const { organizationId, newChat, assign, assigneeOf, api } = await team();
  const { id } = await newChat();
  const member = async (permissions: unknown): Promise<string> =>
    created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Vi", permissions })).member.id;
  const viewer = await member("viewer");
  for (const other of [viewer, await member([]), await member(PERMISSIONS.filter((one) => !TAKES.includes(one)))]) {
    expectFaults(await assign(id, other), "assigneeId");
    expectFaults(await assign(id, other, { contact: { name: "Maya" } }), "assigneeId");
  }
  expect((await api("GET", `/chats/${id}`)).body.chat).toMatchObject({ assigneeId: null, contact: { name: null } });
  for (const permission of TAKES) {
    const taker = await member([permission]);
    expect((await assign(id, taker)).body.chat.assigneeId).toBe(taker);
    // A member who may no longer work on chats keeps this one until somebody takes it.
    await admin("PATCH", `/members/${taker}`, { permissions: "viewer" });
    expect(await assigneeOf(id)).toBe(taker);
    expect((await assign(id, null, { ifAssigneeId: taker })).status).toBe(200);
  }
});

test("GET /chats lists a member's chats and nobody's, latest activity first, page by page, alone or unanswered", async () => {
  const { api, ann, ben, newChat, assign, idsOf, write } = await team();
  const chats: string[] = [];
  for (let n = 0; n < 5; n++) {
    vi.advanceTimersByTime(1_000);
    chats.push((await newChat()).id);
  }
  const [a, b, c, d, e] = chats as [string, string, string, string, string];
  for (const id of [a, b, c]) await assign(id, ann);
  await assign(d, ben);
  expect(await idsOf(`assignee=${ann}`)).toEqual([c, b, a]);
  expect(await idsOf(`assignee=${ben}`)).toEqual([d]);
  expect(await idsOf("assignee=none")).toEqual([e]);
  for (const id of [a, c]) {
    vi.advanceTimersByTime(1_000);
    await write(id);
    await report(id);
  }
  expect(await idsOf(`assignee=${ann}&unanswered=true`)).toEqual([a, c]);
  expect(await idsOf(`assignee=${ben}&unanswered=true`)).toEqual([]);
  const first = (await api("GET", `/chats?assignee=${ann}&limit=2`)).body;
  expect(first.pagination).toEqual({ limit: 2, hasMore: true, cursor: expect.any(String) });
  expect(await idsOf(`assignee=${ann}&limit=2&before=${first.pagination.cursor}`)).toEqual([b]);
  expectFaults(await api("GET", `/chats?assignee=${ben}&before=${first.pagination.cursor}`), "before");
  expectFaults(await api("GET", `/chats?assignee=${ann}&before=${a}`), "before");
  for (const list of [`assignee=${ann}&unanswered=true`, "unanswered=true"]) {
    expectFaults(await api("GET", `/chats?${list}&after=${first.pagination.cursor}`), "after");
  }
  const waiting = (await api("GET", `/chats?assignee=${ann}&unanswered=true&limit=1`)).body;
  expect(await idsOf(`assignee=${ann}&unanswered=true&limit=1&after=${waiting.pagination.cursor}`)).toEqual([c]);
});

test("a page of a member's chats and of nobody's costs the same among any number of chats", async () => {
  const { api, object, channelId, ann, newChat, rows } = await team();
  await newChat();
  const fill = (from: number, to: number) =>
    rows(`with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${to})
      insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at, assignee)
      select printf('cht_g%015d', n), '${channelId}', 'adopted', 1, 'contact ' || n, '{}', 1, n,
        iif(n % 25 = 0, '${ann}', null) from numbers`);
  const costs = async () => {
    // Neither the object nor an isolate has a page.
    await evictDurableObject(object);
    const read: number[] = [];
    for (const assignee of [ann, "none"]) {
      let cursor = "";
      for (const page of [1, 2]) {
        const cost = await rowsRead(object, async () => {
          const { body } = await api("GET", `/chats?assignee=${assignee}&limit=10${cursor}`);
          expect(body.chats, `page ${page}`).toHaveLength(10);
          cursor = `&before=${body.pagination.cursor}`;
        });
        read.push(cost.reduce((sum, each) => sum + each, 0));
      }
    }
    return read;
  };
  await fill(1, 2_000);
  const few = await costs();
  await fill(2_001, 20_000);
  for (const [at, cost] of (await costs()).entries()) expect(cost).toBeLessThan((few[at] ?? 0) * 1.2);
  // Chats that are others' are among nobody's, so these are read on.
  for (const [at, most] of [50, 50, 1_100, 1_100].entries()) expect(few[at]).toBeLessThan(most);
});

test.each([
  ["before", "assignee=none", "after"],
  ["after", "assignee=none&unanswered=true", "before"],
  ["after", "unanswered=true", "before"],
  ["after", "search=ada", "before"],
])(
  "with %s alone continues GET /chats?%s, and the answer to another parameter says so",
  async (cursor, list, other) => {
    const { api } = await team();
    for (const wrong of [`${other}=x`, "page=1"]) {
      const answer = await api("GET", `/chats?${list}&${wrong}`);
      expectFaults(answer, wrong.split("=")[0] as string);
      expect(answer.body.errors[0].message).toContain(`pass ${cursor} with the previous page's cursor`);
    }
  },
);

test.each(["assignee=", "assignee=me", "assignee=none&scheduled=true", "assignee=none&contact=x"])(
  "GET /chats?%s is a 400 that names the filter",
  async (query) => {
    const { api } = await team();
    expectFaults(await api("GET", `/chats?${query}`), "assignee");
  },
);

test("sending changes no assignment, and an assignment no message", async () => {
  const { api, ann, newChat, assign, assigneeOf } = await team();
  const { id } = await newChat();
  await api("POST", `/chats/${id}/messages`, { content: "Hello" });
  const before = (await api("GET", `/chats/${id}/messages`)).body;
  await assign(id, ann);
  expect((await api("GET", `/chats/${id}/messages`)).body).toEqual(before);
  await api("POST", `/chats/${id}/messages`, { content: "Again" });
  expect(await assigneeOf(id)).toBe(ann);
});

test("an assignment that an object does not know, because it runs an earlier version, is a 503, and nothing changes", async () => {
  const { api, ann, newChat, assign } = await team();
  const { id } = await newChat();
  const before = (await api("GET", `/chats/${id}`)).body;
  const unknown = new TypeError('The RPC receiver does not implement "assign".');
  aroundCall("CHATS", "assign", { before: () => Promise.reject(Object.assign(unknown, { remote: true })) });
  expectError(await assign(id, ann, { metadata: { plan: "gold" } }), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await api("GET", `/chats/${id}`)).body).toEqual(before);
  expect((await assign(id, ann, { metadata: { plan: "gold" } })).body.chat).toMatchObject({ assigneeId: ann });
});
