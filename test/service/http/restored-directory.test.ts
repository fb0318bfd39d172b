import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { admin, client, created, newChannel, newChat, newKey, newOrganization, send } from "../../support/harness.ts";

/** Restores the directory to this moment, like D1's Time Travel. The objects don't change. */
async function bookmark(): Promise<() => Promise<void>> {
  const listed = env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '%\\_cf\\_%' escape '\\' and name not like 'sqlite%'",
  );
  const tables = (await listed.all<{ name: string }>()).results.map(({ name }) => name);
  const kept = await env.DB.batch<Record<string, unknown>>(
    tables.map((name) => env.DB.prepare(`select * from ${name}`)),
  );
  const rows = tables.flatMap((name, at) => (kept[at]?.results ?? []).map((row) => [name, row] as const));
  return async function restore() {
    await env.DB.batch([
      env.DB.prepare("pragma defer_foreign_keys = true"),
      ...tables.map((name) => env.DB.prepare(`delete from ${name}`)),
      ...rows.map(([name, row]) => {
        const values = Object.values(row);
        return env.DB.prepare(`insert into ${name} values (${values.map(() => "?").join()})`).bind(...values);
      }),
    ]);
  };
}

test("a chat created after the restored moment stays, with its messages, on the list and for its contact", async () => {
  const { api, organizationId } = await newOrganization();
  const channelId = await newChannel(organizationId, "telegram");
  const restore = await bookmark();
  const chat = await newChat(api, channelId, "4711");
  await send(api, chat.id);
  await restore();
  expect((await api("GET", "/chats")).body.chats).toMatchObject([{ id: chat.id }]);
  expect((await api("GET", `/chats/${chat.id}/messages`)).body.messages).toMatchObject([{ seq: 1 }]);
  const again = await api("POST", "/chats", { channelId, contact: { address: "4711" } });
  expect([again.status, again.body.chat.id]).toEqual([200, chat.id]);
  expect((await send(api, chat.id)).seq).toBe(2);
});

test("a chat deleted after it does not return, and its contact gets a new one", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId, "ada");
  await send(api, chat.id);
  const restore = await bookmark();
  expect((await admin("DELETE", `/chats/${chat.id}`)).status).toBe(200);
  await restore();
  expect((await api("GET", "/chats")).body.chats).toEqual([]);
  expect((await api("GET", `/chats/${chat.id}/messages`)).status).toBe(404);
  const { chat: next } = created(await api("POST", "/chats", { channelId, contact: { address: "ada" } }));
  expect((await api("GET", `/chats/${next.id}/messages`)).body.messages).toEqual([]);
});

test("a channel created after it disappears from the configuration, its chats stay on the list, and the operator can delete them", async () => {
  const { api, organizationId } = await newOrganization();
  const restore = await bookmark();
  const channelId = await newChannel(organizationId, "telegram");
  const chat = await newChat(api, channelId, "4711");
  await restore();
  expect((await admin("GET", `/channels/${channelId}`)).status).toBe(404);
  expect((await api("GET", "/chats")).body.chats).toMatchObject([{ id: chat.id }]);
  expect((await admin("DELETE", `/chats/${chat.id}`)).status).toBe(200);
  expect((await api("GET", "/chats")).body.chats).toEqual([]);
});

test("a channel deleted after it takes no chats, and can be deleted again", async () => {
  const { api, organizationId } = await newOrganization();
  const channelId = await newChannel(organizationId, "telegram");
  await newChat(api, channelId, "4711");
  const restore = await bookmark();
  await admin("DELETE", `/channels/${channelId}`);
  await restore();
  expect((await admin("GET", `/channels/${channelId}`)).status).toBe(200);
  expect((await api("POST", "/chats", { channelId, contact: { address: "4711" } })).status).toBe(404);
  expect((await api("GET", "/chats")).body.chats).toEqual([]);
  expect((await admin("DELETE", `/channels/${channelId}`)).status).toBe(200);
});

test("a key revoked after it is valid until it is revoked again, and a key created after it is unknown", async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  const restore = await bookmark();
  const later = await newKey(organizationId);
  expect((await admin("DELETE", `/keys/${key.id}`)).status).toBe(200);
  await restore();
  expect((await client(secret)("GET", "/key")).status).toBe(200);
  expect((await client(later.secret)("GET", "/key")).status).toBe(401);
  expect((await admin("DELETE", `/keys/${key.id}`)).status).toBe(200);
  expect((await client(secret)("GET", "/key")).status).toBe(401);
});

test("a key that somebody tried after its revocation stays refused, also after it is revoked again", async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  const restore = await bookmark();
  expect((await admin("DELETE", `/keys/${key.id}`)).status).toBe(200);
  expect((await client(secret)("GET", "/key")).status).toBe(401);
  await restore();
  expect((await client(secret)("GET", "/key")).status).toBe(401);
  expect((await admin("DELETE", `/keys/${key.id}`)).status).toBe(200);
  expect((await client(secret)("GET", "/key")).status).toBe(401);
});
