import { expect, test } from "vitest";
import { ApiError, ERRORS, type ErrorCode, errorResponse, unavailable } from "../../../src/http/errors.ts";

test.each(Object.keys(ERRORS) as ErrorCode[])("%s is told in one of the two shapes, in words", async (code) => {
  const { status, shape, text } = ERRORS[code];
  expect(["message", "error"]).toContain(shape);
  expect(text).toMatch(/^[A-Z][\w' ,-]+$/);
  const response = errorResponse({ code });
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ [shape]: text, code });
});

test("an error's own text and faults take the place of the table's text", async () => {
  const error = new ApiError("validation_failed", { text: "No good", faults: [{ path: "a", message: "is wrong" }] });
  expect([error.message, error.status]).toEqual(["No good", 400]);
  expect(await errorResponse(error).json()).toEqual({
    message: "No good",
    code: "validation_failed",
    errors: [{ path: "a", message: "is wrong" }],
  });
});

test("an error without a text of its own is called what the table calls it", () => {
  expect(new ApiError("chat_not_found").message).toBe("Chat not found");
});

test("an error carries the headers of its answer and its own, which win", () => {
  const error = new ApiError("rate_limited", { headers: { "Retry-After": "3" } });
  const { headers } = errorResponse(error, { "X-Request-Id": "r", "Retry-After": "9" });
  expect([headers.get("X-Request-Id"), headers.get("Retry-After")]).toEqual(["r", "3"]);
});

test("a 401 alone tells how to make oneself known", () => {
  expect(errorResponse({ code: "invalid_api_key" }).headers.get("WWW-Authenticate")).toBe("Bearer");
  expect(errorResponse({ code: "permission_denied" }).headers.has("WWW-Authenticate")).toBe(false);
});

test("what is unavailable may be tried again in a second, and its cause is for the log", async () => {
  const error = unavailable("the disk is full");
  expect(error.cause).toBe("the disk is full");
  const response = errorResponse(error);
  expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
  expect(await response.text()).not.toContain("disk");
});
