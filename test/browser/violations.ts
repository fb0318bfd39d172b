import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/**
 * Accessibility violations in a part of a page, as readable lines, and whether the page scrolls sideways. `aaa`
 * requires a contrast of 7:1. Only violations are collected. To join the results of several frames, axe opens a second
 * page: the legacy mode, for a page of one frame, opens none.
 */
export async function violations(page: Page, part = "html", { aaa = false } = {}): Promise<string[]> {
  // An animation of a part that goes meanwhile is canceled.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  const { violations } = await new AxeBuilder({ page })
    .options({ rules: { "color-contrast-enhanced": { enabled: aaa } }, resultTypes: ["violations"] })
    .setLegacyMode(page.frames().length === 1)
    .include(part)
    .analyze();
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  const lines = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  return sideways ? [...lines, "the page scrolls sideways"] : lines;
}
