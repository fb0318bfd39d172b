import { expect, test } from "vitest";
import { parseTap, tapData } from "../../../src/model/content.ts";

test("a tap names the message and the choice that were sent with it", () => {
  expect(tapData("msg_g0123456789ABCDE", 9)).toBe("msg_g0123456789ABCDE:9");
  expect(parseTap("msg_g0123456789ABCDE:9")).toEqual({ messageId: "msg_g0123456789ABCDE", index: 9 });
});

test.each([
  "",
  "msg_g0123456789ABCDE",
  "msg_g0123456789ABCDE:",
  "msg_g0123456789ABCDE:10",
  "msg_g0123456789ABCDE:-1",
  "msg_g0123456789ABCDE:1\n",
  " msg_g0123456789ABCDE:1",
  "cht_g0123456789ABCDE:1",
  "msg_:1",
  "msg_g-:1",
  `msg_${"a".repeat(41)}:1`,
  "refund",
])("%j is not what a choice that the service sent brings back", (data) => {
  expect(parseTap(data)).toBeNull();
});
