import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { prepareSchema } from "../../../src/chats/log/schema.ts";
import { newChat, newOrganization, send } from "../../support/harness.ts";

const FIRST = "create table notes (id integer primary key, body text not null)";
const SECOND = "alter table notes add column author text";

test("an object runs the schema steps that it lacks, once each, and keeps its data", async () => {
  await runInDurableObject(env.CHATS.getByName("cht_gschemasteps000"), (_object, { storage }) => {
    prepareSchema(storage, [FIRST]);
    storage.sql.exec("insert into notes (body) values ('kept')");
    prepareSchema(storage, [FIRST, SECOND]);
    prepareSchema(storage, [FIRST, SECOND]);
    expect(storage.sql.exec("select * from notes").toArray()).toEqual([{ id: 1, body: "kept", author: null }]);
  });
});

test("a step that fails leaves the schema as it was", async () => {
  await runInDurableObject(env.CHATS.getByName("cht_gschemasteps001"), (_object, { storage }) => {
    prepareSchema(storage, [FIRST]);
    expect(() => prepareSchema(storage, [FIRST, SECOND, "alter table nothing add column x text"])).toThrow("nothing");
    prepareSchema(storage, [FIRST, SECOND]);
    expect(storage.sql.exec("select * from notes").columnNames).toEqual(["id", "body", "author"]);
  });
});

test("a chat whose schema is newer than the code goes on", async () => {
  const { api, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  await send(api, id);
  const object = env.CHATS.getByName(id);
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec("alter table messages add column later text");
    storage.kv.put("schema", 99);
  });
  await evictDurableObject(object);
  expect((await send(api, id)).seq).toBe(2);
});
