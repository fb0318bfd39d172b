import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { breakObjects } from "../faults.ts";
import { admin, client, created, expectError, newChannel, newChat, newKey, newOrganization, send } from "../harness.ts";

afterEach(() => vi.restoreAllMocks());

const CANARY = "canary-7f3a";

/** An organization that holds something of every kind, the canary wherever there is room for it. */
async function fullOrganization() {
  const organization = await newOrganization({ name: CANARY });
  const { organizationId, channelId, api } = organization;
  await admin("POST", `/organizations/${organizationId}/members`, { name: CANARY });
  await admin("POST", `/organizations/${organizationId}/templates`, { name: CANARY, language: "en", body: CANARY });
  const telegramId = await newChannel(organizationId, "telegram");
  const chats = [
    created(
      await api("POST", "/chats", { channelId, contact: { address: CANARY, name: CANARY }, metadata: { a: CANARY } }),
    ).chat,
    await newChat(api, telegramId, "4711"),
    await newChat(api, telegramId, "4712"),
  ];
  for (const { id } of chats) await send(api, id, { content: CANARY });
  for (const { id } of chats) await runDurableObjectAlarm(env.CHATS.getByName(id));
  const second = await newKey(organizationId);
  await client(second.secret)("GET", "/key");
  return {
    ...organization,
    telegramId,
    chatIds: chats.map((chat) => chat.id as string),
    keyIds: [organization.keyId, second.key.id],
  };
}
type Full = Awaited<ReturnType<typeof fullOrganization>>;

const TABLES = ["organizations", "members", "channels", "templates", "chats", "chat_addresses", "api_keys"];

/** The directory's rows that name one of `ids`, by table. */
async function rowsThatName(...ids: string[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of TABLES) {
    const rows = JSON.stringify(
      (await env.DB.prepare(`select * from ${table}`).all()).results.filter((row) =>
        ids.some((id) => JSON.stringify(row).includes(id)),
      ),
    );
    if (rows !== "[]") found[table] = JSON.parse(rows).length;
  }
  return found;
}

/** What objects hold besides the mark of a chat that was erased. */
async function held(objects: DurableObjectStub[]) {
  const all = await Promise.all(
    objects.map((object) =>
      runInDurableObject(object, (_object, { storage }) => [
        ...[...storage.kv.list()].filter(([name]) => name !== "erased").map(([name]) => name),
        ...storage.sql
          .exec<{ name: string }>("select name from sqlite_master where name not like '_cf%'")
          .toArray()
          .map(({ name }) => name),
      ]),
    ),
  );
  return all.flat();
}

const objectsOf = ({ chatIds, channelId, telegramId, keyIds }: Full) => [
  ...chatIds.map((id) => env.CHATS.getByName(id)),
  ...[channelId, telegramId].map((id) => env.CHANNELS.getByName(id)),
  ...keyIds.map((id) => env.KEYS.getByName(id)),
];

async function expectAllErased(full: Full): Promise<void> {
  expect(await rowsThatName(full.organizationId, ...full.chatIds, ...full.keyIds)).toEqual({});
  expect(await held(objectsOf(full))).toEqual([]);
  expectError(await full.api("GET", "/key"), 401, "invalid_api_key");
  expect(await held(objectsOf(full))).toEqual([]);
  expectError(await admin("DELETE", `/organizations/${full.organizationId}`), 404, "organization_not_found");
}

test("a deleted organization answers with its record, and nothing of it is left anywhere", async () => {
  const full = await fullOrganization();
  const { organization } = (await admin("GET", `/organizations/${full.organizationId}`)).body;
  expect(Object.keys(await rowsThatName(full.organizationId)).length).toBe(6);
  expect((await held(objectsOf(full))).length).toBeGreaterThan(5);
  const answer = await admin("DELETE", `/organizations/${full.organizationId}`);
  expect([answer.status, answer.body]).toEqual([200, { organization }]);
  await expectAllErased(full);
});

test("a deletion leaves another organization as it was", async () => {
  const [gone, stays] = [await fullOrganization(), await fullOrganization()];
  const before = [await rowsThatName(stays.organizationId), await held(objectsOf(stays))];
  await admin("DELETE", `/organizations/${gone.organizationId}`);
  expect([await rowsThatName(stays.organizationId), await held(objectsOf(stays))]).toEqual(before);
  expect((await stays.api("GET", `/chats/${stays.chatIds[0]}/messages`)).text).toContain(CANARY);
});

type Break = () => void;
const failBatch =
  (fails: number): Break =>
  () => {
    const batch = env.DB.batch.bind(env.DB);
    let calls = 0;
    vi.spyOn(env.DB, "batch").mockImplementation((statements) =>
      ++calls === fails ? Promise.reject(new Error("D1_ERROR: lost")) : batch(statements),
    );
  };

test.each<[string, Break]>([
  ["a key's object cannot be told", () => breakObjects("KEYS", "beginChange", (call) => call > 1)],
  ["a key's object cannot be told that it is over", () => breakObjects("KEYS", "endChange")],
  ["the second chat's object cannot be reached", () => breakObjects("CHATS", "erase", (call) => call === 2)],
  ["the chats' rows cannot be deleted", failBatch(1)],
  ["a channel's object cannot be reached", () => breakObjects("CHANNELS", "erase", (call) => call === 2)],
  ["a key's object cannot be erased", () => breakObjects("KEYS", "erase", (call) => call === 2)],
  ["the last rows cannot be deleted", failBatch(2)],
])("a deletion that breaks off because %s lets nobody in, and is finished by repeating it", async (_name, breakIt) => {
  const full = await fullOrganization();
  breakIt();
  const first = await admin("DELETE", `/organizations/${full.organizationId}`);
  vi.restoreAllMocks();
  if (first.status !== 200) {
    expect(first.status).toBe(503);
    expect((await admin("DELETE", `/organizations/${full.organizationId}`)).status).toBe(200);
  }
  await expectAllErased(full);
});

test("from the first step of its deletion on an organization's keys are refused and nothing new joins it", async () => {
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
    ["keys", { name: "Key" }, "organization_not_found"],
    ["chats", { channelId, contact: { address: "new" } }, "channel_not_found"],
  ];
  for (const [list, body, code] of refused)
    expectError(await admin("POST", `/organizations/${organizationId}/${list}`, body), 404, code);
});

test("a deleted channel takes its chats and their queues with it, and no other's", async () => {
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

test.each<[string, Break]>([
  ["a chat's object cannot be reached", () => breakObjects("CHATS", "erase")],
  ["the rows cannot be deleted", failBatch(1)],
])(
  "a chat whose deletion breaks off because %s answers nobody, and is erased by repeating it",
  async (_name, breakIt) => {
    const { api, channelId } = await newOrganization();
    const chat = await newChat(api, channelId);
    await send(api, chat.id, { content: CANARY });
    breakIt();
    expect((await admin("DELETE", `/chats/${chat.id}`)).status).toBe(503);
    vi.restoreAllMocks();
    const repeated = await admin("DELETE", `/chats/${chat.id}`);
    expect([repeated.status, repeated.body.chat.id]).toEqual([200, chat.id]);
    expect(await rowsThatName(chat.id)).toEqual({});
    expect(await held([env.CHATS.getByName(chat.id)])).toEqual([]);
    expectError(await api("GET", `/chats/${chat.id}/messages`), 404, "chat_not_found");
  },
);

test("a chat that is used while it is deleted is not adopted again", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await send(api, chat.id, { content: CANARY });
  const late = { chatId: chat.id, organizationId, channelId, channelKind: "web" as const, contactAddress: "someone" };
  const sends = Array.from({ length: 10 }, () => api("POST", `/chats/${chat.id}/messages`, { content: CANARY }));
  const [deleted] = await Promise.all([admin("DELETE", `/chats/${chat.id}`), ...sends]);
  expect(deleted?.status).toBe(200);
  for (const { status } of await Promise.all(sends)) expect([201, 404]).toContain(status);
  expect(await env.CHATS.getByName(chat.id).state(organizationId, late)).toEqual({ outcome: "unknown" });
  expect(await held([env.CHATS.getByName(chat.id)])).toEqual([]);
});

test("more than 500 chats are erased over several requests, of which all but the last are 503", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await send(api, chat.id, { content: CANARY });
  const many = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 520)";
  const id = "'cht_g' || substr('00000000000' || i, -11) || substr(?1, -4)";
  await env.DB.batch([
    env.DB.prepare(
      `${many} insert into chats (id, organization_id, channel_id, channel_kind, contact_address, metadata, created_at, active_at)
       select ${id}, ?2, ?1, 'web', 'a' || i, '{}', 0, 0 from n`,
    ).bind(channelId, organizationId),
    env.DB.prepare(
      `${many} insert into chat_addresses (channel_id, address, chat_id) select ?1, 'a' || i, ${id} from n`,
    ).bind(channelId),
    env.DB.prepare("update channels set chat_count = chat_count + 520 where id = ?").bind(channelId),
  ]);
  // The others were never used, and 520 objects that hold nothing would be slow to make.
  const getByName = env.CHATS.getByName.bind(env.CHATS);
  const unused = { erase: () => Promise.resolve() } as unknown as ReturnType<typeof getByName>;
  vi.spyOn(env.CHATS, "getByName").mockImplementation((...named) =>
    named[0] === chat.id ? getByName(...named) : unused,
  );
  const first = await admin("DELETE", `/organizations/${organizationId}`);
  expectError(first, 503, "unavailable");
  expect(Number(first.headers.get("Retry-After"))).toBeGreaterThan(0);
  expect((await rowsThatName(organizationId)).chats).toBe(21);
  expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
  expect(await rowsThatName(organizationId, channelId)).toEqual({});
  expectError(await api("GET", "/key"), 401, "invalid_api_key");
  vi.restoreAllMocks();
  expect(await held([env.CHATS.getByName(chat.id)])).toEqual([]);
});
