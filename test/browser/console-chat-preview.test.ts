import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Frame } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type Desk, openDesk } from "./console.ts";
import { field, preview, save, settingsScreen, stored } from "./console-chat-fixtures.ts";
import { intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";
import { eventually } from "./visitor.ts";

let desk: Desk;

beforeEach(async () => {
  desk = await openDesk();
});

test("the preview shows both color schemes, and says what becomes of a color", async () => {
  const page = await settingsScreen(desk);
  await field(page, "Accent color").fill("#FFE000");
  const send = preview(page).getByRole("button", { name: "Send" });
  const color = () => send.evaluate((button) => getComputedStyle(button).backgroundColor);
  await eventually(color, "rgb(166, 148, 9)");
  await page.getByText("#a69409 is used in light colors, because yours is hard to read there (1.3 : 1).").waitFor();
  await page.getByText("Used as it is in dark colors, with a contrast of 12.6 : 1.").waitFor();
  await page.getByRole("button", { name: "Dark" }).click();
  await eventually(color, "rgb(255, 224, 0)");
  await field(page, "Accent color").fill("");
  await eventually(color, "rgb(18, 117, 102)");
  await field(page, "Pick the accent color").fill("#aa0000");
  await expect.poll(() => field(page, "Accent color").inputValue()).toBe("#aa0000");
  await page.context().close();
});

test("the preview shows the chat when open and when closed", async () => {
  const page = await settingsScreen(desk);
  await field(page, "You answer").selectOption("hours");
  await field(page, "Time zone").fill("Asia/Tokyo");
  await page.getByRole("button", { name: "When closed" }).click();
  await preview(page)
    .getByText(/We’re away until/)
    .waitFor();
  await page.getByLabel("Hide the button").check();
  await page.getByText("Your site hides the button at this time.").waitFor();
  await page.getByRole("button", { name: "When open" }).click();
  await eventually(
    () =>
      preview(page)
        .getByText(/We’re away/)
        .count(),
    0,
  );
  await page.getByText("Nothing that you write here is sent.").waitFor();
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await stored(desk)).toMatchObject({
    hours: { timeZone: "Asia/Tokyo", week: { friday: [{ opens: "09:00", closes: "17:00" }] } },
  });
  await page.context().close();
});

test("the preview shows each language with the texts for it", async () => {
  const page = await settingsScreen(desk);
  await field(page, "Language of the visitor").selectOption({ label: "German" });
  await preview(page).getByText("Wie können wir helfen?").waitFor();
  await field(page, "emptyTitle").fill("Moin!");
  await preview(page).getByText("Moin!").waitFor();
  await field(page, "Language of the visitor").selectOption({ label: "Arabic" });
  await preview(page).locator("html[dir=rtl]").waitFor();
  await field(page, "Language").fill("sv");
  await field(page, "Language").press("Tab");
  await page.getByText("Swedish. Other languages are possible too").waitFor();
  await field(page, "emptyTitle").fill("Hej!");
  await preview(page).getByText("Hej!").waitFor();
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await stored(desk)).toMatchObject({ texts: { de: { emptyTitle: "Moin!" }, sv: { emptyTitle: "Hej!" } } });
  await page.context().close();
});

test("what is typed into the language stays when the preview says anew what it drew", async () => {
  const page = await settingsScreen(desk);
  await preview(page).getByRole("heading", { name: "Site" }).waitFor();
  await page.evaluate(() => addEventListener("message", (drawn) => Object.assign(window, { drawn })));
  await page.getByRole("button", { name: "Dark" }).click();
  await page.waitForFunction(() => "drawn" in window);
  await field(page, "Language").fill("sv");
  await page.evaluate(() => {
    const { data, source, origin } = (window as unknown as { drawn: MessageEvent }).drawn;
    dispatchEvent(new MessageEvent("message", { data: { ...data }, source, origin }));
    return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  });
  expect(await field(page, "Language").evaluate((input: HTMLInputElement) => input.value)).toBe("sv");
  await field(page, "Language").press("Tab");
  await page.getByText("Swedish. Other languages are possible too").waitFor();
  await page.context().close();
});

test("the preview stores nothing and calls nobody: what is written in it stays there, until it starts over", async () => {
  const page = await settingsScreen(desk);
  const sockets: string[] = [];
  const calls: string[] = [];
  page.on("websocket", (socket) => sockets.push(socket.url()));
  page.on("request", (request) => calls.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await field(page, "Ask for a name and an email address").selectOption("afterFirst");
  const box = preview(page).getByRole("textbox", { name: "Message" });
  await box.fill("Is this a test?");
  await box.press("Enter");
  await preview(page).getByRole("log").getByText("Is this a test?").waitFor();
  await preview(page).getByText("Sent", { exact: true }).waitFor();
  await preview(page).getByLabel("Email").fill("ann@acme.example");
  await preview(page).locator(".ask").getByRole("button", { name: "Send" }).click();
  await preview(page).getByText("Thank you.").waitFor();
  await preview(page)
    .locator("input[type=file]")
    .setInputFiles({ name: "plan.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7 ") });
  await preview(page).getByRole("button", { name: "Send", exact: true }).click();
  await preview(page).getByRole("log").getByText("plan.pdf").waitFor();
  expect(sockets).toEqual([]);
  expect(calls.filter((call) => !/^GET \/(web-assets|console)\//.test(call))).toEqual([]);
  expect((await desk.api("GET", "/chats")).chats).toEqual([]);
  expect(await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)].toSorted())).toEqual([
    "parley.person",
    `parley.settings.${desk.channel.id}`,
    "parley.signed-in",
  ]);
  await page.getByRole("button", { name: "Start over" }).click();
  await preview(page).getByText("How can we help?").waitFor();
  await expect.poll(() => preview(page).getByText("Is this a test?").count()).toBe(0);
  await page.context().close();
});

test("markup and bidi controls are shown as text, and no logo runs or leaves its place", async () => {
  const page = await settingsScreen(desk);
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const markup = "<img src=x onerror=alert(1)>\u202e\u2066dlrow";
  for (const name of ["Title", "Greeting", "Starter 1"]) await field(page, name).fill(markup);
  await preview(page).getByRole("heading", { name: "<img src=x" }).waitFor();
  await preview(page).locator(".greeting", { hasText: "<img src=x" }).waitFor();
  await preview(page).getByRole("button", { name: "<img src=x" }).waitFor();
  for (const address of ["javascript:alert(1)", "data:image/svg+xml,<svg onload=alert(1)>", "http://x.example/a.png"]) {
    await field(page, "Logo").fill(address);
    await field(page, "Logo").press("Tab");
    await field(page, "Title").fill(`${markup} ${address.length}`);
    await preview(page)
      .getByRole("heading", { name: String(address.length) })
      .waitFor();
    await expect.poll(() => preview(page).locator("img").count()).toBe(0);
    await save(page);
    await page.getByText("Must be an https URL.").waitFor();
  }
  await intercept(page, "https://logo.example/**", (route) =>
    route.request().url().endsWith("gone.png")
      ? route.abort()
      : route.fulfill({ contentType: "image/svg+xml", body: WIDE_LOGO }),
  );
  await field(page, "Logo").fill("https://logo.example/gone.png");
  await field(page, "Logo").press("Tab");
  await page.getByText("It can’t be loaded. Visitors see the title’s first letter.").waitFor();
  await field(page, "Logo").fill("https://logo.example/wide.svg");
  await field(page, "Logo").press("Tab");
  await page.getByText("It loads in the preview. It is not square, so visitors see its middle.").waitFor();
  // The pictures of other hosts are the preview's alone.
  await expect.poll(() => page.locator("img").count()).toBe(0);
  await field(page, "Title").fill(markup);
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  const visitor = await browser.newPage();
  visitor.on("dialog", () => faults.push("dialog of a visitor"));
  await visitor.goto(`${base}/web/${desk.channel.id}`);
  await visitor.getByRole("heading", { name: "<img src=x" }).waitFor();
  expect(faults).toEqual([]);
  await visitor.close();
  await page.context().close();
});

const WIDE_LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><script>alert(1)</script></svg>`;

/** Waits until the preview's script runs in a frame. */
async function started(frame: Frame | undefined): Promise<Frame> {
  if (!frame) throw new Error("There is no frame");
  const script = await frame.waitForFunction(
    () => performance.getEntriesByType("resource").find(({ name }) => name.includes("preview-"))?.name,
  );
  // As a text, because the test runner has its own import.
  await frame.evaluate(`import(${JSON.stringify(await script.jsonValue())}).then(() => undefined)`);
  return frame;
}

/** Resolves once a frame got a message, and did what it does with it. */
function heardIn(frame: Frame): Promise<void> {
  return frame.evaluate(() => new Promise((done) => addEventListener("message", () => setTimeout(done))));
}

const drawnIn = (frame: Frame) => frame.locator("#chat").innerHTML();

test("no other site can frame the preview, and none can tell it what to draw", async () => {
  const lie = { parley: "preview", name: "Your bank", settings: {}, scheme: "light", locale: "en", when: "now" };
  const site = createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "text/html" });
    response.end(`<!doctype html><title>Other</title><iframe src="${base}/console/preview"></iframe><script>
      window.heard = 0;
      addEventListener("message", () => window.heard++);
      window.tell = (target) => target.postMessage(${JSON.stringify(lie)}, "*");
    </script>`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const address = `http://localhost:${(site.address() as AddressInfo).port}/`;
  try {
    const strict = await browser.newPage();
    await strict.goto(address);
    await expect.poll(() => strict.frames()[1]?.url()).toMatch(/^chrome-error:/);
    await strict.close();

    // A browser that knows no such policy.
    const lax = await (await browser.newContext()).newPage();
    await intercept(lax.context(), `${base}/console/preview`, async (route) => {
      const response = await route.fetch();
      const { "x-frame-options": _, "content-security-policy": __, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    await lax.goto(address);
    const frame = await started(lax.frames()[1]);
    const heard = heardIn(frame);
    await lax.evaluate("tell(frames[0])");
    await heard;
    expect(await drawnIn(frame)).toBe("");
    expect(await lax.evaluate("heard")).toBe(0);

    // A window that it opens, which no page is around.
    const opening = lax.waitForEvent("popup");
    await lax.evaluate((url) => void window.open(url), `${base}/console/preview`);
    const opened = await started((await opening).mainFrame());
    const heardThere = heardIn(opened);
    await opened.evaluate((message) => postMessage(message, "*"), lie);
    await heardThere;
    expect(await drawnIn(opened)).toBe("");
    await lax.context().close();
  } finally {
    site.closeAllConnections();
    site.close();
  }
});
