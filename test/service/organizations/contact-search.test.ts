import { expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { type Answer, admin, expectFaults, newChannel, newOrganization } from "../../support/harness.ts";
import { once } from "../../support/once.ts";
import { add, finder, idsOf, object, place, termsIn } from "./object/contacts.ts";

/** For tests that only read. */
const shared = once(place);

test.each([
  ["maya", [0]],
  ["MAYA@", [0]],
  ["ma", [1, 0, 5]],
  ["shop", []],
  ["oka", [0]],
  ["oka ma", [0]],
  ["ma oka x", []],
  ["mara-lou@", [1]],
  ["neil", [1]],
  ["o'neil", [1]],
  ["gross", [2]],
  ["GROSS jü", [2]],
  ["1555", [2]],
  ["+1 (555) 078", [2]],
  ["555", []],
  ["1", [2, 4, 6]],
  ["المه", [3]],
  ["خالد", [3]],
  ["👍", [5]],
  ["50%", [6]],
  ["%", []],
  ["_", []],
  ["it's", [6]],
  ["' or ''='", []],
  ["jurgen", [2]],
  ["خَالِد", [3]],
  ["nobody", []],
])("a search for %s finds the contacts by the beginning of an address or of words", async (text, expected) => {
  const { ids, find } = await shared();
  const answer = await find(text);
  expect(idsOf(answer)).toEqual(expected.map((at) => ids[at]));
  expect(answer.body.pagination).toEqual({ limit: 20, hasMore: false, cursor: null });
});

test("a chat that a search finds is the same as in the list of all chats", async () => {
  const { api, ids, find } = await shared();
  const { chats } = (await api("GET", "/chats")).body;
  expect((await find("okafor")).body.chats).toEqual(chats.filter(({ id }: Chat) => id === ids[0]));
});

test("the cursor continues a search, and each chat is listed once, although many of its words match", async () => {
  const { api, channelId } = await newOrganization();
  const find = finder(api);
  const ids = new Set<string>();
  for (let number = 0; number < 25; number++) {
    const name = `Ann${number % 7} Anna Annabel-${number} Annex`;
    ids.add(await add(api, channelId, { address: number % 3 === 0 ? `anna-${number}` : `x${number}`, name }));
  }
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer: Answer = await find("ann", `&limit=4${cursor && `&after=${cursor}`}`);
    found.push(...idsOf(answer));
    cursor = answer.body.pagination.cursor;
    expect(answer.body.pagination.hasMore).toBe(cursor !== null);
  }
  expect(found).toHaveLength(25);
  expect(new Set(found)).toEqual(ids);
});

test("a cursor of another organization is a 400", async () => {
  const [ours, theirs] = [await place(), await place()];
  const { cursor } = (await theirs.find("ma", "&limit=1")).body.pagination;
  expect((await theirs.find("ma", `&after=${cursor}`)).status).toBe(200);
  expectFaults(await ours.find("ma", `&after=${cursor}`), "after");
});

test("channel narrows a search to a channel or a kind", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  const other = await newChannel(organizationId, "web");
  const telegram = await newChannel(organizationId, "telegram");
  const second = await add(api, other, { address: "maya@other.test", name: "Maya" });
  const third = await add(api, telegram, { address: "4711", name: "Maya" });
  expect(idsOf(await find("maya"))).toEqual([second, ids[0], third]);
  expect(idsOf(await find("maya", `&channel=${other}`))).toEqual([second]);
  expect(idsOf(await find("maya", `&channel=${channelId}`))).toEqual([ids[0]]);
  expect(idsOf(await find("maya", "&channel=telegram"))).toEqual([third]);
  expect(idsOf(await find("maya", "&channel=whatsapp"))).toEqual([]);
});

test("a new name and new addresses are found at once, and the old name is not", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  const id = ids[0] as string;
  expect((await api("PATCH", `/chats/${id}`, { contact: { name: "Maya Adeyemi" } })).status).toBe(200);
  expect(idsOf(await find("okafor"))).toEqual([]);
  expect(idsOf(await find("adeyemi"))).toEqual([id]);
  expect((await api("PATCH", `/chats/${id}`, { contact: { name: null } })).status).toBe(200);
  expect(idsOf(await find("adeyemi"))).toEqual([]);
  expect(idsOf(await find("maya"))).toEqual([id]);
  await object(organizationId).moveContact(
    channelId,
    { kind: "address", from: ["maya@shop.test"], to: ["okafor@new.test"], at: Date.now() },
    { same: [], possible: [] },
  );
  expect(idsOf(await find("okafor@"))).toEqual([id]);
  expect((await termsIn(organizationId, ids)).filter(([, at]) => at === 0).map(([term]) => term)).toEqual([
    "MAYA@SHOP.TEST",
    "OKAFOR@NEW.TEST",
  ]);
});

test("a deleted chat is not found, and leaves no terms", async () => {
  const { organizationId, ids, find } = await place();
  expect((await admin("DELETE", `/chats/${ids[0]}`)).status).toBe(200);
  expect(idsOf(await find("maya"))).toEqual([]);
  expect((await termsIn(organizationId, ids)).filter(([, at]) => at <= 0)).toEqual([]);
});

test("a chat of a channel that is being deleted is not found", async () => {
  const { organizationId, channelId, ids, find } = await place();
  expect(idsOf(await find("okafor"))).toEqual([ids[0]]);
  await object(organizationId).closeChannel(organizationId, channelId);
  expect(idsOf(await find("okafor"))).toEqual([]);
});

test("a search finds no contact of another organization, and the operator can search too", async () => {
  const { organizationId, ids } = await place();
  const { api } = await newOrganization();
  expect(idsOf(await finder(api)("maya"))).toEqual([]);
  expect(idsOf(await admin("GET", `/organizations/${organizationId}/chats?search=okafor`))).toEqual([ids[0]]);
});

test.each([
  ["search=", "search"],
  ["search=%20", "search"],
  ["search=%2D%2D", "search"],
  [`search=${"x".repeat(101)}`, "search"],
  ["search=a&search=b", "search"],
  ["search=a&contact=b", "search"],
  ["search=a&unanswered=true", "search"],
  ["search=a&scheduled=true", "search"],
  ["search=a&page=1", "page"],
  ["search=a&before=:id", "before"],
  ["search=a&after=:id", "after"],
  ["search=a&after=", "after"],
  ["search=a&after=WyJuYW1lIiwiTUFZQSIsImNodF94Il0", "after"],
  ["search=a&channel=fax", "channel"],
])("GET /chats?%s is a 400 that names %s", async (query, path) => {
  const { api, ids } = await shared();
  expectFaults(await api("GET", `/chats?${query.replace(":id", ids[0] as string)}`), path);
});

test("texts of any length and any characters are found again", async () => {
  const { api, channelId } = await newOrganization();
  const find = finder(api);
  const long = "x".repeat(39);
  const first = await add(api, channelId, { address: `${long}👍end-1`, name: `${long}👍ly` });
  const second = await add(api, channelId, { address: `${long}👍end-2`, name: "Q" });
  expect(idsOf(await find(`${long}👍end-1`))).toEqual([first]);
  expect(idsOf(await find(`${long}👍end`))).toEqual([first, second].toSorted());
  expect(idsOf(await find(`${long}👍l`))).toEqual([first]);
});
