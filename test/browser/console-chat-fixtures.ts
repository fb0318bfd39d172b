import type { Page } from "playwright-core";
import { type Desk, openConsole, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";

export const settingsScreen = (desk: Desk, options = {}) =>
  openConsole(browser, screenOf(desk, `channels/${desk.channel.id}/chat`), options);
export const stored = async (desk: Desk) => (await desk.api("GET", `/channels/${desk.channel.id}`)).channel.settings;

/** The fields, the preview and the button of the screen "Chat settings". */
export const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
export const preview = (page: Page) => page.frameLocator('iframe[title="The chat"]');
export const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();
