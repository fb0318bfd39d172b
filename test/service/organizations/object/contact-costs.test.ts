import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { foldingSteps } from "../../../support/folding-steps.ts";
import { type Answer, newChannel } from "../../../support/harness.ts";
import { rowsRead } from "../../../support/rows-read.ts";
import { add, filled, idsOf, object, place, quietPlace, withOldChats } from "./contacts.ts";

test("a search of names full of accents lets others in after short steps", async () => {
  const { organizationId, channelId, find } = await place();
  await withOldChats(organizationId, channelId, 3_000);
  await filled(organizationId);
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    storage.sql.exec("update chats set name = ? where address like 'old-%'", `Old ${"ễ".repeat(250)}`);
  });
  const steps = await foldingSteps(async () => expect(idsOf(await find("old zzz"))).toEqual([]));
  expect(steps.length).toBeGreaterThan(4);
  expect(Math.max(...steps)).toBeGreaterThan(30_000);
  for (const work of steps) expect(work).toBeLessThan(140_000);
});

test("a page costs no more than its rows, at any depth and beside any number of chats", async () => {
  const { organizationId, channelId, find } = await quietPlace();
  await withOldChats(organizationId, channelId, 2_000);
  await filled(organizationId);
  const first = await find("contact", "&limit=100");
  for (const after of ["", `&after=${first.body.pagination.cursor}`]) {
    const rows = await rowsRead(object(organizationId), async () => {
      expect(idsOf(await find("contact", `&limit=10${after}`))).toHaveLength(10);
    });
    expect(rows.reduce((sum, each) => sum + each, 0)).toBeLessThan(30);
  }
});

test("a search that a channel narrows reads at most 10,000 rows for a page, and goes on behind them", async () => {
  const { api, organizationId, channelId, find } = await quietPlace();
  const other = await newChannel(organizationId, "web");
  const last = await add(api, other, { address: "zzz", name: "Old Zebra" });
  await withOldChats(organizationId, channelId, 10_500);
  await filled(organizationId);
  const pages: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    let answer: Answer | undefined;
    const rows = await rowsRead(object(organizationId), async () => {
      answer = await find("old", `&channel=${other}${cursor && `&after=${cursor}`}`);
    });
    expect(rows.reduce((sum, each) => sum + each, 0)).toBeLessThan(10_300);
    pages.push(idsOf(answer as Answer).filter((id) => id === last).length);
    cursor = (answer as Answer).body.pagination.cursor;
  }
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.at(-1)).toBe(1);
});

test("reports of a chat write no terms unless its name changes", async () => {
  const { api, organizationId, ids } = await quietPlace();
  const written = () =>
    runInDurableObject(object(organizationId), (_object, { storage }) => {
      const log: string[] = [];
      const exec = storage.sql.exec.bind(storage.sql);
      storage.sql.exec = ((query: string, ...given: unknown[]) => {
        log.push(query);
        return exec(query, ...given);
      }) as typeof storage.sql.exec;
      return log;
    });
  const log = await written();
  expect((await api("PATCH", `/chats/${ids[0]}`, { metadata: { a: "b" } })).status).toBe(200);
  expect(log.filter((query) => /update chats/.test(query))).toHaveLength(1);
  expect(log.filter((query) => /contact_terms/.test(query))).toEqual([]);
});
