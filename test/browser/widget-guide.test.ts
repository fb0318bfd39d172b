import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { browser } from "./file-browser.ts";
import { openPlace, type Place } from "./fixtures.ts";
import { openSite } from "./site.ts";
import { closeChat, eventually, newUser, open } from "./visitor.ts";

const guide = await readFile(new URL("../../src/docs/web-chat.md", import.meta.url), "utf8");
const NONCE = "R4nd0m";
/** Paths of the site, and what each adds to the guide's policy. */
const STRICT: Record<string, string> = {
  "/strict": "",
  "/strict-dynamic": "; script-src-elem 'nonce-R4nd0m' 'strict-dynamic'",
  "/trusted-types": "; require-trusted-types-for 'script'; trusted-types 'none'",
};

let place: Place;
let site = "";

beforeAll(async () => {
  place = await openPlace();
  const ours = (text: string) =>
    text.replaceAll("https://parley.example", place.base).replaceAll('"chn_…"', `"${place.channelId}"`);
  const example = ours(blockOf("<!doctype html>"));
  const policy = ours(blockOf("default-src 'none'"));
  const strict = example.replaceAll("<script", `<script nonce="${NONCE}"`);
  site = await openSite(({ pathname }) => {
    if (pathname === "/") return { markup: example };
    const [, left] = pathname.split("/without/");
    const parts = policy.split("; ").filter((part) => !left || !part.startsWith(left));
    return { headers: { "Content-Security-Policy": parts.join("; ") + (STRICT[pathname] ?? "") }, markup: strict };
  });
});

/** The guide's code that begins with a text. */
function blockOf(start: string): string {
  const blocks = [...guide.matchAll(/^```\w+\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code.trim());
  return blocks.find((code) => code.startsWith(start)) ?? expect.unreachable(`the guide has no code with ${start}`);
}

/** A user opens the chat of the guide's example with its button, writes, and sees an answer counted. */
async function useExample(path: string, locale: string): Promise<string[]> {
  const user = newUser();
  await place.meet(user);
  const page = await open(browser, { viewport: { width: 1000, height: 760 }, locale });
  await page.goto(site + path);
  const call = ["identify", { user, hash: place.hashOf(user) }];
  await page.evaluate((given) => (window as unknown as { Parley: unknown[] }).Parley.push(given), call);
  const ask = page.getByRole("button", { name: "Ask us" });
  await ask.click();
  const chat = page.frameLocator("iframe");
  await chat.getByRole("textbox").fill("Do you have it in red?");
  await page.keyboard.press("Enter");
  await eventually(() => place.heard(user), ["Do you have it in red?"]);
  await closeChat(page, () => ask.click());
  await eventually(() => page.locator("iframe").isVisible(), false);
  await place.say(user, "In red and blue.");
  await page.getByRole("button", { name: "Ask us (1)" }).click();
  await page.getByRole("button", { name: "Ask us", exact: true }).waitFor();
  await chat.getByText("In red and blue.").waitFor();
  return page.faults;
}

test("the guide's example page works as it is", async () => {
  expect(await useExample("/", "en-GB")).toEqual([]);
});

test.each(Object.keys(STRICT))("with the guide's policy, the example violates nothing: %s", async (path) => {
  // The texts of another language are fetched from the site's page.
  expect(await useExample(path, "de-DE")).toEqual([]);
});

test.each(["script-src", "frame-src", "connect-src"])("the guide's policy needs %s", async (directive) => {
  const page = await open(browser);
  const violated = page.waitForEvent("console", (line) => line.text().includes("Content Security Policy"));
  await page.goto(`${site}/without/${directive}`);
  await page.evaluate(() => Object.assign(window, { Parley: (window as { Parley?: unknown }).Parley ?? [] }));
  await page.evaluate(() => (window as unknown as { Parley: unknown[] }).Parley.push(["open"]));
  expect((await violated).text()).toContain(directive === "script-src" ? "script" : place.base);
});
