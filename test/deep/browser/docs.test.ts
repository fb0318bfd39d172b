import { expect, test } from "vitest";
import { faultsOf } from "../../browser/docs-page.ts";
import { browser } from "../../browser/file-browser.ts";

const phone = { width: 320, height: 568 };
const wide = { width: 1_400, height: 900 };

test.each([
  ["/docs/errors-and-limits", "a wide screen in the dark", { viewport: wide, colorScheme: "dark" }],
  ["/docs/web-chat", "320 px in the dark", { viewport: phone, colorScheme: "dark" }],
  ["/docs/reference/key", "a wide screen", { viewport: wide }],
  ["/docs/operator/errors", "320 px in the dark", { viewport: phone, colorScheme: "dark" }],
] as const)("%s, fully unfolded, has no violation and a contrast of 7:1 on %s", async (path, _, look) => {
  expect(await faultsOf(browser, path, look)).toEqual([]);
});
