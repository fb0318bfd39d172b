import type { Page } from "playwright-core";

/** The fields, the preview and the button of the screen "Chat settings". */
export const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
export const preview = (page: Page) => page.frameLocator('iframe[title="The chat"]');
export const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();
