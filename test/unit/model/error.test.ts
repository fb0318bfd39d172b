import { expect, test } from "vitest";
import { errorResponse } from "../../../src/http/error-response.ts";
import { ApiError, ERRORS, type ErrorCode, unavailable } from "../../../src/model/error.ts";

const HEADERS = { isSecure: false, own: {} };

test.each(Object.keys(ERRORS) as ErrorCode[])("%s has its text in one of the two fields", async (code) => {
  const { status, shape, text } = ERRORS[code];
  expect(["message", "error"]).toContain(shape);
  expect(text).toMatch(/^[A-Z][\w' ,.:?=/`{}-]+[^.]$/);
  const response = errorResponse({ code }, HEADERS);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ [shape]: text, code });
});

// Their texts are part of the contract: what to do stands in the description of the error.
const FIXED = [
  "channel_not_found",
  "chat_not_found",
  "invalid_api_key",
  "member_not_found",
  "message_not_found",
  "missing_authorization",
  "not_found",
  "quota_exceeded",
  "sender_not_found",
  "template_not_found",
];

test("what is in the way or missing, and a credential that is refused, come with a next step", () => {
  const needsAdvice = (Object.keys(ERRORS) as ErrorCode[]).filter((code) =>
    [401, 403, 404, 409].includes(ERRORS[code].status),
  );
  const bare = needsAdvice.filter((code) => !/\. [A-Z]/.test(ERRORS[code].text));
  expect(bare.toSorted()).toEqual(FIXED);
});

test("an error's own text and faults replace the table's text", async () => {
  const error = new ApiError("validation_failed", { text: "No good", faults: [{ path: "a", message: "is wrong" }] });
  expect([error.message, error.status]).toEqual(["No good", 400]);
  expect(await errorResponse(error, HEADERS).json()).toEqual({
    message: "No good",
    code: "validation_failed",
    errors: [{ path: "a", message: "is wrong" }],
  });
});

test("an error without its own text has the table's text", () => {
  expect(new ApiError("chat_not_found").message).toBe("Chat not found");
});

test("an error has the default headers and its own, which win", () => {
  const error = new ApiError("rate_limited", { headers: { "Retry-After": "3" } });
  const { headers } = errorResponse(error, { isSecure: true, own: { "X-Request-Id": "r", "Retry-After": "9" } });
  expect([headers.get("X-Request-Id"), headers.get("Retry-After")]).toEqual(["r", "3"]);
  expect(headers.get("Strict-Transport-Security")).not.toBeNull();
});

test("only a 401 has WWW-Authenticate", () => {
  expect(errorResponse({ code: "invalid_api_key" }, HEADERS).headers.get("WWW-Authenticate")).toBe("Bearer");
  expect(errorResponse({ code: "permission_denied" }, HEADERS).headers.has("WWW-Authenticate")).toBe(false);
});

test("an unavailable error has Retry-After 1, and its cause goes only to the log", async () => {
  const error = unavailable("the disk is full");
  expect(error.cause).toBe("the disk is full");
  const response = errorResponse(error, HEADERS);
  expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
  expect(await response.text()).not.toContain("disk");
});

test("a response lists at most 100 faults, and says how many there are", async () => {
  const faults = (count: number) => Array.from({ length: count }, (_, i) => ({ path: `a.${i}`, message: "is wrong" }));
  const body = (count: number) => errorResponse({ code: "validation_failed", faults: faults(count) }, HEADERS).json();
  expect(await body(100)).toMatchObject({ message: "Validation failed", errors: faults(100) });
  const text = "Validation failed: the first 100 of 101 problems are listed";
  expect(await body(101)).toEqual({ message: text, code: "validation_failed", errors: faults(100) });
});

test("a reply that is sent many times is rendered once, and keeps the headers of each request", async () => {
  let reads = 0;
  const reply = {
    code: "unavailable" as const,
    headers: { "Retry-After": "3" },
    get text() {
      reads++;
      return "Try later";
    },
  };
  const send = (id: string) => errorResponse(reply, { isSecure: false, own: { "X-Request-Id": id } });
  const [one, two] = [send("1"), send("2")];
  expect(reads).toBe(1);
  expect([one, two].map(({ headers }) => [headers.get("X-Request-Id"), headers.get("Retry-After")])).toEqual([
    ["1", "3"],
    ["2", "3"],
  ]);
  expect(await two.json()).toEqual(await one.json());
});
