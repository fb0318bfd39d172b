import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { alarmOf, pass, stopTheClock } from "../../../service/chats/object/delivery/conversation.ts";
import { listenedChats, openDoorbells, pageOf, report } from "../../../service/events/fixtures.ts";
import { countCalls } from "../../../support/faults.ts";
import { send } from "../../../support/harness.ts";

stopTheClock();

/** Runs the alarms that are due by now. */
async function ringDue(chatIds: string[]): Promise<void> {
  for (const chatId of chatIds) {
    const at = await alarmOf(env.CHATS.getByName(chatId));
    if (at !== null && at <= Date.now()) await report(chatId);
  }
}

test("1,000 sends in 100 chats with one listener make at most 300 reports, and all events are in the feed", async () => {
  const { api, stream, chatIds, organizationId } = await listenedChats(100);
  const { cursor } = await pageOf(api, "from=now");
  const reports = countCalls("ORGANIZATIONS", "report");
  for (let second = 0; second < 10; second++) {
    for (let first = 0; first < chatIds.length; first += 10) {
      await Promise.all(chatIds.slice(first, first + 10).map((chatId) => send(api, chatId)));
      pass(100);
      if (first % 50 === 40) await ringDue(chatIds);
    }
  }
  expect(reports()).toBeLessThanOrEqual(300);
  vi.restoreAllMocks();
  expect(await openDoorbells(organizationId)).toBe(1);
  pass(60_000);
  await ringDue(chatIds);
  let found = 0;
  for (let [after, hasMore] = [cursor, true]; hasMore; ) {
    const page = await pageOf(api, `limit=100&after=${after}`);
    found += page.events.length;
    [after, hasMore] = [page.cursor, page.hasMore];
  }
  expect(found).toBe(1_000);
  await stream.close();
});
