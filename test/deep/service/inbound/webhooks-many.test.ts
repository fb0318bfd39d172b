import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Chat } from "../../../../src/model/chat.ts";
import { stopTheClock } from "../../../service/chats/object/delivery/conversation.ts";
import { newContact, type Place, place } from "../../../service/inbound/fixtures.ts";
import { fromMeta, fromTelegram, taken, telegramText, whatsappText } from "../../../service/inbound/webhook-calls.ts";
import { asOwner } from "../../../support/as-owner.ts";
import { aroundCall, breakObjects, replaceMethod, watchUnderWay } from "../../../support/faults.ts";
import { type Answer, call, expectError } from "../../../support/harness.ts";

stopTheClock();

/** The number of messages in each chat of a channel, over all pages of the list. */
async function counts({ organizationId, channel, api }: Place): Promise<number[]> {
  const chats: Chat[] = [];
  for (let page = 1, more = true; more; page++) {
    const { body } = await api("GET", `/chats?channel=${channel.id}&limit=100&page=${page}`);
    chats.push(...body.chats);
    more = body.pagination.hasMore;
  }
  return Promise.all(
    chats.map(async ({ id }) => {
      const listed = await env.CHATS.getByName(id).list(asOwner(organizationId), { page: 1, limit: 1 });
      if (typeof listed === "string" || listed.outcome !== "ok") return 0;
      const { pagination } = await new Response(listed.body).json<{ pagination: { total: number } }>();
      return pagination.total;
    }),
  );
}

test("a webhook with 300 contacts is stored completely, 20 contacts at a time", async () => {
  const at = await place("whatsapp");
  const values = Array.from({ length: 300 }, (_, i) => whatsappText({ wa_id: newContact() }, `No. ${i}`));
  const most = watchUnderWay(["ORGANIZATIONS", "open"], ["CHATS", "receive"]);
  taken(await fromMeta(at.channel, values));
  expect(most()).toBe(20);
  expect(await counts(at)).toEqual(Array.from({ length: 300 }, () => 1));
});

test("if some of a webhook's 45 contacts can't be stored, all others are stored", async () => {
  const at = await place("whatsapp");
  const values = Array.from({ length: 45 }, (_, i) => whatsappText({ wa_id: newContact() }, `No. ${i}`));
  breakObjects("CHATS", "receive", (number) => number === 2 || number === 31);
  expectError(await fromMeta(at.channel, values), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await counts(at)).filter((count) => count === 1)).toHaveLength(43);
  taken(await fromMeta(at.channel, values));
  expect(await counts(at)).toEqual(Array.from({ length: 45 }, () => 1));
});

test("messages of one contact keep their order even if the first is delayed", async () => {
  const at = await place("whatsapp");
  const from = newContact();
  const values = Array.from({ length: 40 }, (_, i) =>
    whatsappText({ wa_id: i % 5 === 0 ? from : newContact() }, `No. ${i}`),
  );
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let opened = 0;
  replaceMethod("ORGANIZATIONS", "open", (open) => (...given) => {
    if (++opened === 33) release();
    return open(...given);
  });
  replaceMethod("CHATS", "receive", (receive) => async (...given) => {
    if ((given[1] as { content: string }).content === "No. 0") await released;
    return receive(...given);
  });
  taken(await fromMeta(at.channel, values));
  expect((await at.texts())[from]).toEqual([0, 5, 10, 15, 20, 25, 30, 35].map((i) => `No. ${i}`));
});

test("20 webhooks, each sent five times in any order over 16 connections, store 20 messages", async () => {
  const at = await place("telegram");
  const contacts = Array.from({ length: 4 }, newContact);
  const updates = Array.from({ length: 20 }, (_, i) => telegramText(contacts[i % 4] ?? "", `No. ${i}`));
  const times = updates.flatMap((update) => Array.from({ length: 5 }, () => update));
  const seed = Number(env.TEST_SEED || Math.trunc(Math.random() * 2 ** 31));
  const [calls = []] = fc.sample(fc.shuffledSubarray(times, { minLength: times.length }), { seed, numRuns: 1 });
  const left = calls.values();
  const connection = async () => {
    for (const update of left) taken(await fromTelegram(at.channel, update));
  };
  await Promise.all(Array.from({ length: 16 }, connection));
  const stored = Object.values(await at.texts());
  expect(stored.flat().toSorted(), `SEED=${seed}`).toEqual(updates.map(({ message }) => message.text).toSorted());
});

test.each(["telegram", "whatsapp"] as const)(
  "a call that %s repeats because our answer was lost is stored once",
  async (kind) => {
    const at = await place(kind);
    const from = newContact();
    const update = telegramText(from, "Once");
    const value = whatsappText({ wa_id: from }, "Once");
    const tell = (): Promise<Answer> =>
      kind === "telegram" ? fromTelegram(at.channel, update) : fromMeta(at.channel, [value]);
    const lost = () => {
      throw new Error("internal error; reference = 0123456789abcdef");
    };
    aroundCall("CHATS", "receive", { after: lost });
    expectError(await tell(), 503, "unavailable");
    vi.restoreAllMocks();
    taken(await tell());
    expect(await at.texts()).toEqual({ [from]: ["Once"] });
  },
);

test("a first message whose chat was created but whose response was lost creates no second chat", async () => {
  const at = await place("telegram");
  const update = telegramText(newContact(), "Once");
  aroundCall("ORGANIZATIONS", "open", {
    after: () => {
      throw new Error("internal error; reference = 0123456789abcdef");
    },
  });
  expectError(await fromTelegram(at.channel, update), 503, "unavailable");
  expect(await at.chats()).toHaveLength(1);
  taken(await fromTelegram(at.channel, update));
  expect(await counts(at)).toEqual([1]);
});

test.each([0, 1])("a chunked body without a length is limited to 4 MiB: %i bytes more", async (more) => {
  const { channel, chats } = await place("telegram");
  const bytes = new TextEncoder().encode(
    JSON.stringify(telegramText(newContact(), "Big")).padEnd(4 * 1_024 * 1_024 + more),
  );
  const body = new Blob([bytes]).stream();
  const headers = { "X-Telegram-Bot-Api-Secret-Token": channel.webhook.verifyToken };
  const answer = await call("POST", `/hooks/telegram/${channel.id}`, { body, headers });
  if (more === 0) taken(answer);
  else expectError(answer, 413, "body_too_large");
  expect(await chats()).toHaveLength(1 - more);
});

test("a page of a hundred of the longest texts can be listed", async () => {
  const at = await place("whatsapp");
  const from = newContact();
  // Each character has six characters in JSON.
  const text = "\u0001".repeat(65_536);
  for (let i = 0; i < 100; i += 10) {
    const values = Array.from({ length: 10 }, () => whatsappText({ wa_id: from }, text));
    taken(await fromMeta(at.channel, values));
  }
  const { id } = await at.chat();
  const answer = await at.api("GET", `/chats/${id}/messages?limit=100`);
  expect(answer.status).toBe(200);
  expect(answer.body.messages).toHaveLength(100);
});

test.each([
  ["of as many people", () => newContact()],
  ["of one person", () => "491799000"],
])("10,000 notices %s in one call create no chat, and hide no message", async (_whose, from) => {
  const at = await place("whatsapp");
  const notices = Array.from({ length: 10_000 }, (_, i) => ({
    id: `wamid.notice.${i}`,
    timestamp: "1790000000",
    type: "system",
    from: from(),
    system: { type: "user_changed_number", wa_id: newContact() },
  }));
  const value = whatsappText({ wa_id: newContact() }, "Real");
  taken(await fromMeta(at.channel, [{ ...value, messages: [...notices, ...value.messages] }]));
  expect(Object.values(await at.texts())).toEqual([["Real"]]);
});

test("unknown items are logged once for each kind, however many there are", async () => {
  const at = await place("whatsapp");
  const lines = vi.spyOn(console, "log");
  taken(await fromMeta(at.channel, [{ messages: Array.from({ length: 1_000 }, () => 0) }, { statuses: [0] }]));
  const notes = lines.mock.calls.map(([line]) => line).filter(({ event }) => event === "webhook");
  expect(notes.map(({ what }) => what)).toEqual(["message not understood, 1000 times", "status not understood"]);
});
