import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { MAX_EXAMINED_TEXT, withinBudget } from "../../../src/chats/search-budget.ts";
import { ApiError } from "../../../src/model/error.ts";
import { MAX_PAGE_TEXT } from "../../../src/model/list-page.ts";
import { Random } from "../../support/random.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

const MINUTE = 60_000;
const MOST_AT_ONCE = MAX_EXAMINED_TEXT / MAX_PAGE_TEXT;

type Answer = { work: number };

/** A caller of its own for each test, as the budget is the isolate's. */
function newCaller() {
  const id = crypto.randomUUID();
  return { organizationId: "org", principal: { type: "key", id, name: "" } as const };
}

/** A search that ends when the test says so. */
function begin(caller: ReturnType<typeof newCaller>) {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const answered = withinBudget(env, caller, () => promise).then(
    () => null,
    (error: ApiError) => error,
  );
  const ends = (work: number | null) => {
    if (work === null) reject(new ApiError("chat_not_found"));
    else resolve({ work });
    return answered;
  };
  return { answered, ends };
}

async function isRefused(search: ReturnType<typeof begin>): Promise<boolean> {
  const first = await Promise.race([search.answered, scheduler.wait(0).then(() => "under way" as const)]);
  return first instanceof ApiError && first.code === "rate_limited";
}

test.for([1, 2, 3])(
  "searches that fail, are cut off and run at once never examine more than the budget: seed %i",
  async (seed) => {
    const random = new Random(seed);
    const callers = [newCaller(), newCaller(), newCaller()];
    const open: { of: number; search: ReturnType<typeof begin> }[] = [];
    const examined = callers.map(() => 0);
    const under = callers.map(() => 0);
    let mostAtOnce = 0;
    let mostExamined = 0;
    let refusals = 0;
    let minuteEnds = Date.now() + MINUTE;
    for (let step = 0; step < 600; step++) {
      pass(random.pick([0, 0, 0, 100]));
      if (Date.now() >= minuteEnds) {
        // All windows begin together, as the callers' first searches do.
        for (const { search } of open.splice(0)) await search.ends(0);
        pass(MINUTE);
        minuteEnds = Date.now() + MINUTE;
        examined.fill(0);
        under.fill(0);
      }
      const of = random.between(0, callers.length - 1);
      if (open.length === 0 || random.next() < 0.6) {
        const search = begin(callers[of] as ReturnType<typeof newCaller>);
        if (await isRefused(search)) {
          refusals++;
          continue;
        }
        under[of] = (under[of] ?? 0) + 1;
        // The client is gone, and the search never ends here.
        if (random.next() > 0.05) open.push({ of, search });
      } else {
        const [ended] = open.splice(random.between(0, open.length - 1), 1);
        if (!ended) continue;
        const work = random.pick([null, 0, 1_000, MAX_PAGE_TEXT]);
        await ended.search.ends(work);
        examined[ended.of] = (examined[ended.of] ?? 0) + (work ?? 0);
        under[ended.of] = (under[ended.of] ?? 0) - 1;
      }
      mostAtOnce = Math.max(mostAtOnce, ...under);
      mostExamined = Math.max(mostExamined, ...examined.map((sum, at) => sum + (under[at] ?? 0) * MAX_PAGE_TEXT));
    }
    expect(mostAtOnce).toBeLessThanOrEqual(MOST_AT_ONCE);
    expect(mostExamined).toBeLessThanOrEqual(MAX_EXAMINED_TEXT);
    // Else the attack shows nothing.
    expect(mostExamined).toBeGreaterThan(0.9 * MAX_EXAMINED_TEXT);
    expect(refusals).toBeGreaterThan(5);
  },
);

test("what fails or examines nothing is given back, and what is repeated counts", async () => {
  const caller = newCaller();
  for (let count = 0; count < 2 * MOST_AT_ONCE; count++) {
    expect(await begin(caller).ends(null)).toMatchObject({ code: "chat_not_found" });
    expect(await begin(caller).ends(0)).toBeNull();
  }
  for (let count = 0; count < MOST_AT_ONCE; count++) expect(await begin(caller).ends(MAX_PAGE_TEXT)).toBeNull();
  const refused = await begin(caller).ends(0);
  expect(refused).toMatchObject({ code: "rate_limited", headers: { "Retry-After": "60" } });
  pass(MINUTE);
  expect(await begin(caller).ends(0)).toBeNull();
});
