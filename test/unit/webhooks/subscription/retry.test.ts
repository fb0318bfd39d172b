import { expect, test } from "vitest";
import { judgeAnswer, nextTry } from "../../../../src/webhooks/subscription/retry.ts";

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

test.each([
  [200, "accepted", false, "ok"],
  [204, "accepted", false, "ok"],
  [299, "accepted", false, "ok"],
  [300, "unavailable", true, "redirect"],
  [304, "unavailable", true, "redirect"],
  [399, "unavailable", true, "redirect"],
  [400, "refused", false, "http_400"],
  [401, "unavailable", true, "http_401"],
  [402, "refused", false, "http_402"],
  [403, "unavailable", true, "http_403"],
  [404, "unavailable", true, "http_404"],
  [405, "unavailable", true, "http_405"],
  [406, "refused", false, "http_406"],
  [408, "unavailable", true, "http_408"],
  [409, "refused", false, "http_409"],
  [410, "gone", false, "http_410"],
  [422, "refused", false, "http_422"],
  [429, "unavailable", true, "http_429"],
  [499, "refused", false, "http_499"],
  [500, "unavailable", true, "http_500"],
  [503, "unavailable", true, "http_503"],
  [599, "unavailable", true, "http_599"],
] as const)("a webhook that answers %i: %s", (status, answerClass, counts, code) => {
  const judgment = judgeAnswer(status);
  expect(judgment).toMatchObject({ class: answerClass, counts, code });
  expect(judgment.message).toContain(`${status}`);
});

test.each([
  [520, /could not be read/],
  [521, /refused the connection/],
  [522, /timed out/],
  [523, /can't be reached/],
  [524, /did not answer in time/],
  [525, /TLS handshake/],
  [526, /TLS certificate/],
  [527, /was lost/],
  [530, /not found in DNS/],
] as const)("Cloudflare's %i is a failed connection, and says why", (status, why) => {
  const judgment = judgeAnswer(status);
  expect(judgment).toMatchObject({ class: "unavailable", counts: true, code: "connection" });
  expect(judgment.message).toMatch(why);
  expect(judgment.message).toContain(`${status}`);
});

test.each(["timeout", "connection", "url_refused"] as const)("a call without an answer counts: %s", (failure) => {
  expect(judgeAnswer(null, failure)).toMatchObject({ class: "unavailable", counts: true, code: failure });
});

test("an event has 15 tries in three days", () => {
  const waits = Array.from({ length: 15 }, (_, done) => nextTry(done + 1, "unavailable", 0.5));
  expect(waits).toEqual([
    5 * SECOND,
    30 * SECOND,
    ...[2, 10, 30].map((minutes) => minutes * MINUTE),
    ...[1, 2, 4, 8, 12, 12, 12, 12, 8].map((hours) => hours * HOUR),
    null,
  ]);
});

test("an event that the receiver refuses has 5 tries in 13 minutes", () => {
  const waits = Array.from({ length: 6 }, (_, done) => nextTry(done + 1, "refused", 0.5));
  expect(waits).toEqual([5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, null, null]);
});

test("a wait varies by a fifth", () => {
  expect([0, 1].map((random) => nextTry(1, "unavailable", random))).toEqual([4 * SECOND, 6 * SECOND]);
});

test("an event is never given up because the receiver is gone", () => {
  expect([1, 100].map((tries) => nextTry(tries, "gone", 0.5))).toEqual([0, 0]);
});
