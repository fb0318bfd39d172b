import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import type { IndexChange, IndexOwner } from "../../../src/model/search-index.ts";
import { ringAlarm, runAlarm } from "../../support/alarms.ts";
import { breakObjects, replaceMethod } from "../../support/faults.ts";
import { created } from "../../support/harness.ts";
import { gate, turns } from "../../support/until.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { partsIn } from "../inbound/rich-calls.ts";
import { indexed, searchPlace } from "./fixtures.ts";

stopTheClock();

type Chat = Awaited<ReturnType<Awaited<ReturnType<typeof searchPlace>>["chat"]>>;

/** The contact edits a message. */
function edit(chat: Chat, messageId: string, texts: string[]): Promise<void> {
  return partsIn({ chatId: chat.id }, ({ log }) => {
    for (const text of texts) {
      const message = JSON.parse(log.byId(messageId)?.doc ?? "");
      log.change({ ...message, content: text, text }, { type: "message.edited", note: null, at: Date.now() });
    }
  });
}

const changes = (chat: Chat) =>
  runInDurableObject(
    chat.object(),
    (_object, { storage: { sql } }) => sql.exec<{ n: number }>("select count(*) as n from reworded").one().n,
  );

test("a change that was given up because another index is down is not repeated after a redaction", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { chat, told, object, organizationId } = await searchPlace();
  const one = await chat();
  const { message } = created(await one.post({ content: "First word" }));
  await told();
  await object().searchIndexFull(1);
  created(await one.post({ content: "Second word" }));
  await told();
  await edit(one, message.id, ["secret"]);
  const hanging = Promise.withResolvers<never>();
  hanging.promise.catch(() => {});
  let hung = 0;
  const end = replaceMethod("SEARCH_INDEXES", "index", (original) => (...given) => {
    const [{ number }, { put }] = given as [IndexOwner, IndexChange];
    if (number === 1) return Promise.reject(new Error("The index is down"));
    if (put.length === 0) return original(...given);
    hung++;
    return hanging.promise;
  });
  // The second ring sends it.
  for (let rings = 0; rings < 2; rings++) {
    pass(3_000);
    await ringAlarm(one.object());
  }
  expect(hung).toBe(1);
  end();
  await one.redact(message.id);
  pass(31_000);
  await told();
  const counts = () => Promise.all([1, 2].map((number) => indexed(organizationId, number)));
  expect(await counts()).toEqual([0, 1]);
  hanging.reject(Object.assign(new Error("Network connection lost."), { retryable: true }));
  // The repeat would begin at once, and comes before what is asked later.
  await turns(20);
  expect(await counts()).toEqual([0, 1]);
});

test("many edits of a message are one change", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { chat, told, found } = await searchPlace();
  const one = await chat();
  const { message } = created(await one.post({ content: "First word" }));
  await told();
  breakObjects("SEARCH_INDEXES", "index");
  await edit(one, message.id, ["Second word", "Third word", "Fourth word"]);
  expect(await changes(one)).toBe(1);
  vi.restoreAllMocks();
  await told();
  expect(await found("fourth")).toEqual(["Fourth word"]);
  expect(await changes(one)).toBe(0);
});

test("a run of corrections that takes minutes is not joined by a second one, which would lose a redaction", async () => {
  const { chat, told, organizationId } = await searchPlace();
  const one = await chat();
  const ids: string[] = [];
  for (const content of ["First word", "Second word", "Third word"]) {
    ids.push(created(await one.post({ content })).message.id);
  }
  await told();
  const first = gate("the first answer");
  let calls = 0;
  replaceMethod("SEARCH_INDEXES", "index", (original) => async (...given) => {
    const isFirst = ++calls === 1;
    const answer = await original(...given);
    if (isFirst) await first.pass();
    return answer;
  });
  const run = () => partsIn({ chatId: one.id }, ({ searchCorrections }) => searchCorrections.run(Date.now()));
  await one.redact(ids[0] ?? "");
  // From now on it collects.
  await run();
  pass(3_000);
  const held = run();
  await first.reached();
  const second = run();
  await turns(20);
  await one.redact(ids[1] ?? "");
  first.open();
  await Promise.all([held, second]);
  vi.restoreAllMocks();
  await told();
  await runAlarm(one.object());
  expect(await indexed(organizationId)).toBe(1);
});

test("the deletion of many messages is told in steps, so that the chat's new messages come in between", async () => {
  const { chat, told } = await searchPlace();
  const one = await chat();
  created(await one.post({ content: "First word" }));
  await told();
  const floors: number[] = [];
  replaceMethod("SEARCH_INDEXES", "index", (original) => (...given) => {
    floors.push((given[1] as IndexChange).removeUpTo);
    return original(...given);
  });
  await partsIn({ chatId: one.id }, (parts) => {
    vi.spyOn(parts.log, "bounds").mockReturnValue({ floor: 12_000, newest: 12_000 });
    return parts.announce();
  });
  await told();
  expect(floors).toEqual([5_000, 10_000, 12_000]);
});
