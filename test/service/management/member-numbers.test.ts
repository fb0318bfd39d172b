import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { runAlarm, workIsDone } from "../../support/alarms.ts";
import { browser, signInMember } from "../../support/console.ts";
import { breakObjects } from "../../support/faults.ts";
import { admin, client, created, expectError, newChat, newKey, statsOf } from "../../support/harness.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { report } from "../chats/inbound.ts";
import { crash, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { desk, HOUR, MINUTE, NO_CLASSES } from "./response-times-fixtures.ts";

stopTheClock();

test("an answer counts for the member whose session sent it or whom the request named, and for nobody else", async () => {
  const { write, send, sums, chatId, ann, bob, channelId, organizationId, ownerId } = await desk();
  await write();
  await send();
  expect([await sums(ann), await sums(bob), await sums(ownerId)]).toEqual([{}, {}, {}]);
  await write();
  pass(2 * HOUR);
  await send({ senderId: ann });
  await send({ senderId: bob });
  await write();
  const path = `/organizations/${organizationId}/chats/${chatId}/messages`;
  created(await browser(await signInMember(bob))("POST", path, { content: "It is Bob" }));
  expect(await sums(ann)).toEqual({ sent: 1, answers: 1, within4h: 1 });
  expect(await sums(bob)).toEqual({ sent: 2, answers: 1, within1m: 1 });
  expect(await sums(channelId)).toMatchObject({ sent: 4, answers: 3 });
});

test("a scheduled message of a member answers when it takes its place", async () => {
  const { write, send, sums, report, ann } = await desk();
  await write();
  await send({ senderId: ann, scheduledAt: new Date(Date.now() + HOUR).toISOString() });
  expect(await sums(ann)).toEqual({});
  pass(HOUR);
  // In this alarm it takes its place, and the next one reports that.
  await report();
  expect(await sums(ann)).toEqual({ sent: 1, answers: 1, within4h: 1 });
});

test("what comes in counts for the member whose chat it is", async () => {
  const { write, assign, sums, report, ann, bob, channelId } = await desk();
  await write();
  await report();
  await assign(ann);
  await write();
  await write();
  await report();
  await assign(bob);
  await write();
  expect([await sums(ann), await sums(bob)]).toEqual([{ received: 2 }, { received: 1 }]);
  expect(await sums(channelId)).toMatchObject({ received: 4 });
});

test("what came in counts for the member whose chat it was then, also if the chat changes hands or crashes before the report", async () => {
  const { write, assign, sums, chatId, ann, bob, channelId } = await desk();
  await write();
  await assign(ann);
  await write();
  await write();
  breakObjects("ORGANIZATIONS", "report");
  await assign(bob);
  await write();
  await assign(null);
  await write();
  await crash(env.CHATS.getByName(chatId));
  await assign(bob);
  vi.restoreAllMocks();
  pass(MINUTE);
  expect([await sums(ann), await sums(bob)]).toEqual([{ received: 2 }, { received: 1 }]);
  expect(await sums(channelId)).toMatchObject({ received: 5 });
});

test("what came in counts for a member who is removed before the report", async () => {
  const { write, assign, ann, organizationId, report } = await desk();
  await assign(ann);
  await write();
  await write();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  expect((await admin("DELETE", `/members/${ann}`)).status).toBe(200);
  await runAlarm(object);
  await report();
  expect(Object.values((await object.history(ann))?.day ?? {})).toEqual([{ received: 2 }]);
});

test("a report that comes twice counts once for a member too", async () => {
  const { send, sums, ann, organizationId, report } = await desk();
  const object = () => env.ORGANIZATIONS.getByName(organizationId);
  const reports: Parameters<ReturnType<typeof object>["report"]>[0][] = [];
  const getByName = env.ORGANIZATIONS.getByName.bind(env.ORGANIZATIONS);
  vi.spyOn(env.ORGANIZATIONS, "getByName").mockImplementation((...given) => {
    const stub = getByName(...given);
    const told: typeof stub.report = (sent) => {
      reports.push(sent);
      return stub.report(sent);
    };
    return new Proxy(stub, { get: (target, name) => (name === "report" ? told : Reflect.get(target, name)) });
  });
  await send({ senderId: ann });
  await report();
  pass(10_000);
  await send({ senderId: ann });
  await report();
  vi.restoreAllMocks();
  expect(reports.filter(({ members }) => members)).toHaveLength(2);
  for (const each of reports) await object().report(each);
  expect(await sums(ann)).toEqual({ sent: 2 });
});

test("statistics say how many chats are a member's and how many of these wait for an answer, as the lists do", async () => {
  const { write, send, assign, api, chatId, channelId, organizationId, ann, bob, ownerId } = await desk();
  const second = await newChat(api, channelId);
  const now = async () => {
    for (const id of [chatId, second.id]) if ((await api("GET", `/chats/${id}`)).status === 200) await report(id);
    const { members } = await statsOf(organizationId);
    expect(members.map(({ id }: { id: string }) => id).toSorted()).toEqual([ownerId, ann, bob].toSorted());
    for (const { id, chats, unanswered } of members) {
      const listed = (await api("GET", `/chats?assignee=${id}`)).body.chats;
      const waiting = (await api("GET", `/chats?assignee=${id}&unanswered=true`)).body.chats;
      expect([chats, unanswered]).toEqual([listed.length, waiting.length]);
    }
    return [ann, bob].map((member) => {
      const { chats, unanswered } = members.find(({ id }: { id: string }) => id === member);
      return [chats, unanswered];
    });
  };
  expect(await now()).toEqual([
    [0, 0],
    [0, 0],
  ]);
  await write();
  await assign(ann);
  expect(await now()).toEqual([
    [1, 1],
    [0, 0],
  ]);
  await api("PATCH", `/chats/${second.id}`, { assigneeId: ann });
  await write();
  expect(await now()).toEqual([
    [2, 1],
    [0, 0],
  ]);
  await assign(bob);
  expect(await now()).toEqual([
    [1, 0],
    [1, 1],
  ]);
  await send();
  expect(await now()).toEqual([
    [1, 0],
    [1, 0],
  ]);
  await write();
  await assign(null);
  expect(await now()).toEqual([
    [1, 0],
    [0, 0],
  ]);
  await assign(ann);
  expect(await now()).toEqual([
    [2, 1],
    [0, 0],
  ]);
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  expect(await now()).toEqual([
    [1, 0],
    [0, 0],
  ]);
});

test("a message of the contact, and the answer of the member whose chat it is, cost the row of the member once", async () => {
  const { write, send, report, assign, ann, organizationId } = await desk();
  const object = () => env.ORGANIZATIONS.getByName(organizationId);
  const rowsOf = async (act: () => Promise<unknown>) => {
    pass(10_000);
    const { rows } = await objectWrites({ object }, async () => {
      await act();
      await report();
    });
    vi.restoreAllMocks();
    return rows;
  };
  const answer = () => send({ senderId: ann });
  // The first number of a member costs more: the directory is asked about it later.
  await answer();
  await report();
  const free = [await rowsOf(write), await rowsOf(answer)] as const;
  await assign(ann);
  await report();
  // Each writes the list of the member's chats. What comes in counts for the member, as its answer does in any chat.
  expect([await rowsOf(write), await rowsOf(answer)]).toEqual([free[0] + 2, free[1] + 1]);
});

test("a member that was removed long ago gets no row when its last chat is freed", async () => {
  const { ann, assign, report, organizationId } = await desk();
  await assign(ann);
  await report();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  await runInDurableObject(object, (_object, { storage }) => storage.sql.exec("delete from members").toArray());
  await assign(null);
  await report();
  expect(
    await runInDurableObject(object, (_object, { storage }) => storage.sql.exec("select id from members").toArray()),
  ).toEqual([]);
});

test("a member's history has every bucket; a removed or foreign member has none, and their numbers are gone after a day", async () => {
  const { ann, send, report, organizationId } = await desk();
  const other = await desk();
  const { secret } = await newKey(organizationId, { permissions: ["stats:read"] });
  const of = (id: string) => client(secret)("GET", `/stats/history?of=${id}&by=day`);
  const { history } = (await of(ann)).body;
  expect(history).toMatchObject({ id: ann, organizationId, name: "Ann", by: "day" });
  expect(history.buckets).toHaveLength(92);
  expect(history.buckets[0]).toEqual({
    start: expect.any(String),
    ...{ received: 0, sent: 0, answers: 0, classes: NO_CLASSES },
    responseTimes: { medianSeconds: null, p90Seconds: null },
  });
  expectError(await of(other.ann), 404, "member_not_found");
  expectError(await of(newId("mbr", null)), 404, "member_not_found");
  await send({ senderId: ann });
  await report();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const stored = () =>
    runInDurableObject(object, (_object, { storage }) => [...storage.sql.exec("select id from members")].length);
  expect(await stored()).toBe(1);
  expect((await admin("DELETE", `/members/${ann}`)).status).toBe(200);
  expectError(await of(ann), 404, "member_not_found");
  pass(25 * HOUR);
  await runInDurableObject(object, (instance) => instance.alarm());
  await workIsDone(object);
  expect(await stored()).toBe(0);
});

test("the numbers of a member that get there after a day, by a scheduled message, are gone after two more days", async () => {
  const { ann, bob, send, report, organizationId } = await desk();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const stored = () =>
    runInDurableObject(object, (_object, { storage }) =>
      storage.sql
        .exec("select id from members order by id")
        .toArray()
        .map(({ id }) => id),
    );
  const ring = async () => {
    await runInDurableObject(object, (instance) => instance.alarm());
    await workIsDone(object);
  };
  await send({ senderId: bob });
  await send({ senderId: ann, scheduledAt: new Date(Date.now() + 49 * HOUR).toISOString() });
  expect((await admin("DELETE", `/members/${ann}`)).status).toBe(200);
  for (const hours of [25, 25]) {
    pass(hours * HOUR);
    await ring();
    await report();
  }
  await report();
  expect(await stored()).toEqual([ann, bob].toSorted());
  for (const hours of [25, 25]) {
    pass(hours * HOUR);
    await ring();
  }
  expect(await stored()).toEqual([bob]);
  expect(
    await runInDurableObject(object, (_object, { storage }) =>
      storage.sql.exec("select * from leaving_members").toArray(),
    ),
  ).toEqual([]);
});
