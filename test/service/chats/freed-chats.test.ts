import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { breakObject, countCalls } from "../../support/faults.ts";
import { admin, expectError } from "../../support/harness.ts";
import { team } from "./assignment-fixtures.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

test("the chats of a removed member are freed, 20 a second, each with its event, and no other", async () => {
  const { organizationId, ann, ben, newChat, assign, assigneeOf, assignments, idsOf } = await team();
  const chats: string[] = [];
  for (let n = 0; n < 25; n++) chats.push((await newChat()).id);
  const [kept = "", ...given] = chats;
  await assign(kept, ben);
  for (const id of given) await assign(id, ann);
  await admin("DELETE", `/members/${ann}`);
  const object = env.ORGANIZATIONS.getByName(organizationId);
  expect(await runAlarm(object)).toBe(true);
  expect(await idsOf(`assignee=${ann}&limit=50`)).toHaveLength(4);
  vi.advanceTimersByTime(1_000);
  expect(await runAlarm(object)).toBe(true);
  expect(await idsOf(`assignee=${ann}`)).toEqual([]);
  expect(await assigneeOf(kept)).toBe(ben);
  for (const id of given) expect((await assignments(id)).at(-1)).toMatchObject({ assigneeId: null, by: null });
  expect(await assignments(kept)).toHaveLength(1);
});

test("chats are freed too if nobody says that the member was removed: the directory is asked after a minute", async () => {
  const { organizationId, ann, ben, newChat, assign, assigneeOf } = await team();
  const [one, two] = [await newChat(), await newChat()];
  await assign(one.id, ann);
  await assign(two.id, ben);
  const object = env.ORGANIZATIONS.getByName(organizationId);
  for (const member of [ann, ben]) await object.beginMemberChange(organizationId, `change of ${member}`, member);
  await env.DB.prepare("delete from members where id = ?").bind(ann).run();
  await runAlarm(object);
  expect(await assigneeOf(one.id)).toBe(ann);
  vi.advanceTimersByTime(60_000);
  expect(await runAlarm(object)).toBe(true);
  vi.advanceTimersByTime(1_000);
  await runAlarm(object);
  expect([await assigneeOf(one.id), await assigneeOf(two.id)]).toEqual([null, ben]);
});

test("a chat that was assigned by a call from before the removal is freed when it is reported", async () => {
  const { organizationId, ann, newChat, assigneeOf } = await team();
  const chat = await newChat();
  await admin("DELETE", `/members/${ann}`);
  const object = env.ORGANIZATIONS.getByName(organizationId);
  await runAlarm(object);
  const as = { organizationId, knownIdentity: await object.identity(chat.id), isRepeat: false };
  const late = { assigneeId: ann, by: { type: "key" as const, id: "key_g1", name: "Key" } };
  expect(await env.CHATS.getByName(chat.id).assign(as, late, {})).toEqual({ outcome: "ok" });
  vi.advanceTimersByTime(1_000);
  expect(await runAlarm(object)).toBe(true);
  expect(await assigneeOf(chat.id)).toBeNull();
});

test("a chat that can't be freed is tried again later, and holds up no other", async () => {
  const { organizationId, ann, newChat, assign, assigneeOf } = await team();
  const [broken, other] = [await newChat(), await newChat()];
  for (const { id } of [broken, other]) await assign(id, ann);
  await admin("DELETE", `/members/${ann}`);
  const object = env.ORGANIZATIONS.getByName(organizationId);
  breakObject("CHATS", broken.id, "free");
  await runAlarm(object);
  vi.restoreAllMocks();
  expect([await assigneeOf(broken.id), await assigneeOf(other.id)]).toEqual([ann, null]);
  vi.advanceTimersByTime(60_000);
  await runAlarm(object);
  expect(await assigneeOf(broken.id)).toBeNull();
});

test("one chat that can never be freed holds up none of the many others, and is tried as long as it takes", async () => {
  const { ann, newChat, assign, assigneeOf, idsOf, ring } = await team();
  const chats: string[] = [];
  for (let n = 0; n < 45; n++) chats.push((await newChat()).id);
  for (const id of chats) await assign(id, ann);
  await admin("DELETE", `/members/${ann}`);
  const [broken = ""] = chats;
  breakObject("CHATS", broken, "free");
  const left: number[] = [];
  for (let second = 0; second < 3; second++) {
    await ring();
    left.push((await idsOf(`assignee=${ann}&limit=100`)).length);
    vi.advanceTimersByTime(1_000);
  }
  expect([45 - (left[0] ?? 0) <= 20, left.at(-1)]).toEqual([true, 1]);
  for (let hour = 0; hour < 30; hour++) {
    vi.advanceTimersByTime(3_600_000);
    await ring();
  }
  expect(await assigneeOf(broken)).toBe(ann);
  vi.restoreAllMocks();
  vi.advanceTimersByTime(7_200_000);
  await ring();
  expect(await assigneeOf(broken)).toBeNull();
});

const DAY = 86_400_000;

test("a chat that got another assignee before it was tried again is not tried again", async () => {
  const { ann, ben, newChat, assign, assigneeOf, ring, rows } = await team();
  const chat = await newChat();
  await assign(chat.id, ann);
  await admin("DELETE", `/members/${ann}`);
  breakObject("CHATS", chat.id, "free");
  await ring();
  vi.restoreAllMocks();
  await assign(chat.id, ben);
  vi.advanceTimersByTime(120_000);
  await ring();
  expect(await rows("select * from retries")).toEqual([]);
  expect(await assigneeOf(chat.id)).toBe(ben);
});

test("chats that are freed again count among the 20 of a second", async () => {
  const { ann, newChat, assign, idsOf, ring } = await team();
  const chats: string[] = [];
  for (let n = 0; n < 25; n++) chats.push((await newChat()).id);
  for (const id of chats) await assign(id, ann);
  await admin("DELETE", `/members/${ann}`);
  breakObject("CHATS", chats, "free");
  await ring();
  vi.restoreAllMocks();
  vi.advanceTimersByTime(60_000);
  const frees = countCalls("CHATS", "free");
  await ring();
  expect(frees()).toBe(20);
  vi.advanceTimersByTime(1_000);
  await ring();
  expect(await idsOf(`assignee=${ann}`)).toEqual([]);
});

test("a chat whose object was broken for more than a day is still freed, and only then the member is forgotten", async () => {
  const { ann, newChat, assign, assigneeOf, ring, rows } = await team();
  const { id } = await newChat();
  await assign(id, ann);
  await admin("DELETE", `/members/${ann}`);
  breakObject("CHATS", id, "free");
  await ring();
  vi.advanceTimersByTime(DAY);
  await ring();
  vi.restoreAllMocks();
  vi.advanceTimersByTime(DAY / 2);
  await ring();
  expect(await assigneeOf(id)).toBeNull();
  vi.advanceTimersByTime(DAY);
  await ring();
  expect(await rows("select * from leaving_members")).toEqual([]);
});

test("a removal that is repeated does not shorten the day for which a member is remembered", async () => {
  const { object, organizationId, ann, newChat, rows } = await team();
  await newChat();
  await admin("DELETE", `/members/${ann}`);
  const leaving = () => rows("select * from leaving_members");
  const before = await leaving();
  expect(before).toEqual([{ id: ann, at: Date.now() + DAY, is_removed: 1 }]);
  await object.beginMemberChange(organizationId, "again", ann);
  expect(await leaving()).toEqual(before);
});

test("a chat whose new assignee is not reported yet tells it when its old one is removed", async () => {
  const { organizationId, ann, ben, newChat, assign, idsOf, ring, rows } = await team();
  const { id } = await newChat();
  await assign(id, ann);
  breakObject("ORGANIZATIONS", organizationId, "report");
  expectError(await assign(id, ben), 503, "unavailable");
  await admin("DELETE", `/members/${ann}`);
  await ring();
  // It holds up no other chat.
  expect(await rows("select chat_id, work from retries")).toEqual([{ chat_id: id, work: "free" }]);
  vi.restoreAllMocks();
  vi.advanceTimersByTime(60_000);
  await ring();
  expect(await idsOf(`assignee=${ben}`)).toEqual([id]);
  expect(await rows("select * from retries")).toEqual([]);
});

test("a chat that its organization has as a removed member's, although it was told otherwise, tells it again", async () => {
  const { ann, ben, newChat, assign, idsOf, ring, rows } = await team();
  const { id } = await newChat();
  await assign(id, ben);
  await admin("DELETE", `/members/${ann}`);
  // As after a restore of the organization's storage.
  await rows(`update chats set assignee = '${ann}', report = 0`);
  await ring();
  expect(await idsOf(`assignee=${ben}`)).toEqual([id]);
});
