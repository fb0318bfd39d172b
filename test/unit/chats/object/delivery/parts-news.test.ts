import { expect, test } from "vitest";
import { applyNews, attemptOver, type Known, partOut } from "../../../../../src/chats/object/delivery/parts.ts";
import type { PartNews } from "../../../../../src/chats/object/log/delivery-column.ts";
import { BROKEN, FAULT, message, news } from "./part-news.ts";

const OTHER = { code: "network_131053", message: "Media upload error" };
/** A message with these parts sent. */
const sent = (...ids: string[]) => message({ of: ids.length, ids }, { status: "SENT", isOpen: false });
const tell = (known: Known, ...told: PartNews[]) => told.reduce((each, one) => applyNews(each, one) ?? each, known);

test("the answer decides how many parts a message has", () => {
  expect(attemptOver(message({ of: 2 }), 0, { outcome: "sent", parts: ["m"] })).toMatchObject({
    status: "SENT",
    parts: { of: 1, ids: ["m"] },
  });
});

test("a status with an unknown id does not change a message whose parts were all sent", () => {
  const known = sent("m", "t");
  expect(applyNews(known, news("x", "READ"))).toBe(known);
});

test("the failure of a copy counts after one attempt, but not after a repeat", () => {
  expect(applyNews(sent("m"), news("x", "FAILED"))).toMatchObject({ status: "FAILED", error: FAULT });
  const repeated = { ...sent("m"), attempts: 2 };
  expect(applyNews(repeated, news("x", "FAILED"))).toBe(repeated);
});

test("while the first of two parts is being sent, a status that names our message belongs to it", () => {
  expect(applyNews(message({ of: 2 }), news("x", "DELIVERED"))?.parts.ids).toEqual(["x"]);
});

test("a part that got a status during its attempt is not lost with the attempt", () => {
  const known = tell(message(), news("x", "SENT"));
  expect(attemptOver(known, 0, { outcome: "unknown", parts: [] }).parts.lost).toBeUndefined();
  expect(attemptOver(message(), 0, { outcome: "unknown", parts: [] }).parts.lost).toEqual([1]);
  expect(attemptOver(message(), 0, { outcome: "retry", parts: [] }).parts.lost).toBeUndefined();
});

const stray = news("x", "DELIVERED", { isOurs: false });

test.each<[string, Known, boolean]>([
  ["during an attempt", message(), true],
  ["while a copy may have been sent", message({ lost: [1] }, { isOpen: false }), true],
  ["while a copy of one of the parts may have been sent", message({ of: 2, lost: [0, 1] }, { isOpen: false }), true],
  ["if no copy can have been sent", message({ lost: [0] }, { isOpen: false }), false],
  ["before any attempt", message({}, { isOpen: false }), false],
  ["after the message is done", message({ lost: [1] }, { isOpen: false, status: "SENT" }), false],
])("a status with an unknown id is stored or belongs to no outbound message: %s", (_when, known, isKept) => {
  expect(applyNews(known, stray)).toEqual(isKept ? { ...known, parts: { ...known.parts, early: [stray] } } : null);
});

test("a status that may belong to either of two parts does not change a message that is done", () => {
  const known = message({ of: 2, ids: ["m", "t"], lost: [1, 1] }, { status: "READ", isOpen: false });
  expect(applyNews(known, news("x", "READ"))).toBe(known);
});

test("the most advanced status of an unknown id is stored, for at most eight ids", () => {
  const known = tell(message(), stray, { ...stray, status: "SENT" });
  expect(known.parts.early).toEqual([stray]);
  const read = { ...stray, status: "READ" } as const;
  expect(tell(known, read).parts.early).toEqual([read]);
  const many = Array.from({ length: 10 }, (_, i) => ({ ...stray, networkId: `x${i}` }));
  expect(tell(message(), ...many).parts.early).toEqual(many.slice(2));
});

test("the same id again does not change the lost count, and another id was a copy", () => {
  const known = message({ ids: ["a"], lost: [1] }, { attempts: 2 });
  expect(partOut(known, 0, "a").parts).toMatchObject({ ids: ["a"], lost: [1] });
  expect(partOut(known, 0, "b").parts).toMatchObject({ ids: ["b"], lost: [0] });
  expect(partOut(message({ lost: [1] }, { isOpen: false }), 0, "a").parts).toMatchObject({ ids: ["a"], lost: [0] });
  expect(partOut(message({ lost: [1] }), 0, "a").parts).toMatchObject({ ids: ["a"], lost: [1] });
});

test("early statuses count when an answer names their id, and the others stay stored", () => {
  const other = { ...stray, networkId: "y" };
  const known = message({ early: [stray, other] });
  expect(partOut(known, 0, "x")).toMatchObject({ status: "DELIVERED", parts: { ids: ["x"], early: [other] } });
  const last = partOut(message({ early: [stray] }), 0, "x");
  expect(last).toMatchObject({ status: "DELIVERED", parts: { ids: ["x"] } });
  expect(last.parts).not.toHaveProperty("early");
});

test("a failure without a reason says so", () => {
  expect(applyNews(sent("m"), news("m", "FAILED", { error: null }))).toMatchObject({
    status: "FAILED",
    error: { code: "network_error", message: "The network gave no reason" },
  });
});

test("the states of parts are stored once one of them is beyond SENT", () => {
  const first = partOut(message({ of: 2 }), 0, "m");
  expect(first.parts).toEqual({ of: 2, ids: ["m"] });
  const told = tell(first, news("m", "READ"));
  expect(told.parts.states).toEqual([{ status: "READ", error: null }, null]);
  const out = partOut(told, 1, "t");
  expect([out.status, out.parts.states]).toEqual(["SENT", told.parts.states]);
});

test("a failure of a part that was read is ignored, and breaks no channel", () => {
  const read = { status: "READ", error: null } as const;
  const known = message(
    { of: 2, ids: ["m", "t"], states: [read, { status: "DELIVERED", error: null }] },
    { status: "SENT", isOpen: false },
  );
  const told = applyNews(known, news("m", "FAILED", { error: BROKEN }));
  expect(told).toMatchObject({ status: "DELIVERED", error: null });
  expect(told).not.toHaveProperty("broken");
});

test("if one part was delivered, the message stays FAILED with the other part's error", () => {
  const both = tell(
    sent("m", "t"),
    news("m", "FAILED"),
    news("t", "FAILED", { error: { ...FAULT, message: "Again" } }),
  );
  expect(both.error).toEqual(FAULT);
  const one = tell(both, news("m", "DELIVERED", { error: BROKEN }));
  expect([one.status, one.error]).toEqual(["FAILED", FAULT]);
  const otherwise = tell(sent("m", "t"), news("m", "FAILED"), news("t", "FAILED", { error: OTHER }));
  const left = tell(otherwise, news("m", "DELIVERED", { error: BROKEN }));
  expect([left.status, left.error]).toEqual(["FAILED", OTHER]);
  expect(left).not.toHaveProperty("broken");
  expect(tell(left, news("t", "READ"))).toMatchObject({ status: "DELIVERED", error: null });
});

test("a failed message keeps its first error", () => {
  const known = tell(sent("m", "t"), news("t", "FAILED", { error: OTHER }), news("m", "FAILED"));
  expect(known.error).toEqual(OTHER);
  expect(tell(known, news("m", "SENT")).error).toEqual(OTHER);
});
