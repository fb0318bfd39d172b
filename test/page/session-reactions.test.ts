import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { IncomingFrame } from "../../src/web/visitor/frames.ts";
import { outbound, ready } from "./frames.ts";
import { start } from "./session-fixtures.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The company's message, as it is after the visitor's reaction. */
function reacted(seq: number, emoji: string | null): IncomingFrame {
  const reactions = emoji === null ? undefined : [{ by: "contact" as const, emoji }];
  return { type: "updated", message: { ...outbound(seq, "?"), reactions } };
}

test("reactions are shown at once, and go to the server one after the other, of those to one message the newest", () => {
  const { session, sent, hear } = start();
  hear({ ...ready([outbound(1, "?"), outbound(2, "!")]), features: ["reactions"] });
  const told = () => sent.flatMap((frame) => (frame.type === "reaction" ? [[frame.seq, frame.emoji]] : []));
  session.react(1, "👍");
  session.react(1, "😢");
  session.react(2, "🙏");
  session.react(1, null);
  expect(told()).toEqual([[1, "👍"]]);
  expect(session.view.reacting.map(({ seq, emoji }) => [seq, emoji])).toEqual([
    [1, "👍"],
    [2, "🙏"],
    [1, null],
  ]);
  hear(reacted(1, "👍"));
  hear(reacted(2, "🙏"));
  hear(reacted(1, null));
  expect(told()).toEqual([
    [1, "👍"],
    [2, "🙏"],
    [1, null],
  ]);
  expect(session.view.reacting).toEqual([]);
});

const REFUSED = { type: "refused", id: "reaction", code: "rate_limited", message: "Too many messages" } as const;

test("a reaction that is refused for long is taken back, and the visitor hears why", () => {
  const { session, hear } = start();
  hear({ ...ready([outbound(1, "?"), outbound(2, "!")]), features: ["reactions"] });
  session.react(1, "👍");
  session.react(2, "🙏");
  hear({ ...REFUSED, retryAfter: 30 });
  expect(session.view.reacting).toEqual([{ seq: 2, emoji: "🙏" }]);
  expect(session.view.notice).toMatchObject({ kind: "reaction", trouble: { code: "rate_limited" } });
  hear(reacted(2, "🙏"));
  vi.advanceTimersByTime(15_000);
  expect(session.view.notice).toBeNull();
});

test("a message that changes in another way does not end the wait for its reaction, unless it is redacted", () => {
  const { session, hear } = start();
  hear({ ...ready([outbound(1, "?")]), features: ["reactions"] });
  session.react(1, "👍");
  hear({ type: "updated", message: outbound(1, "Edited") });
  expect(session.view.reacting).toHaveLength(1);
  hear({ type: "updated", message: outbound(1, "") });
  expect(session.view.reacting).toEqual([]);
});

test("a reaction whose answer may be lost is sent again on the next connection", () => {
  const { session, sent, hear } = start();
  const online = () => hear({ ...ready([outbound(1, "?")]), features: ["reactions"] });
  online();
  session.react(1, "👍");
  // A message that is missing makes the page connect again.
  hear({ type: "message", message: outbound(3, "later") });
  session.react(1, "👍");
  expect(sent.filter(({ type }) => type === "reaction")).toHaveLength(1);
  online();
  expect(sent.filter(({ type }) => type === "reaction")).toHaveLength(2);
  hear(reacted(1, "👍"));
  expect(session.view.reacting).toEqual([]);
});

test("a reaction that comes too early is sent again, and nobody notices", () => {
  const { session, sent, hear } = start();
  hear({ ...ready([outbound(1, "?")]), features: ["reactions"] });
  session.react(1, "👍");
  hear({ ...REFUSED, retryAfter: 1 });
  expect([session.view.reacting.length, session.view.notice]).toEqual([1, null]);
  vi.advanceTimersByTime(1_000);
  expect(sent.filter(({ type }) => type === "reaction")).toHaveLength(2);
});

test("a reaction that nobody confirmed goes with the connection, or after a while", () => {
  const { session, hear, lose } = start();
  const online = () => hear({ ...ready([outbound(1, "?")]), features: ["reactions"] });
  online();
  session.react(1, "👍");
  lose(1006);
  expect(session.view.reacting).toEqual([]);
  session.react(1, "👍");
  expect(session.view.reacting).toEqual([]);
  online();
  session.react(1, "👍");
  vi.advanceTimersByTime(15_000);
  expect(session.view.reacting).toEqual([]);
  expect(session.view.notice).toMatchObject({ kind: "reaction", trouble: { code: "not_accepted" } });
});

test("a server that knows no reactions gets none", () => {
  const { session, sent, hear } = start();
  hear({ ...ready([outbound(1, "?")]), features: [] });
  session.react(1, "👍");
  expect([session.view.reacting, sent.filter(({ type }) => type === "reaction")]).toEqual([[], []]);
});
