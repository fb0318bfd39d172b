import { expect, test } from "vitest";
import { ADMIN_TOKEN } from "../../cli/fake-service.ts";
import { BY_KEY, requestsOf } from "./requests.ts";

test("parley search finds chats by their contact, or the messages of a chat", async () => {
  const chats = [{ id: "cht_g1", channel: { kind: "web" }, contact: { address: "4711", name: "Ana" } }];
  const found = await requestsOf(["search", "An"], BY_KEY, { chats });
  expect([found.code, found.asked.map(([, path]) => path)]).toEqual([0, ["/api/v1/chats?search=An"]]);
  expect(found.stdout).toMatch(/^cht_g1 +web +4711 +Ana/m);
  const operator = { PARLEY_ADMIN_TOKEN: ADMIN_TOKEN };
  const foreign = await requestsOf(["search", "An", "--organization", "org_g1"], operator, { chats });
  expect(foreign.asked.map(([, path]) => path)).toEqual(["/admin/v1/organizations/org_g1/chats?search=An"]);
  const messages = [{ seq: 3, id: "msg_g1", createdAt: "2026-11-20T10:00:00.000Z", text: "the invoice" }];
  const pagination = { limit: 1, hasMore: true, cursor: "msg_g1" };
  const inChat = await requestsOf(["search", "invoice", "cht_g1", "--limit", "1"], BY_KEY, { messages, pagination });
  expect(inChat.asked.map(([, path]) => path)).toEqual(["/api/v1/chats/cht_g1/messages?search=invoice&limit=1"]);
  expect(inChat.stdout).toMatch(/^3 +msg_g1 .* the invoice$/m);
  expect(inChat.stderr).toBe("For more, add --before msg_g1\n");
});

test("parley search --messages finds messages of all chats, and shows the part that was searched for", async () => {
  const text = `Good morning, as I said on the phone the other day, where is my Réfund?${" And so on.".repeat(20)}`;
  const message = { id: "msg_g1", createdAt: "2026-11-20T10:00:00.000Z", direction: "INBOUND", text };
  const chat = { id: "cht_g1", contact: { address: "4711", name: "Ana" } };
  const nameless = {
    message: { ...message, text: "A refund" },
    chat: { ...chat, contact: { address: "4711", name: null } },
  };
  const pagination = { limit: 20, hasMore: true, cursor: "c1" };
  const answer = { messages: [{ message, chat }, nameless], pagination };
  const argv = ["search", "--messages", "refund", "--direction", "INBOUND", "--channel", "web", "--assignee", "none"];
  const since = "2026-11-01T00:00:00Z";
  const found = await requestsOf([...argv, "--since", since, "--limit", "2"], BY_KEY, answer);
  expect(found.asked.map(([method, path]) => [method, path])).toEqual([
    [
      "GET",
      `/api/v1/messages?search=refund&limit=2&direction=INBOUND&channel=web&assignee=none&since=${encodeURIComponent(since)}`,
    ],
  ]);
  const lines = found.stdout.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^CHAT +WHEN +CONTACT +FROM +TEXT$/);
  expect(lines[1]).toMatch(/^cht_g1 +.* Ana +INBOUND +….*my Réfund\? And so on\..*…$/);
  expect(lines[2]).toMatch(/^cht_g1 +.* 4711 +INBOUND +A refund$/);
  expect(found.stderr).toBe("For more, add --before c1\n");
  const asJson = await requestsOf(["search", "--messages", "refund", "--json"], BY_KEY, answer);
  expect(JSON.parse(asJson.stdout)).toMatchObject(answer);
});

test.each([
  [["search", "refund", "--since", "yesterday"], "--since needs --messages."],
  [["search", "--messages", "refund", "cht_g1"], "Give a chat or --messages, not both."],
  [["search", "--messages", "refund", "--until", "soonish"], "--until is not a time: soonish"],
])("parley %j is refused before it asks", async (argv, reason) => {
  const { code, stderr, asked } = await requestsOf(argv, BY_KEY);
  expect([code, asked]).toEqual([2, []]);
  expect(stderr).toContain(reason);
});
