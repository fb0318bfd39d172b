import { expect, test } from "vitest";
import { created, expectError, expectFaults } from "../../support/harness.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { searchPlace } from "./fixtures.ts";

stopTheClock();

const encoded = encodeURIComponent;

test("a search has 2 to 100 characters, and says something", async () => {
  const { api } = await searchPlace();
  for (const search of ["a", "é", "a".repeat(101), "  ", "\u200b\u200b", "e\u0301"])
    expectFaults(await api("GET", `/messages?search=${encoded(search)}`), "search");
  for (const search of ["ab", "éa", "🙂", "a".repeat(100), "..", "ก็"])
    expect((await api("GET", `/messages?search=${encoded(search)}`)).status, search).toBe(200);
  expectError(await api("GET", "/messages"), 400, "missing_field");
  expectFaults(await api("GET", "/messages?search="), "search");
});

test("quotes, operators and wildcards are ordinary characters", async () => {
  const { chat, told, found } = await searchPlace();
  const { post } = await chat();
  const texts = [
    'He said "no"',
    "cats OR dogs",
    "NEAR(a b)",
    "100 % _ * ^ $ \\",
    "a-b:c {d} 'e'",
    "grams MATCH x",
    "col:x",
  ];
  for (const content of texts) created(await post({ content }));
  await told();
  for (const text of texts) {
    for (const part of [text, text.slice(0, 4), text.slice(-4)]) expect(await found(part), part).toContain(text);
  }
  for (const search of ['" OR "', "cats dogs", "ca*", "NEAR(a, b)", "he said no", "%%", "'; drop table messages"])
    expect(await found(search), search).toEqual([]);
});

test("a cursor belongs to its search, its filters and its organization", async () => {
  const [one, other] = [await searchPlace(), await searchPlace()];
  for (const { chat, told } of [one, other]) {
    const { post } = await chat();
    for (const content of ["A word", "Another word"]) created(await post({ content }));
    await told();
  }
  const { body } = await one.api("GET", "/messages?search=word&limit=1");
  const before = encoded(body.pagination.cursor);
  expect((await one.api("GET", `/messages?search=word&limit=2&before=${before}`)).status).toBe(200);
  for (const query of ["search=words", "search=word&direction=INBOUND", "search=word&since=2026-01-01T00:00:00Z"])
    expectFaults(await one.api("GET", `/messages?${query}&before=${before}`), "before");
  expectFaults(await other.api("GET", `/messages?search=word&before=${before}`), "before");
  for (const wrong of ["x", "a".repeat(129), body.messages[0].message.id, `${before}A`])
    expectFaults(await one.api("GET", `/messages?search=word&before=${wrong}`), "before");
});

test("filters that can't be are refused, and each names itself", async () => {
  const { api } = await searchPlace();
  const faulty = {
    channel: "fax",
    assignee: "Ann",
    direction: "UP",
    since: "yesterday",
    until: "2026-02-31T00:00:00Z",
  };
  for (const [name, value] of Object.entries({ ...faulty, limit: "101", after: "x", page: "2", chat: "x" }))
    expectFaults(await api("GET", `/messages?search=word&${name}=${value}`), name);
});
