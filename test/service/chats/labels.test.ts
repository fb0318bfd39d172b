import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { MAX_LABELS_OF_CHAT } from "../../../src/model/label.ts";
import type { ChatReport } from "../../../src/model/organization.ts";
import { runAlarm } from "../../support/alarms.ts";
import { aroundCall, breakObjects, countHops, replaceMethod } from "../../support/faults.ts";
import { admin, client, created, expectError, newChat, newKey } from "../../support/harness.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { labelPlace, labelsOf } from "./label-fixtures.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

test("a chat gets labels and loses them, each change is one event, and the same again makes no event", async () => {
  const { make, give, take, names, shown, listed, updates, counts, events } = await labelPlace();
  expect((await shown()).labels).toEqual([]);
  expect((await listed()).labels).toEqual([]);
  const [refund, later] = [await make("Refund"), await make("Later")];
  expect((await give(later)).labels).toEqual([{ id: later, name: "Later" }]);
  const both = await give(refund);
  const labels = [
    { id: later, name: "Later" },
    { id: refund, name: "Refund" },
  ];
  expect(both.labels).toEqual(labels);
  expect((await listed()).labels).toEqual(labels);
  expect(await give(refund)).toEqual(both);
  expect(await counts()).toEqual({ Refund: 1, Later: 1 });
  expect(await updates()).toHaveLength(2);
  expect((await events()).at(-1)).toMatchObject({ type: "chat.updated", data: { chat: both } });
  expect((await take(later)).labels).toEqual([{ id: refund, name: "Refund" }]);
  expect(await take(later)).toEqual(await shown());
  expect(await names()).toEqual([["Refund"], ["Refund"]]);
  expect(await counts()).toEqual({ Refund: 1, Later: 0 });
  expect(await updates()).toHaveLength(3);
});

test("a new name and a deletion are in the chat, the list, the events and the export at once, without a call of the chat", async () => {
  const { make, give, rename, remove, names, updates, organizationId, chatId, rows } = await labelPlace();
  const [refund, later] = [await make("Refund"), await make("Later")];
  await give(refund);
  await give(later);
  const { secret } = await newKey(organizationId, { permissions: ["data:export", "events:read"] });
  const reader = client(secret);
  const everywhere = async () => {
    const [first] = await updates();
    const event = (await reader("GET", `/events/${(await reader("GET", `/chats/${chatId}/events`)).body.events[1].id}`))
      .body.event;
    const exports = [await reader("GET", "/export"), await reader("GET", `/chats/${chatId}/export`)];
    const exported = exports.map(({ text }) =>
      JSON.parse(text.split("\n").find((line) => line.includes('"chat":')) ?? ""),
    );
    const chats = [first?.data.chat, event.data.chat, ...exported.map(({ chat }) => chat)];
    return [...(await names()), ...chats.map(({ labels }) => labels.map(({ name }: { name: string }) => name))];
  };
  expect(await everywhere()).toEqual(Array(6).fill(["Refund", "Later"]));
  const before = await rows("select * from chats");
  breakObjects("CHATS", /./);
  expect((await rename(refund, "Money back")).status).toBe(200);
  expect((await remove(later)).body.label).toMatchObject({ name: "Later", chats: 1 });
  vi.restoreAllMocks();
  expect(await rows("select * from chats")).toEqual(before);
  expect(await everywhere()).toEqual(Array(6).fill(["Money back"]));
});

test("a new name is one row", async () => {
  const { make, give, organizationId, organization } = await labelPlace();
  const id = await make("Refund");
  await give(id);
  const { rows } = await objectWrites({ object: organization }, async () => {
    await env.ORGANIZATIONS.getByName(organizationId).changeLabel(id, { name: "Money back" });
  });
  expect(rows).toBe(1);
});

test("the rows of a deleted label go in steps by the alarm, and its name is free before", async () => {
  const { make, give, remove, organization, pairs, rows, organizationId, names } = await labelPlace();
  const [id, other] = [await make("Refund"), await make("Later")];
  await give(id);
  await give(other);
  await rows(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1200)
    insert into chat_labels (label_id, chat_id) select '${id}', printf('cht_g%015d', n) from numbers`);
  await remove(id);
  const again = await labelsOf(organizationId).make("REFUND");
  expect(await pairs()).toHaveLength(1_202);
  pass(29_000);
  await runAlarm(organization());
  expect(await pairs()).toHaveLength(1_202);
  pass(1_001);
  await runAlarm(organization());
  expect((await pairs()).map(({ label_id }) => label_id)).toEqual([other]);
  expect((await rows("select id from labels order by id")).map(({ id: left }) => left)).toEqual(
    [other, again].toSorted(),
  );
  expect(await names()).toEqual([["Later"], ["Later"]]);
});

test("a chat has at most 20 labels, and deleted ones leave room", async () => {
  const { makeMany, give, put, drop, remove, shown } = await labelPlace();
  const ids = await makeMany(MAX_LABELS_OF_CHAT + 2);
  const [more = "", most = "", ...first] = ids.toReversed();
  for (const id of first) await give(id);
  for (const id of [more, most]) {
    const refused = await put(id);
    expect([refused.status, refused.body]).toEqual([
      409,
      { error: "The chat already has 20 labels. Take one off first", code: "label_limit" },
    ]);
  }
  // One that it has is no further one, and one that it has not can be taken off.
  expect((await put(first[0] ?? "")).status).toBe(200);
  expect((await drop(more)).status).toBe(200);
  for (const id of first.slice(0, 2)) await remove(id);
  await give(more);
  expect((await give(most)).labels).toHaveLength(MAX_LABELS_OF_CHAT);
  expect((await shown()).labels.map(({ id }) => id)).toEqual([...first.slice(2), more, most]);
});

test("of requests at once for a chat's last place, one succeeds, and all others keep their labels", async () => {
  const { makeMany, give, put, shown } = await labelPlace();
  const ids = await makeMany(MAX_LABELS_OF_CHAT + 3);
  for (const id of ids.slice(0, MAX_LABELS_OF_CHAT - 1)) await give(id);
  const answers = await Promise.all(ids.slice(MAX_LABELS_OF_CHAT - 1).map(put));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  expect((await shown()).labels).toHaveLength(MAX_LABELS_OF_CHAT);
});

test("requests at once with different labels lose none", async () => {
  const { makeMany, put, drop, shown, counts } = await labelPlace();
  const ids = await makeMany(8);
  await Promise.all(ids.map(put));
  expect((await shown()).labels.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  await Promise.all(ids.slice(0, 5).map(drop));
  expect((await shown()).labels.map(({ id }) => id).toSorted()).toEqual(ids.slice(5).toSorted());
  expect(Object.values(await counts()).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
});

test("a label that is deleted while a chat gets it is in no chat, and leaves no row", async () => {
  const { make, put, remove, names, pairs, rows, organization } = await labelPlace();
  const checked = await make("Refund");
  // Between the chat's question and its commit.
  aroundCall("ORGANIZATIONS", "labelsAmong", { after: () => remove(checked) });
  expect((await put(checked)).body.chat.labels).toEqual([]);
  vi.restoreAllMocks();
  expect(await names()).toEqual([[], []]);
  // Between its commit and its report.
  const reported = await make("Refund");
  aroundCall("ORGANIZATIONS", "report", { before: () => remove(reported) });
  expect((await put(reported)).body.chat.labels).toEqual([]);
  vi.restoreAllMocks();
  expect(await names()).toEqual([[], []]);
  expect(await pairs()).toEqual([]);
  pass(31_000);
  await runAlarm(organization());
  expect(await rows("select id from labels")).toEqual([]);
  expectError(await put(reported), 404, "label_not_found");
});

test("a label of another organization, a deleted one and what is no id are not found, whether they are given or taken", async () => {
  const [{ put, drop, make, remove, shown, updates }, other] = [await labelPlace(), await labelPlace()];
  const deleted = await make("Refund");
  await remove(deleted);
  for (const id of [await other.make("Theirs"), deleted, newId("lbl", null), "lbl_x", "x".repeat(2_000)]) {
    expectError(await put(id), 404, "label_not_found");
    expectError(await drop(id), 404, "label_not_found");
  }
  expect((await shown()).labels).toEqual([]);
  expect(await updates()).toEqual([]);
});

test("a deleted chat gets no label, its rows go at once, and one that begins again has none", async () => {
  const { api, make, give, put, drop, pairs, counts, chatId, channelId, address } = await labelPlace();
  const id = await make("Refund");
  await give(id);
  breakObjects("CHATS", "erase");
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(503);
  expect(await pairs()).toEqual([]);
  expect(await counts()).toEqual({ Refund: 0 });
  vi.restoreAllMocks();
  const deleted = await admin("DELETE", `/chats/${chatId}`);
  expect(deleted.status).toBe(200);
  for (const answer of [await put(id), await drop(id)]) expectError(answer, 404, "chat_not_found");
  expect(await counts()).toEqual({ Refund: 0 });
  const again = created(await api("POST", "/chats", { channelId, contact: { address } })).chat;
  expect(again.labels).toEqual([]);
});

test("a chat whose label could not be reported answers 503, keeps it, and the same request again is 200", async () => {
  const { make, put, names, updates, counts } = await labelPlace();
  const id = await make("Refund");
  breakObjects("ORGANIZATIONS", "report");
  expectError(await put(id), 503, "unavailable");
  // The event shows what the chat has, and the list what was reported.
  expect((await updates())[0]?.data.chat.labels).toEqual([{ id, name: "Refund" }]);
  expect(await names()).toEqual([[], []]);
  vi.restoreAllMocks();
  expect((await put(id)).body.chat.labels).toEqual([{ id, name: "Refund" }]);
  expect(await names()).toEqual([["Refund"], ["Refund"]]);
  expect(await updates()).toHaveLength(1);
  expect(await counts()).toEqual({ Refund: 1 });
});

test("a report of an object that runs an earlier version keeps the labels", async () => {
  const { make, give, says, report, names } = await labelPlace();
  await give(await make("Refund"));
  await says();
  replaceMethod("ORGANIZATIONS", "report", (original) => (given) => {
    const { labels: _unknown, ...earlier } = given as ChatReport;
    return original(earlier);
  });
  await report();
  vi.restoreAllMocks();
  expect(await names()).toEqual([["Refund"], ["Refund"]]);
});

test("a label costs no row when its chat becomes active", async () => {
  const [plain, labeled] = [await labelPlace(), await labelPlace()];
  for (const id of await labeled.makeMany(3)) await labeled.give(id);
  const cost = async ({ says, post, report, organization, object }: typeof plain) => {
    await says();
    created(await post());
    await report();
    pass(60_000);
    const act = async () => {
      await says();
      created(await post());
      await report();
    };
    const listed = await objectWrites({ object: organization }, act);
    vi.restoreAllMocks();
    const chat = await objectWrites({ object }, act);
    vi.restoreAllMocks();
    return { listed, chat };
  };
  expect(await cost(labeled)).toEqual(await cost(plain));
});

test("a chat without labels needs no further call, also in an organization that has some", async () => {
  const { api, chatId, makeMany, channelId } = await labelPlace();
  await makeMany(3);
  const hops = async (ask: () => Promise<unknown>) => {
    const counted = countHops();
    await ask();
    const found = counted();
    vi.restoreAllMocks();
    return found;
  };
  const other = await labelPlace();
  const same = async (ask: (place: Pick<typeof other, "api" | "chatId" | "channelId">) => Promise<unknown>) => {
    const place = { api, chatId, channelId };
    expect(await hops(() => ask(place))).toEqual(await hops(() => ask(other)));
  };
  await same((place) => place.api("GET", `/chats/${place.chatId}`));
  await same((place) => place.api("GET", "/chats"));
  await same((place) => newChat(place.api, place.channelId, "next"));
});
