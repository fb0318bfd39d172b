import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { type ExportPlace, readExportCursor } from "../../../src/export/cursor.ts";
import { exportParts } from "../../../src/export/export.ts";
import { newChat, newOrganization, send } from "../../support/harness.ts";

const MESSAGES = 100_000;
/** A part has at most about 2 million characters, here of one byte each. */
const MAX_PART_BYTES = 2_300_000;
/** How many parts of a response the client gets before its connection breaks. */
const PARTS_BEFORE_CUT = 40;

test("a chat of 100,000 long messages is exported in parts of bounded size, every message once, although the connection breaks again and again", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const { id: chatId } = await newChat(api, channelId);
  const sent = await send(api, chatId, { content: "x".repeat(2_000) });
  const object = env.CHATS.getByName(chatId);
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec(
      `with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < ?)
       insert into messages (seq, doc) select n, json_set(?, '$.seq', n) from numbers`,
      MESSAGES,
      JSON.stringify(sent),
    );
  });
  await evictDurableObject(object);
  const scope = { organizationId, chatId, missing: "chat_not_found" as const };
  let responses = 0;
  let seq = 0;
  let largest = 0;
  for (let next: string | null = ""; next !== null; responses++) {
    const place: ExportPlace | null = next === "" ? null : readExportCursor(scope, next);
    let parts = 0;
    for await (const part of exportParts(env, scope, place)) {
      largest = Math.max(largest, part.length);
      for (const line of new TextDecoder().decode(part).trimEnd().split("\n")) {
        if (line.startsWith('{"type":"message"')) expect(Number(/"seq":(\d+)/.exec(line)?.[1])).toBe(++seq);
        if (/^\{"type":"(checkpoint|end)"/.test(line)) next = (JSON.parse(line) as { next: string | null }).next;
      }
      if (++parts === PARTS_BEFORE_CUT) break;
    }
  }
  expect(seq).toBe(MESSAGES);
  expect(largest).toBeLessThan(MAX_PART_BYTES);
  expect(responses).toBeGreaterThan(5);
});
