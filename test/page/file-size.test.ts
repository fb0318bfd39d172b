import { expect, test } from "vitest";
import { sizeIn } from "../../src/web/shared/files/file-size.ts";

test("a size is in words of the language, with a plural", () => {
  expect([1, 756, 1_000, 999_499, 999_500, 1_240_000].map((bytes) => sizeIn("en", bytes))).toEqual([
    "1 byte",
    "756 bytes",
    "1 kB",
    "999 kB",
    "1 MB",
    "1.2 MB",
  ]);
  expect(sizeIn("fr", 2)).toBe("2\u00a0octets");
});
