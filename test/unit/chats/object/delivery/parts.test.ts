import fc from "fast-check";
import { expect, test } from "vitest";
import { applyNews, attemptOver, type Known, partOut } from "../../../../../src/chats/object/delivery/parts.ts";
import type { PartNews, Parts } from "../../../../../src/chats/object/log/delivery-column.ts";
import { BROKEN, FAULT, message, news } from "./part-news.ts";

type Status = PartNews["status"];

/** Applies statuses in order: `"a delivered"` is for the id `a`, and `"a? delivered"` does not name our message. */
function tell(known: Known, ...told: string[]): Known {
  return told.reduce((each, one) => {
    const [id = "", status = ""] = one.split(" ");
    const isOurs = !id.endsWith("?");
    return applyNews(each, news(id.replace("?", ""), status.toUpperCase() as Status, { isOurs })) ?? each;
  }, known);
}

/** Ends the current attempt. `ids` are those of all parts sent so far. */
const over = (known: Known, outcome: "sent" | "unknown" | "retry", ...ids: string[]): Known => ({
  ...attemptOver(known, 0, { outcome, parts: ids }),
  isOpen: false,
});
const again = (known: Known): Known => ({ ...known, attempts: known.attempts + 1, isOpen: true });
const sent = (...ids: string[]) => over(message({ of: ids.length }), "sent", ...ids);
/** The first attempt got no answer, and a second one is in progress. */
const repeated = (parts: Partial<Parts> = {}) => again(over(message(parts), "unknown"));
const said = ({ status, error }: Known) => (error ? `${status} ${error.code}` : status);

test.each([
  [[], "SENT"],
  [["m delivered"], "SENT"],
  [["t read"], "SENT"],
  [["m delivered", "t delivered"], "DELIVERED"],
  [["t delivered", "m delivered"], "DELIVERED"],
  [["m read", "t delivered"], "DELIVERED"],
  [["m read", "t delivered", "t read"], "READ"],
  [["m read", "t read", "m delivered", "t sent"], "READ"],
  [["m failed"], "FAILED network_131026"],
  [["m delivered", "t failed"], "FAILED network_131026"],
  [["t failed", "m delivered", "m read"], "FAILED network_131026"],
  [["m read", "m failed"], "SENT"],
  [["t failed", "t delivered"], "SENT"],
  [["m delivered", "t failed", "t read"], "DELIVERED"],
  [["m failed", "t failed", "m delivered"], "FAILED network_131026"],
  [["m failed", "t failed", "m delivered", "t delivered"], "DELIVERED"],
])("the statuses %j of two parts make a message %s", (told, expected) => {
  expect(said(tell(sent("m", "t"), ...told))).toBe(expected);
});

test("a message is FAILED with the error of the first failed part, and later with that of the only failed part", () => {
  const other = { code: "network_131047", message: "Outside" };
  const both = applyNews(tell(sent("m", "t"), "m failed"), news("t", "FAILED", { error: other })) as Known;
  expect(both.error).toEqual(FAULT);
  expect(tell(both, "m delivered")).toMatchObject({ status: "FAILED", error: other });
});

test("statuses of two parts have the same result in any order and with repeats", () => {
  const told = fc.array(fc.tuple(fc.constantFrom("m", "t"), fc.constantFrom("sent", "delivered", "read", "failed")), {
    maxLength: 10,
  });
  const furthest = (statuses: string[]) =>
    ["read", "delivered", "failed"].find((one) => statuses.includes(one)) ?? "sent";
  fc.assert(
    fc.property(told, (all) => {
      const ends = ["m", "t"].map((part) => furthest(all.filter(([id]) => id === part).map(([, status]) => status)));
      const expected = ["failed", "sent", "delivered", "read"].find((one) => ends.includes(one));
      expect(tell(sent("m", "t"), ...all.map((one) => one.join(" "))).status).toBe(expected?.toUpperCase());
    }),
  );
});

test("for a message with one part, only its id is stored", () => {
  const start = sent("a");
  expect(start.parts).toEqual({ of: 1, ids: ["a"] });
  for (const told of [["a delivered", "a read"], ["a failed"], ["a failed", "a read"], ["b delivered"]]) {
    expect(tell(start, ...told).parts).toBe(start.parts);
  }
});

test("a repeated status changes nothing", () => {
  for (const known of [sent("a"), sent("m", "t"), tell(sent("m", "t"), "t read")]) {
    const id = known.parts.ids.at(-1) ?? "";
    expect(tell(known, `${id} sent`)).toBe(known);
    expect(applyNews(known, news("else", "READ", { isOurs: false }))).toBeNull();
  }
  const inbound = message({}, { status: "RECEIVED", isOpen: false });
  expect(tell(inbound, "a failed")).toBe(inbound);
});

test.each([
  ["sent", "SENT"],
  ["delivered", "DELIVERED"],
  ["read", "READ"],
  ["failed", "FAILED network_131026"],
])("%s before the answer counts at once if it names our message", (status, expected) => {
  const told = tell(message(), `a ${status}`);
  expect(said(told)).toBe(expected);
  expect(said(over(told, "sent", "a"))).toBe(expected);
});

test.each([
  ["sent", "SENT"],
  ["delivered", "DELIVERED"],
  ["read", "READ"],
  ["failed", "FAILED network_131026"],
])("%s before the answer counts with the answer if it does not name our message", (status, expected) => {
  const told = tell(message(), `a? ${status}`);
  expect(told.status).toBe("QUEUED");
  expect(said(over(told, "sent", "a"))).toBe(expected);
  expect(over(told, "sent", "a").parts).toEqual({ of: 1, ids: ["a"] });
  expect(said(over(told, "sent", "other"))).toBe("SENT");
});

test("after a lost answer, a status that does not name our message counts once another one names the id", () => {
  const lost = over(tell(message(), "a? delivered"), "unknown");
  expect(lost.status).toBe("QUEUED");
  expect(said(tell(lost, "a sent"))).toBe("DELIVERED");
});

test("the failure of an earlier copy does not fail the repeat", () => {
  expect(said(over(tell(repeated(), "a failed"), "sent", "b"))).toBe("SENT");
  expect(said(tell(over(repeated(), "sent", "b"), "a failed"))).toBe("SENT");
  expect(said(tell(over(tell(repeated(), "a sent"), "sent", "b"), "a failed"))).toBe("SENT");
  expect(said(over(tell(repeated(), "a failed"), "unknown"))).toBe("QUEUED");
});

test("the failure of the repeat itself fails the message, before its answer or after", () => {
  expect(said(over(tell(repeated(), "b failed"), "sent", "b"))).toBe("FAILED network_131026");
  expect(said(tell(over(repeated(), "sent", "b"), "b failed"))).toBe("FAILED network_131026");
});

test("the failure of the only copy fails the message", () => {
  expect(said(tell(over(message(), "unknown"), "a failed"))).toBe("FAILED network_131026");
});

test("a delivered copy counts for the message, before its repeat was answered and after it failed", () => {
  const early = tell(repeated(), "a delivered");
  expect(said(early)).toBe("DELIVERED");
  expect(said(tell(over(early, "sent", "b"), "b failed", "a failed"))).toBe("DELIVERED");
  expect(said(tell(over(repeated(), "sent", "b"), "b failed", "a delivered"))).toBe("DELIVERED");
});

test("a copy that was accepted and then failed does not fail a later copy", () => {
  const known = over(again(over(message(), "retry")), "sent", "b");
  expect(said(tell(known, "a failed"))).toBe("SENT");
  expect(said(tell(known, "a delivered"))).toBe("DELIVERED");
});

test("a part whose answer was lost counts as sent once it gets a status, and the other part still waits", () => {
  const told = tell(over(message({ of: 2 }), "unknown"), "m delivered");
  expect(told).toMatchObject({ status: "QUEUED", parts: { ids: ["m"], lost: [0, 0] } });
  expect(said(over(again(told), "sent", "m", "t"))).toBe("SENT");
  expect(said(tell(over(again(told), "sent", "m", "t"), "t delivered"))).toBe("DELIVERED");
});

test("a status that may belong to either part ends no wait, because it may be of a copy of the first part", () => {
  const second = partOut(repeated({ of: 2 }), 0, "m2");
  const told = tell(second, "m1 delivered");
  expect(told).toMatchObject({ status: "QUEUED", parts: { ids: ["m2"] } });
  expect(said(over(told, "retry", "m2"))).toBe("QUEUED");
  expect(over(told, "sent", "m2", "t")).toMatchObject({ status: "SENT", parts: { ids: ["m2", "t"] } });
  // It belonged to the second part.
  expect(said(tell(over(tell(second, "t delivered"), "sent", "m2", "t"), "m2 delivered"))).toBe("DELIVERED");
});

test("a part that fails before the next one is sent fails the message", () => {
  const waiting = over(partOut(message({ of: 2 }), 0, "m"), "retry", "m");
  const failed = tell(waiting, "m failed");
  expect(said(failed)).toBe("FAILED network_131026");
  // One delivered part does not prove that the message was delivered.
  expect(tell(failed, "m delivered").status).toBe("FAILED");
});

test("a message that failed with an unknown outcome is delivered only if all its parts are", () => {
  const error = { code: "delivery_timeout", message: "Too late" };
  const givenUp = (of: number): Known => ({ ...over(message({ of }), "unknown"), status: "FAILED", error });
  expect(said(tell(givenUp(1), "a sent"))).toBe("FAILED delivery_timeout");
  expect(said(tell(givenUp(1), "a delivered"))).toBe("DELIVERED");
  expect(said(tell(givenUp(2), "a delivered"))).toBe("FAILED delivery_timeout");
  expect(said(tell(givenUp(2), "a delivered", "b delivered"))).toBe("DELIVERED");
});

test("a broken channel is reported with the status that fails the message, and with no other", () => {
  const failed = applyNews(sent("a"), news("a", "FAILED", { error: BROKEN })) as Known;
  expect(failed).toMatchObject({ status: "FAILED", broken: BROKEN.broken });
  expect(failed.error).toEqual({ code: BROKEN.code, message: BROKEN.message });
  const { broken: _, ...stored } = failed;
  expect(applyNews(stored, news("a", "FAILED", { error: BROKEN }))).toBe(stored);
  expect(tell(sent("a"), "a failed")).not.toHaveProperty("broken");
  expect(applyNews(sent("a"), news("a", "READ", { error: BROKEN }))).not.toHaveProperty("broken");
  const early = applyNews(message(), news("a", "FAILED", { error: BROKEN, isOurs: false })) as Known;
  expect(early.broken).toBeUndefined();
  expect(over(early, "sent", "a").broken).toBe(BROKEN.broken);
});

test("whatever the statuses and answers, parts are counted once and a message never moves back", () => {
  const event = fc.oneof(
    fc.constantFrom("sent", "unknown", "retry"),
    fc.tuple(fc.constantFrom("a", "b", "c", "a?", "b?", "c?"), fc.constantFrom("sent", "delivered", "read", "failed")),
  );
  const rank = ["QUEUED", "SENT", "DELIVERED", "READ"];
  fc.assert(
    fc.property(fc.constantFrom(1, 2), fc.array(event, { maxLength: 20 }), (of, events) => {
      let known = message({ of });
      let [begun, answers] = [known.parts.ids.length, 0];
      for (const one of events) {
        const before = known;
        if (Array.isArray(one)) known = tell(known, one.join(" "));
        else if (known.isOpen) {
          const rest = one === "sent" ? Array.from({ length: of - begun }, () => `n${++answers}`) : [];
          const parts = [...before.parts.ids.slice(0, begun), ...rest];
          known = { ...attemptOver(known, begun, { outcome: one, parts }), isOpen: false };
        } else if (known.status === "QUEUED") {
          known = again(known);
          begun = known.parts.ids.length;
        }
        const { ids, early = [], lost = [] } = known.parts;
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.length).toBeLessThanOrEqual(of);
        expect(early.length).toBeLessThanOrEqual(8);
        expect(lost.every((count) => count >= 0)).toBe(true);
        expect(known.status === "FAILED").toBe(known.error !== null);
        if (["SENT", "DELIVERED", "READ"].includes(known.status)) expect(ids.length).toBe(of);
        if (before.status !== "FAILED" && known.status !== "FAILED") {
          expect(rank.indexOf(known.status)).toBeGreaterThanOrEqual(rank.indexOf(before.status));
        }
      }
    }),
    { numRuns: 2_000 },
  );
});
