import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/**
 * Accessibility violations in a part of a page, as readable lines, and whether the page scrolls sideways. `aaa`
 * requires a contrast of 7:1.
 */
export async function violations(page: Page, part = "html", { aaa = false } = {}): Promise<string[]> {
  // An animation of a part that goes meanwhile is canceled.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  const { violations } = await new AxeBuilder({ page })
    .options({ rules: { "color-contrast-enhanced": { enabled: aaa } } })
    .include(part)
    .analyze();
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  const lines = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  return sideways ? [...lines, "the page scrolls sideways"] : lines;
}
