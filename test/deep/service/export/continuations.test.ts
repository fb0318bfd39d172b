import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { newId } from "../../../../src/model/id.ts";
import {
  contentOf,
  eachLine,
  expected,
  firstPart,
  type Line,
  linesOf,
  listsOf,
  open,
  place,
  read,
} from "../../../service/export/fixtures.ts";
import { admin, expectError, expectFaults, send } from "../../../support/harness.ts";

test("lists longer than one query are exported whole, and go on where they were cut", async () => {
  const { organizationId, secret } = await place();
  const rows = Array.from({ length: 250 }, (_, n) => newId("tpl", null) + n);
  await env.DB.batch(
    rows.map((id) =>
      env.DB.prepare(
        "insert into templates (id, organization_id, name, language, body, created_at, updated_at) values (?, ?, 'a', 'en', 'Hi', ?, ?)",
      ).bind(id, organizationId, 1_795_000_000_000 + (rows.indexOf(id) >> 3), 0),
    ),
  );
  const whole = await linesOf(secret, "/export");
  const expectedIds = listsOf(whole);
  expect(expectedIds.slice(2).toSorted()).toEqual(rows.toSorted());
  for (const [at, { next }] of whole.entries()) {
    if (!next) continue;
    const rest = await linesOf(secret, `/export?after=${next}`);
    expect([...listsOf(whole.slice(0, at)), ...listsOf(rest)]).toEqual(expectedIds);
    expect(rest.at(-1)).toEqual({ type: "end", lastSeq: 0, next: null });
  }
});

test("messages after the beginning are not in the export, nor in its continuation", async () => {
  const { api, ids, secret } = await place([1_200]);
  const chatId = ids[0] as string;
  const whole = await linesOf(secret, `/chats/${chatId}/export`);
  await send(api, chatId);
  const checkpoint = whole.find(({ type }) => type === "checkpoint");
  const rest = await linesOf(secret, `/chats/${chatId}/export?after=${checkpoint?.next}`);
  expect(rest.at(-1)).toEqual({ type: "end", lastSeq: 1_200, next: null });
  expect(contentOf(rest)).toHaveLength(700);
});

test("exports that are cut at random places and continued have every line once", async () => {
  const { ids, secret, ownerId, channelId } = await place([700, 0, 1_300, 2, 999]);
  const counts = Object.fromEntries(ids.map((id, at) => [id, [700, 0, 1_300, 2, 999][at] as number]));
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let round = 0; round < 8; round++) {
    const kept: Line[] = [];
    let after = "";
    for (let tries = 0; ; tries++) {
      const bytes = tries < 20 ? Math.floor(random() * 600_000) : Number.POSITIVE_INFINITY;
      const lines = await read(await open(secret, `/export${after}`), bytes);
      const end = lines.findLastIndex(({ type }) => type === "checkpoint" || type === "end");
      kept.push(...lines.slice(0, end + 1));
      const { type, next } = lines[end] ?? {};
      if (type === "end" && next === null) break;
      if (next) after = `?after=${next}`;
    }
    expect(contentOf(kept)).toEqual(expected(counts));
    expect(listsOf(kept)).toEqual([ownerId, channelId]);
  }
});

test("one response makes at most 900 calls of objects, and next continues behind them", async () => {
  const { ids, secret } = await place(Array.from({ length: 950 }, () => 1));
  const pages: Line[][] = [];
  for (let after = ""; pages.length < 5; ) {
    const lines = await linesOf(secret, `/export${after}`);
    pages.push(lines);
    const next = lines.at(-1)?.next;
    if (!next) break;
    after = `?after=${next}`;
  }
  expect(pages).toHaveLength(2);
  expect(pages[0]?.filter(({ type }) => type === "chat").length).toBeLessThan(900);
  expect(contentOf(pages.flat())).toEqual(expected(Object.fromEntries(ids.map((id) => [id, 1]))));
});

test("a chat that is deleted during its export ends with a line that says so, and continuing is a 404", async () => {
  const { exporter, ids, secret } = await place([4_000]);
  const chatId = ids[0] as string;
  const lines = eachLine(await open(secret, `/chats/${chatId}/export`));
  const next = (await firstPart(lines)).at(-1)?.next;
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  const rest = await Array.fromAsync(lines);
  expect(rest.slice(-3).map(({ type }) => type)).toEqual(["chat_deleted", "checkpoint", "end"]);
  expect(rest.at(-3)).toEqual({ type: "chat_deleted", chatId });
  expect(rest.at(-1)).toMatchObject({ type: "end", next: null });
  expect(contentOf(rest).length).toBeLessThan(3_500);
  expectError(await exporter("GET", `/chats/${chatId}/export?after=${next}`), 404, "chat_not_found");
  expectError(await exporter("GET", `/chats/${chatId}/export`), 404, "chat_not_found");
});

test("an export of all chats goes on behind a chat that is deleted meanwhile", async () => {
  const { ids, secret } = await place([4_000, 4_000]);
  const [one, two] = ids.toSorted() as [string, string];
  const lines = eachLine(await open(secret, "/export"));
  // The members, the channel and the beginning of the first chat.
  for (let parts = 0; parts < 3; parts++) await firstPart(lines);
  expect((await admin("DELETE", `/chats/${one}`)).status).toBe(200);
  const rest = await Array.fromAsync(lines);
  const deleted = rest.findIndex(({ type }) => type === "chat_deleted");
  expect(rest[deleted]?.chatId).toBe(one);
  expect(contentOf(rest.slice(deleted))).toEqual(expected({ [two]: 4_000 }));
  expect(rest.at(-1)).toMatchObject({ type: "end", next: null });
});

test.each([0, 1])("an export of %i chats has no end if the organization is deleted meanwhile", async (chats) => {
  const { organizationId, secret } = await place(Array(chats).fill(1));
  const lines = eachLine(await open(secret, "/export"));
  await firstPart(lines);
  await env.DB.prepare("update organizations set erasing_at = 1 where id = ?").bind(organizationId).run();
  await env.ORGANIZATIONS.getByName(organizationId).close();
  await expect(Array.fromAsync(lines)).rejects.toThrow();
});

test("a cursor of another organization, another chat or another export is a 400", async () => {
  const { exporter, ids, secret } = await place([600, 600]);
  const other = await place([600]);
  const cursorOf = async (key: string, path: string) =>
    (await linesOf(key, path)).find(({ type }) => type === "checkpoint")?.next as string;
  const whole = await cursorOf(secret, "/export");
  const ofChat = await cursorOf(secret, `/chats/${ids[0]}/export`);
  const wrong = [
    ["/export", await cursorOf(other.secret, "/export")],
    [`/chats/${ids[0]}/export`, await cursorOf(other.secret, `/chats/${other.ids[0]}/export`)],
    [`/chats/${ids[1]}/export`, ofChat],
    ["/export", ofChat],
    [`/chats/${ids[0]}/export`, whole],
    ["/export", `${whole}A`],
    ["/export", "nonsense"],
    ["/export", ""],
    ["/export", "x".repeat(257)],
  ] as const;
  for (const [path, cursor] of wrong) expectFaults(await exporter("GET", `${path}?after=${cursor}`), "after");
  expectFaults(await exporter("GET", `/export?limit=5`), "limit");
});
