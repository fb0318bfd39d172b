import { expect, test } from "vitest";
import { signInViolations } from "../../browser/console.ts";
import { browser } from "../../browser/file-browser.ts";

test.for((["light", "dark"] as const).flatMap((colorScheme) => [320, 1280].map((width) => ({ colorScheme, width }))))(
  "the screens have no accessibility violations: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    expect(await signInViolations(browser, { colorScheme, viewport: { width, height: 700 } })).toEqual([]);
  },
);
