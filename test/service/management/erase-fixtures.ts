import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import {
  admin,
  client,
  created,
  expectError,
  newChannel,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";

export const CANARY = "canary-7f3a";

/** An organization with a resource of every kind, and the canary wherever a text is stored. */
export async function fullOrganization() {
  const organization = await newOrganization({ name: CANARY, search: { on: true } });
  const { organizationId, channelId, api } = organization;
  await admin("POST", `/organizations/${organizationId}/members`, { name: CANARY });
  await admin("POST", `/organizations/${organizationId}/templates`, { name: CANARY, language: "en", body: CANARY });
  await admin("POST", `/organizations/${organizationId}/replies`, { name: CANARY, content: CANARY });
  await admin("POST", `/organizations/${organizationId}/labels`, { name: CANARY });
  const telegramId = await newChannel(organizationId, "telegram");
  const chats = [
    created(
      await api("POST", "/chats", { channelId, contact: { address: CANARY, name: CANARY }, metadata: { a: CANARY } }),
    ).chat,
    await newChat(api, telegramId, "4711"),
    await newChat(api, telegramId, "4712"),
  ];
  for (const { id } of chats) await send(api, id, { content: CANARY });
  for (const { id } of chats) await runAlarm(env.CHATS.getByName(id));
  // A chat tells the search index what was said two seconds after it has reported.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2_000 });
  for (const { id } of chats) await runAlarm(env.CHATS.getByName(id));
  vi.useRealTimers();
  const second = await newKey(organizationId);
  await client(second.secret)("GET", "/key");
  return {
    ...organization,
    telegramId,
    chatIds: chats.map((chat) => chat.id as string),
    keyIds: [organization.keyId, second.key.id],
  };
}
export type Full = Awaited<ReturnType<typeof fullOrganization>>;

const TABLES = ["organizations", "members", "channels", "templates", "replies", "api_keys"];

/** The ids of the chats whose rows an organization's object has. */
export function chatRows(organizationId: string): Promise<string[]> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) =>
    storage.sql
      .exec<{ id: string }>("select id from chats")
      .toArray()
      .map(({ id }) => id),
  );
}

/** The directory's rows that contain one of `ids`, by table. */
export async function rowsThatName(...ids: string[]): Promise<Record<string, number>> {
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

/** The stored data of objects, except the marks of a deleted chat and of an erased index. */
export async function held(objects: DurableObjectStub[]) {
  const all = await Promise.all(
    objects.map((object) =>
      runInDurableObject(object, (_object, { storage }) => [
        ...[...storage.kv.list()].filter(([name]) => name !== "tombstone" && name !== "erased").map(([name]) => name),
        ...storage.sql
          .exec<{ name: string }>("select name from sqlite_master where name not like '_cf%'")
          .toArray()
          .map(({ name }) => name),
      ]),
    ),
  );
  return all.flat();
}

export const objectsOf = ({ organizationId, chatIds, channelId, telegramId, keyIds }: Full) => [
  env.ORGANIZATIONS.getByName(organizationId),
  ...chatIds.map((id) => env.CHATS.getByName(id)),
  ...[channelId, telegramId].map((id) => env.CHANNELS.getByName(id)),
  ...keyIds.map((id) => env.KEYS.getByName(id)),
  env.SEARCH_INDEXES.getByName(`${organizationId}:1`),
];

export async function expectAllErased(full: Full): Promise<void> {
  expect(await rowsThatName(full.organizationId, ...full.chatIds, ...full.keyIds)).toEqual({});
  expect(await held(objectsOf(full))).toEqual([]);
  expectError(await full.api("GET", "/key"), 401, "invalid_api_key");
  expect(await held(objectsOf(full))).toEqual([]);
  expectError(await admin("DELETE", `/organizations/${full.organizationId}`), 404, "organization_not_found");
}
