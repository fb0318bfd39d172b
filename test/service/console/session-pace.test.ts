import { expect, test } from "vitest";
import { REQUESTS_A_SECOND, REQUESTS_AT_ONCE } from "../../../src/console/session-pace.ts";
import { browser, signIn } from "../../support/console.ts";
import { type Answer, expectError } from "../../support/harness.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";

stopTheClock();

/** How many of these requests are accepted. */
async function accepted(count: number, page: ReturnType<typeof browser>): Promise<number> {
  const answers: Answer[] = await Promise.all(Array.from({ length: count }, () => page("GET", "/organizations")));
  for (const answer of answers) expect([200, 429], answer.text).toContain(answer.status);
  return answers.filter(({ status }) => status === 200).length;
}

test("a session makes 300 requests at once and 30 a second after them, and no other session waits for it", async () => {
  const page = browser(await signIn());
  expect(await accepted(REQUESTS_AT_ONCE + 20, page)).toBe(REQUESTS_AT_ONCE);
  const refused = await page("GET", "/organizations");
  expectError(refused, 429, "rate_limited");
  expect(refused.headers.get("Retry-After")).toBe("1");
  expect(refused.headers.get("X-RateLimit-Limit")).toBe(String(REQUESTS_AT_ONCE));
  expect(refused.headers.get("X-RateLimit-Remaining")).toBe("0");
  expect(await accepted(1, browser(await signIn()))).toBe(1);
  // A clock that is set back neither stops it nor gives it more.
  pass(-86_400_000);
  expect(await accepted(1, page)).toBe(0);
  pass(1_000);
  expect(await accepted(REQUESTS_A_SECOND + 20, page)).toBe(REQUESTS_A_SECOND);
  // What was not used is kept, up to the number at once.
  pass(3_600_000);
  expect(await accepted(REQUESTS_AT_ONCE + 20, page)).toBe(REQUESTS_AT_ONCE);
});
