import { expect, test } from "vitest";
import { brokenChannelReport, reportsOf } from "../../../../../src/chats/object/delivery/channel-reports.ts";
import type { Delivery } from "../../../../../src/chats/object/log/delivery-column.ts";
import type { Outcome } from "../../../../../src/model/network.ts";
import { broken, failed, retry, sent, unknown } from "./outcomes.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const HOUR = 3_600_000;

test("a broken channel is reported for an hour, for the message's attempt", () => {
  const changed = (ago: number, delivery: Partial<Delivery>) => ({
    delivery,
    message: { updatedAt: new Date(NOW - ago).toISOString() },
  });
  expect(brokenChannelReport(changed(HOUR, { epoch: 2 }), NOW)).toEqual({ probe: null, epoch: 2 });
  expect(brokenChannelReport(changed(HOUR + 1, { epoch: 2 }), NOW)).toBeNull();
  expect(brokenChannelReport(changed(0, {}), NOW)).toBeNull();
  expect(brokenChannelReport(changed(0, { epoch: 0 }), NOW)).toEqual({ probe: null, epoch: 0 });
});

const plain = { probe: null, trial: null };

test("a channel gets reports only of outcomes that concern all its chats", () => {
  expect(reportsOf(broken, { probe: 1, trial: 9 })).toEqual([{ report: "broke", reason: "Bad token" }]);
  expect(reportsOf(retry({ wholeChannel: true, afterMs: 5 }), plain)).toEqual([{ report: "slow_down", afterMs: 5 }]);
  expect(reportsOf(retry({ wholeChannel: true }), plain)).toEqual([{ report: "slow_down", afterMs: 1_000 }]);
  expect(reportsOf(retry(), plain)).toEqual([]);
  expect(reportsOf(sent("a"), plain)).toEqual([]);
});

test("the end of a probe or a trial is reported, after a request to slow down", () => {
  const works = { report: "probed", works: true };
  const tellsNothing = { report: "probed", works: false };
  expect(reportsOf(sent("a"), { probe: 1 })).toEqual([works]);
  expect(reportsOf(sent("a"), { probe: null, trial: 9 })).toEqual([works]);
  expect(reportsOf(retry({ wholeChannel: true, afterMs: 5 }), { probe: 1 })).toEqual([
    { report: "slow_down", afterMs: 5 },
    tellsNothing,
  ]);
});

test.each<[string, Outcome, boolean]>([
  ["a sent message", sent("a"), true],
  ["a contact with a new address", { outcome: "moved", address: "2", parts: [] }, true],
  ["an error that is surely about the message", { ...failed(), works: true }, true],
  ["an error of which nobody knows what it is about", failed(), false],
  ["an error that may be about the channel", { ...failed(), unsure: "100: No" }, false],
  ["an attempt without an answer", unknown(), false],
  ["a busy network", retry(), false],
])("whether %s shows that the channel works", (_what, outcome, works) => {
  expect(reportsOf(outcome, { probe: 1 })).toEqual([{ report: "probed", works }]);
});
