import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventType } from "../../../../src/model/event.ts";
import { matches } from "../../../../src/model/event-filter.ts";
import { type Answer, filterOf, SubscriptionOwner } from "./owner.ts";

const WEEK = 7 * 86_400_000;
const TYPES: EventType[] = ["message.received", "message.status", "chat.updated"];
const types = fc.constantFrom<string[] | null>(null, ["message.*"], ["message.received", "chat.updated"]);
const events = fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 12 });
/** How the receiver answers, call by call. */
const answers = fc.array(fc.constantFrom(200, 200, 204, 422, 500, 503, "refuse" as const), { maxLength: 60 });

function answerOf(answer: number | "refuse" | undefined): Answer {
  return answer === "refuse" ? "refuse" : new Response(null, { status: answer ?? 200 });
}

test("each event that matches is accepted or given up once, in order, and names the one before it", async () => {
  const property = fc.asyncProperty(types, events, events, answers, async (filter, first, second, drawn) => {
    const chat = new SubscriptionOwner();
    chat.configure({ w: { types: filter } });
    chat.answer = () => answerOf(drawn[chat.calls.length - 1]);
    chat.append(...first);
    await chat.pass(1_000);
    chat.append(...second);
    await chat.pass(WEEK * 4);
    const wanted = [...first, ...second].flatMap((type, at) =>
      matches(filterOf("w", { types: filter }), type, "chn_g0") ? [at + 1] : [],
    );
    const ended = chat.reports.filter(({ outcome }) => outcome !== "retry").map(({ number }) => number);
    expect(ended).toEqual(wanted);
    const numbers = chat.numbers();
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    for (const { body } of chat.calls) {
      expect(body.previous).toBe(wanted[wanted.indexOf(body.number) - 1] ?? null);
    }
    expect(chat.subscriptions.dueAt(chat.clock.now())).toBeNull();
  });
  await fc.assert(property, { numRuns: 100 });
});

test("a subscription that is lost between two attempts skips no event and ends none twice", async () => {
  const property = fc.asyncProperty(
    events,
    answers,
    fc.array(fc.nat(20_000), { maxLength: 8 }),
    async (all, drawn, losses) => {
      const chat = new SubscriptionOwner();
      chat.configure({ w: {} });
      chat.answer = () => answerOf(drawn[chat.calls.length - 1]);
      chat.append(...all);
      for (const ms of losses) {
        await chat.pass(ms);
        chat.evict();
      }
      await chat.pass(WEEK * 4);
      const accepted = chat.reports.filter(({ outcome }) => outcome !== "retry").map(({ number }) => number);
      expect(accepted).toEqual(all.map((_, at) => at + 1));
    },
  );
  await fc.assert(property, { numRuns: 100 });
});
