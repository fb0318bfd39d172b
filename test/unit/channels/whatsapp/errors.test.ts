import { expect, test } from "vitest";
import {
  errorText,
  failureOf,
  isAboutMedia,
  isOptOut,
  type MetaError,
  refusalByStatus,
  refusalOf,
} from "../../../../src/channels/whatsapp/errors.ts";
import { whatsapp } from "./network.ts";

const error = (fields: Partial<MetaError>): MetaError => ({ code: 1, ...fields });
const details = (text: string) => ({ error_data: { details: text } });

test.each<[Partial<MetaError>, string]>([
  [{ message: "No", title: "Refused", ...details("Because") }, "No: Because"],
  [{ title: "Refused", ...details("Because") }, "Refused: Because"],
  [{ message: "No" }, "No"],
  [{ ...details("Because") }, "Because"],
  [{ message: "", title: "Refused", ...details("Because") }, "Because"],
  [{ message: "No", ...details("") }, "No"],
  [{ message: "No", error_data: {} as never }, "No"],
  [{}, "The network gave no reason"],
  [{ message: "" }, "The network gave no reason"],
  [{ message: "x".repeat(500) }, "x".repeat(500)],
  [{ message: "x".repeat(501) }, "x".repeat(500)],
  [{ message: `${"x".repeat(499)}👍` }, `${"x".repeat(499)}\ufffd`],
])("the text of %j is %j", (fields, text) => {
  expect(errorText(error(fields))).toBe(text);
});

test("a token is removed wherever it stands, before the text is cut", () => {
  const message = `token EAA in EAA ${"x".repeat(500)}`;
  expect(errorText(error({ message }), "EAA")).toBe(`token [token] in [token] ${"x".repeat(500)}`.slice(0, 500));
  expect(errorText(error({ message: "No" }), "")).toBe("No");
});

test.each([
  ["network_131050", true],
  ["network_131051", false],
  ["131050", false],
  ["network_1310500", false],
])("the code %s says that the contact takes no marketing: %s", (code, isOut) => {
  expect(isOptOut(code)).toBe(isOut);
  expect(whatsapp.isOptOut?.(code)).toBe(isOut);
});

test.each([100, 131008, 131009, 131052, 131053])("the code %i may be about media", (code) => {
  expect(isAboutMedia(`network_${code}`)).toBe(true);
  expect(isAboutMedia(String(code))).toBe(false);
});

test.each([131026, 131051, 131047, 190])("the code %i is not about media", (code) => {
  expect(isAboutMedia(`network_${code}`)).toBe(false);
});

const answered = (status: number, afterMs: number | null = null) => ({ status, afterMs, accessToken: undefined });

test.each([199, 300])("the code %i is no permission", (code) => {
  expect(refusalOf(error({ code }), answered(400))).toEqual({
    outcome: "failed",
    code: `network_${code}`,
    message: "The network gave no reason",
  });
  expect(failureOf(error({ code }))).not.toHaveProperty("broken");
});

test.each<[number, object]>([
  [200, { outcome: "unknown", message: "New" }],
  [399, { outcome: "unknown", message: "New" }],
  [400, { outcome: "failed", code: "network_999999", message: "New" }],
  [402, { outcome: "failed", code: "network_999999", message: "New" }],
  [428, { outcome: "failed", code: "network_999999", message: "New" }],
  [499, { outcome: "failed", code: "network_999999", message: "New" }],
])("a new code with status %i is final or unknown", (status, outcome) => {
  expect(refusalOf(error({ code: 999_999, message: "New" }), answered(status))).toEqual(outcome);
});

test.each([
  [401, false],
  [403, false],
  [429, true],
  [500, false],
  [599, false],
])("a new code with status %i is tried again, after the time that Meta wants", (status, wholeChannel) => {
  expect(refusalOf(error({ code: 999_999, message: "New" }), answered(status, 7_000))).toEqual({
    outcome: "retry",
    code: "network_999999",
    message: "New",
    afterMs: 7_000,
    wholeChannel,
  });
});

test.each<[number, object]>([
  [4, { wholeChannel: true }],
  [131000, { wholeChannel: false }],
  [1, { wholeChannel: false, once: true }],
])("the code %i is tried again after the time that Meta wants", (code, more) => {
  expect(refusalOf(error({ code, message: "Later" }), answered(400, 7_000))).toEqual({
    ...{ outcome: "retry", code: `network_${code}`, message: "Later", afterMs: 7_000, ...more },
  });
});

test("a throttled channel whose error may pass waits as a whole", () => {
  expect(refusalOf(error({ code: 4, is_transient: true }), answered(400))).toMatchObject({ wholeChannel: true });
  expect(refusalOf(error({ code: 131056, is_transient: true }), answered(400))).toMatchObject({ afterMs: 6_000 });
});

test("another code than 100 never means that the token has no access to the number", () => {
  for (const fields of [{ error_subcode: 33 }, { type: "GraphMethodException" }, { message: "field (messages)" }]) {
    expect(refusalOf(error({ code: 131026, ...fields }), answered(400))).toMatchObject({ outcome: "failed" });
    expect(refusalOf(error({ code: 100, ...fields }), answered(400))).toMatchObject({ outcome: "channel_broken" });
  }
  expect(refusalOf(error({ code: 100, error_subcode: 34 }), answered(400))).toMatchObject({ outcome: "failed" });
});

test.each<[number, object]>([
  [428, { outcome: "unknown" }],
  [429, { outcome: "retry", code: "http_429", wholeChannel: true, afterMs: 7_000 }],
  [430, { outcome: "unknown" }],
  [499, { outcome: "unknown" }],
  [500, { outcome: "retry", code: "http_500", wholeChannel: false, afterMs: 7_000 }],
  [521, { outcome: "retry", code: "connection", afterMs: null }],
])("a page with status %i leads to %j", (status, outcome) => {
  expect(refusalByStatus(status, 7_000)).toMatchObject(outcome);
});

test("an error of a status that may pass does not break the channel", () => {
  const fields = { code: 190, message: "Expired" };
  expect(failureOf(error(fields))).toEqual({ code: "network_190", message: "Expired", broken: "190: Expired" });
  expect(failureOf(error({ ...fields, is_transient: true }))).toEqual({ code: "network_190", message: "Expired" });
});
