import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { asOwner } from "../../support/as-owner.ts";
import { aroundCall, breakObjects, countRoundTrips } from "../../support/faults.ts";
import {
  admin,
  client,
  expectError,
  newChannel,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { TOMORROW } from "../../support/tomorrow.ts";
import {
  CANARY,
  chatRows,
  expectAllErased,
  fullOrganization,
  held,
  objectsOf,
  rowsThatName,
} from "./erase-fixtures.ts";

test("a deleted organization is returned, and nothing of it is left anywhere", async () => {
  const full = await fullOrganization();
  const { search: _search, ...organization } = (await admin("GET", `/organizations/${full.organizationId}`)).body
    .organization;
  expect(Object.keys(await rowsThatName(full.organizationId)).length).toBe(6);
  expect((await held(objectsOf(full))).length).toBeGreaterThan(5);
  const answer = await admin("DELETE", `/organizations/${full.organizationId}`);
  expect([answer.status, answer.body]).toEqual([200, { organization }]);
  await expectAllErased(full);
});

test("a deletion does not change another organization", async () => {
  const [gone, stays] = [await fullOrganization(), await fullOrganization()];
  const before = [await rowsThatName(stays.organizationId), await held(objectsOf(stays))];
  await admin("DELETE", `/organizations/${gone.organizationId}`);
  expect([await rowsThatName(stays.organizationId), await held(objectsOf(stays))]).toEqual(before);
  expect((await stays.api("GET", `/chats/${stays.chatIds[0]}/messages`)).text).toContain(CANARY);
});

test("from the first step of a deletion, an organization's keys are refused and nothing can be added to it", async () => {
  const full = await fullOrganization();
  const { organizationId, channelId } = full;
  breakObjects("CHATS", "erase");
  expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(503);
  vi.restoreAllMocks();
  expectError(await full.api("GET", "/key"), 401, "invalid_api_key");
  const refused: [string, object, string][] = [
    ["members", { name: "Bob" }, "organization_not_found"],
    ["channels", { kind: "web", name: "Site" }, "organization_not_found"],
    ["templates", { name: "t", language: "en", body: "Hi" }, "organization_not_found"],
    ["replies", { name: "r", content: "Hi" }, "organization_not_found"],
    ["labels", { name: "l" }, "organization_not_found"],
    ["keys", { name: "Key" }, "organization_not_found"],
    ["chats", { channelId, contact: { address: "new" } }, "organization_not_found"],
  ];
  for (const [list, body, code] of refused)
    expectError(await admin("POST", `/organizations/${organizationId}/${list}`, body), 404, code);
});

test("a key whose object could not be reached is valid at most until the deletion is repeated", async () => {
  const full = await fullOrganization();
  breakObjects("KEYS", "beginChange");
  expectError(await admin("DELETE", `/organizations/${full.organizationId}`), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await full.api("GET", "/key")).status).toBe(200);
  breakObjects("KEYS", "erase");
  expectError(await admin("DELETE", `/organizations/${full.organizationId}`), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await full.api("GET", "/key")).status).toBe(401);
  expect((await admin("DELETE", `/organizations/${full.organizationId}`)).status).toBe(200);
  await expectAllErased(full);
});

test("a key whose object has no record is refused from the mark of the deletion on", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId);
  breakObjects("KEYS", "erase");
  expectError(await admin("DELETE", `/organizations/${organizationId}`), 503, "unavailable");
  vi.restoreAllMocks();
  expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key");
});

const ADDITIONS: [string, object][] = [
  ["members", { name: "Bob" }],
  ["channels", { kind: "web", name: "Site" }],
  ["templates", { name: "t", language: "en", body: "Hi" }],
  ["replies", { name: "r", content: "Hi" }],
  ["labels", { name: "l" }],
  ["keys", { name: "Key" }],
];

test.each(ADDITIONS)(
  "an addition to %s during the deletion of the organization is refused as after it",
  async (list, body) => {
    const { organizationId } = await newOrganization();
    const rows = await rowsThatName(organizationId);
    aroundCall("ORGANIZATIONS", "beginAct", {
      after: () => env.DB.prepare("update organizations set erasing_at = 1 where id = ?").bind(organizationId).run(),
    });
    const answer = await admin("POST", `/organizations/${organizationId}/${list}`, body);
    expectError(answer, 404, "organization_not_found");
    expect(await rowsThatName(organizationId)).toEqual(rows);
  },
);

test.each(ADDITIONS)("an addition to %s just before the organization is gone is refused too", async (list, body) => {
  const { organizationId } = await newOrganization();
  aroundCall("ORGANIZATIONS", "beginAct", {
    after: async () => expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200),
  });
  const answer = await admin("POST", `/organizations/${organizationId}/${list}`, body);
  expectError(answer, 404, "organization_not_found");
  expect(await rowsThatName(organizationId)).toEqual({});
});

test("a chat that is half erased is not returned, counted or listed", async () => {
  // The organization's alarm does not complete the deletion.
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { api, channelId, organizationId } = await newOrganization();
  const [stays, half] = [await newChat(api, channelId), await newChat(api, channelId)];
  breakObjects("CHATS", "erase");
  for (const _ of [1, 2]) expectError(await admin("DELETE", `/chats/${half.id}`), 503, "unavailable");
  vi.restoreAllMocks();
  const asked = { channelId, contact: { address: half.contact.address } };
  expectError(await api("POST", "/chats", asked), 503, "unavailable");
  expectError(await admin("POST", `/organizations/${organizationId}/chats`, asked), 503, "unavailable");
  expectError(await api("GET", `/chats/${half.id}`), 404, "chat_not_found");
  const lists: [string, string[]][] = [
    ["", [stays.id]],
    ["?channel=web", [stays.id]],
    [`?channel=${channelId}`, [stays.id]],
    [`?contact=${half.contact.address}`, []],
  ];
  for (const [query, ids] of lists) {
    const { chats, pagination } = (await api("GET", `/chats${query}`)).body;
    expect([chats.map((chat: { id: string }) => chat.id), pagination.total], query).toEqual([ids, ids.length]);
  }
  expect((await admin("DELETE", `/chats/${half.id}`)).status).toBe(200);
  expect((await api("GET", "/chats")).body.pagination.total).toBe(1);
  expect((await api("POST", "/chats", asked)).status).toBe(201);
  expect((await api("GET", "/chats")).body.pagination.total).toBe(2);
});

test("the chats of a half-erased channel are not listed or counted", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const telegramId = await newChannel(organizationId, "telegram");
  const [stays, half] = [await newChat(api, channelId), await newChat(api, telegramId, "4711")];
  breakObjects("CHATS", "erase");
  expectError(await admin("DELETE", `/channels/${telegramId}`), 503, "unavailable");
  vi.restoreAllMocks();
  for (const query of ["", "?page=1", "?contact=4711", `?before=${half.id}`]) {
    const { chats, pagination } = (await api("GET", `/chats${query}`)).body;
    const ids = query === "?contact=4711" ? [] : [stays.id];
    expect([chats.map((chat: { id: string }) => chat.id), pagination.total], query).toEqual([ids, ids.length]);
  }
});

test("more than 500 keys and channels are erased over several requests, and each one continues", async () => {
  const { channelId, organizationId, keyId } = await newOrganization();
  const many = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 300)";
  const id = "'_g' || substr('00000000000' || i, -11) || substr(?1, -4)";
  await env.DB.batch([
    env.DB.prepare(
      `${many} insert into api_keys (id, organization_id, name, hash, permissions, rate_limit, window_seconds, created_at)
       select 'key' || ${id}, ?1, 'K', '', '[]', 1, 1, 0 from n`,
    ).bind(organizationId),
    env.DB.prepare(
      `${many} insert into channels (id, organization_id, kind, name, settings, credential_hints, created_at)
       select 'chn' || ${id}, ?1, 'web', 'C', '{}', '{}', 0 from n`,
    ).bind(organizationId),
  ]);
  let erased = 0;
  for (const [objects, used] of [
    [env.KEYS, keyId],
    [env.CHANNELS, channelId],
  ] as const) {
    // The others were never used, and it would be slow to create 600 empty objects.
    const getByName = objects.getByName.bind(objects) as (...named: unknown[]) => unknown;
    const unused = { beginChange: async () => 0, erase: async () => ++erased };
    vi.spyOn(objects, "getByName").mockImplementation(((...named: [string]) =>
      named[0] === used ? getByName(...named) : unused) as never);
  }
  const roundTrips = countRoundTrips();
  expectError(await admin("DELETE", `/organizations/${organizationId}`), 503, "unavailable");
  expect(erased + roundTrips()).toBeLessThan(600);
  const left = await rowsThatName(organizationId);
  expect([left.api_keys, left.channels]).toEqual([undefined, 102]);
  expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
  expect(await rowsThatName(organizationId)).toEqual({});
});

test("a deleted channel takes its chats and their queues with it, and no others", async () => {
  const full = await fullOrganization();
  const { api, telegramId, organizationId, chatIds } = full;
  const { channel } = (await admin("GET", `/channels/${telegramId}`)).body;
  const answer = await admin("DELETE", `/channels/${telegramId}`);
  expect([answer.status, answer.body]).toEqual([200, { channel }]);
  expect(await rowsThatName(telegramId)).toEqual({});
  const [web = "", ...ofTelegram] = chatIds;
  expect(await held([...ofTelegram.map((id) => env.CHATS.getByName(id)), env.CHANNELS.getByName(telegramId)])).toEqual(
    [],
  );
  for (const id of ofTelegram) expectError(await api("GET", `/chats/${id}/messages`), 404, "chat_not_found");
  expect((await api("GET", `/chats/${web}/messages`)).text).toContain(CANARY);
  expect((await admin("GET", `/organizations/${organizationId}/chats`)).body.pagination.total).toBe(1);
  expectError(await admin("DELETE", `/channels/${telegramId}`), 404, "channel_not_found", /^Channel not found$/);
  expectError(
    await api("POST", "/chats", { channelId: telegramId, contact: { address: "1" } }),
    404,
    "channel_not_found",
  );
});

test.each([
  ["the chat's", "CHATS", "erase"],
  ["the organization's", "ORGANIZATIONS", "deleteChat"],
] as const)(
  "a chat whose deletion fails because %s object can't be reached is erased by repeating it",
  async (_name, namespace, method) => {
    const { api, channelId, organizationId } = await newOrganization();
    const chat = await newChat(api, channelId);
    await send(api, chat.id, { content: CANARY });
    breakObjects(namespace, method);
    expect((await admin("DELETE", `/chats/${chat.id}`)).status).toBe(503);
    vi.restoreAllMocks();
    const repeated = await admin("DELETE", `/chats/${chat.id}`);
    expect([repeated.status, repeated.body.chat.id]).toEqual([200, chat.id]);
    expect(await chatRows(organizationId)).toEqual([]);
    expect(await held([env.CHATS.getByName(chat.id)])).toEqual([]);
    expectError(await api("GET", `/chats/${chat.id}/messages`), 404, "chat_not_found");
  },
);

test("a chat that is used while it is deleted is not adopted again", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await send(api, chat.id, { content: CANARY });
  const late = {
    chatId: chat.id,
    organizationId,
    channelId,
    channelKind: "web" as const,
    contactAddress: "someone",
    createdAt: 0,
    life: Date.parse(chat.createdAt),
    addresses: [],
  };
  const sends = Array.from({ length: 10 }, () => api("POST", `/chats/${chat.id}/messages`, { content: CANARY }));
  const [deleted] = await Promise.all([admin("DELETE", `/chats/${chat.id}`), ...sends]);
  expect(deleted?.status).toBe(200);
  for (const { status } of await Promise.all(sends)) expect([201, 404]).toContain(status);
  expect(await env.CHATS.getByName(chat.id).state(asOwner(organizationId, late))).toEqual({ outcome: "unknown" });
  expect(await held([env.CHATS.getByName(chat.id)])).toEqual([]);
});

test("more than 500 chats are erased over several requests, and all but the last are 503", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await send(api, chat.id, { content: CANARY });
  await runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) => {
    storage.sql.exec(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < 520)
       insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at)
       select 'cht_g' || substr('00000000000' || i, -11) || substr(?1, -4), ?1, 'adopted', i, 'a' || i, '{}', i, i from n`,
      channelId,
    );
  });
  // The others were never used, and it would be slow to create 520 empty objects.
  const getByName = env.CHATS.getByName.bind(env.CHATS);
  const unused = { erase: () => Promise.resolve() } as unknown as ReturnType<typeof getByName>;
  vi.spyOn(env.CHATS, "getByName").mockImplementation((...named) =>
    named[0] === chat.id ? getByName(...named) : unused,
  );
  const first = await admin("DELETE", `/organizations/${organizationId}`);
  expectError(first, 503, "unavailable");
  expect(Number(first.headers.get("Retry-After"))).toBeGreaterThan(0);
  // The first of the 500 objects was the key.
  expect((await chatRows(organizationId)).length).toBe(22);
  expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
  expect(await rowsThatName(organizationId, channelId)).toEqual({});
  expectError(await api("GET", "/key"), 401, "invalid_api_key");
  vi.restoreAllMocks();
  expect(await held([env.CHATS.getByName(chat.id)])).toEqual([]);
});
