import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { admin, client, newKey } from "../../support/harness.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { type Place, placesOf, quietly } from "./fixtures.ts";
import { chatOnDisk, ring } from "./looks.ts";

quietly();

/** What is stored of a handover: the messages, the notes, the events, the assignee and the handler. */
async function lookAt(chatId: string) {
  const { messages } = await chatOnDisk(chatId);
  return runInDurableObject(env.CHATS.getByName(chatId), (_object, { storage: { kv, sql } }) => {
    const has = (table: string) => sql.exec("select 1 from sqlite_master where name = ?", table).toArray().length > 0;
    const of = (table: string, column: string) =>
      has(table) ? sql.exec<{ value: string }>(`select ${column} as value from ${table} order by n`).toArray() : [];
    return {
      messages,
      notes: of("notes", "doc ->> '$.content'").map(({ value }) => value),
      events: of("events", "type").map(({ value }) => value),
      isAssigned: kv.get("assignee") !== undefined,
      hands: kv.get<{ count: number }>("handover")?.count ?? 0,
    };
  });
}

type Look = Awaited<ReturnType<typeof lookAt>>;

/** The bot of a channel hands a chat to people, with all that it can say. */
function handingOver(headers: Record<string, string>): Path<Place, Look> {
  const place = placesOf();
  return {
    place: async () => {
      const at = await place();
      const permissions = ["chats:read", "chats:write", "messages:read", "messages:send", "notes:write"];
      const { key, secret } = await newKey(at.organizationId, { permissions });
      await admin("PATCH", `/channels/${at.channelId}`, { settings: { bot: { keyId: key.id } } });
      const api = client(secret);
      const { chat } = (
        await api("POST", "/chats", { channelId: at.channelId, contact: { address: `${at.address}1` } })
      ).body;
      await ring(env.CHATS.getByName(chat.id));
      // The organization's object notes a member once.
      await at.api("PATCH", `/chats/${at.chatId}`, { assigneeId: at.ownerId });
      return { ...at, api, chatId: chat.id };
    },
    act: ({ api, chatId, ownerId }) => {
      const body = { to: "people", message: { content: "Wait" }, note: "Angry", assigneeId: ownerId };
      return api("POST", `/chats/${chatId}/handover`, body, headers);
    },
    look: ({ chatId }) => lookAt(chatId),
  };
}

test("a handover with its message, its note and its assignee is stored whole or not at all, whichever step fails", async () => {
  const { names } = await failEachStep(handingOver({ "Idempotency-Key": "once" }));
  expect(names).toEqual(expect.arrayContaining(["CHATS.handOver", "kv.put handover", "kv.put assignee", "setAlarm"]));
});
