import { expect, test } from "vitest";
import { intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { openPlace } from "./fixtures.ts";
import { violations } from "./violations.ts";
import { eventually, newUser, visit, watchShifts } from "./visitor.ts";

const place = await openPlace();

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
  "base64",
);
const picture = (name: string) => ({ name, mimeType: "image/png", buffer: PNG });

test("a visitor chooses, drops and pastes files, takes one back, and sends the rest with a text", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const files = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  // The page follows its files one frame after it has drawn the button.
  const drawn = () => new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  for (let frames = 0; frames < 2; frames++) await page.evaluate(drawn);
  await page.locator("input[type=file]").setInputFiles([picture("one.png"), picture("two.png")]);
  await eventually(() => files.count(), 2);
  for (const kind of ["drop", "paste"] as const) {
    await page.getByRole("textbox", { name: "Message" }).evaluate((box, type) => {
      const data = new DataTransfer();
      data.items.add(new File(["Hello"], `${type}.txt`, { type: "text/plain" }));
      const event =
        type === "drop"
          ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })
          : new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
      box.dispatchEvent(event);
    }, kind);
  }
  await eventually(
    () => files.allTextContents(),
    ["one.png78 bytes", "two.png78 bytes", "drop.txt5 bytes", "paste.txt5 bytes"],
  );
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Remove two.png" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Look at this");
  await page.keyboard.press("Enter");
  await eventually(async () => (await place.heard(user)).length, 3);
  expect((await place.heard(user))[0]).toBe("Look at this");
  await eventually(() => files.count(), 0);
  await eventually(() => page.getByText("Sent", { exact: true }).count(), 3);
  // Another page of the visitor has them from the service.
  const other = await visit(browser, place, { user });
  const shownPicture = other.getByRole("img", { name: "Look at this" });
  await eventually(() => shownPicture.evaluate((image: HTMLImageElement) => image.naturalHeight), 3);
  await other.getByRole("link", { name: "drop.txt" }).waitFor();
  expect(await violations(other)).toEqual([]);
  expect([page.faults, other.faults]).toEqual([[], []]);
});

test("an upload that is cut off four times arrives once", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  let cuts = 0;
  const seen = Promise.withResolvers<void>();
  await intercept(page, "**/media?fileName=*", async (route) => {
    if (++cuts <= 4) return route.abort("connectionreset");
    await seen.promise;
    return route.continue();
  });
  await page.locator("input[type=file]").setInputFiles([picture("one.png")]);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Cancel: one.png" }).waitFor();
  seen.resolve();
  await expect.poll(async () => (await place.heard(user)).length, { timeout: 60_000 }).toBe(1);
  expect(cuts).toBe(5);
});

test("a screen reader hears of an upload at each quarter", async () => {
  const page = await visit(browser, place);
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await page.evaluate(() => {
    const heard = new Set<string>();
    const watcher = new MutationObserver(() => {
      for (const status of document.querySelectorAll("[role=status]")) heard.add(status.textContent ?? "");
    });
    watcher.observe(document.body, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { heard });
  });
  // Each quarter is told by the test: two that come at once are drawn as one.
  await page.evaluate(() => {
    class Held extends XMLHttpRequest {
      override send(body?: XMLHttpRequestBodyInit): void {
        const tell = (loaded: number) =>
          this.upload.dispatchEvent(new ProgressEvent("progress", { lengthComputable: true, loaded, total: 100 }));
        Object.assign(window, { upload: { tell, go: () => super.send(body) } });
      }
    }
    Object.assign(window, { XMLHttpRequest: Held });
  });
  const buffer = Buffer.alloc(1_000, "x");
  await page.locator("input[type=file]").setInputFiles([{ name: "long.txt", mimeType: "text/plain", buffer }]);
  await page.getByRole("button", { name: "Send" }).click();
  type Upload = { tell(loaded: number): void; go(): void };
  const upload = await page.waitForFunction(() => (window as unknown as { upload?: Upload }).upload);
  const heard = () =>
    page.evaluate(() =>
      Array.from((window as unknown as { heard: Set<string> }).heard).filter((text) => text.startsWith("long.txt")),
    );
  const wanted: string[] = [];
  for (const percent of [25, 50, 75]) {
    wanted.push(`long.txt: ${percent}%`);
    await upload.evaluate((held, loaded) => held?.tell(loaded), percent);
    await eventually(heard, wanted);
  }
  await upload.evaluate((held) => held?.go());
  await page.getByText("Sent", { exact: true }).waitFor();
  await eventually(heard, [...wanted, "long.txt: 100%"]);
});

test("files that can't be sent are named, and the text stays", async () => {
  const page = await visit(browser, place);
  await page.getByRole("textbox", { name: "Message" }).fill("My text");
  const huge = { name: "huge.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(10 * 1_048_576 + 1) };
  await page.locator("input[type=file]").setInputFiles([huge, picture("one.png")]);
  await page.getByText("“huge.bin” is larger than 10 MB.").waitFor();
  await page.locator("input[type=file]").setInputFiles(Array.from({ length: 10 }, (_, n) => picture(`${n}.png`)));
  await page.getByText("You can send 10 files at a time.").waitFor();
  await expect.poll(() => page.getByRole("list", { name: "Attached files" }).getByRole("listitem").count()).toBe(10);
  await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("My text");
  // What the first bytes don't prove is refused by the service, with the reason and the text.
  const lying = { name: "lie.png", mimeType: "image/png", buffer: Buffer.from("words") };
  const other = await visit(browser, place);
  await other.locator("input[type=file]").setInputFiles([lying]);
  await other.getByRole("textbox", { name: "Message" }).fill("Caption");
  await other.keyboard.press("Enter");
  await other.getByText("Content-Type says image/png").first().waitFor();
  await other.getByText("Caption").waitFor();
  await other.getByRole("button", { name: "Cancel: lie.png" }).click();
  await eventually(() => other.getByText("Caption").count(), 0);
});

test("nothing moves when pictures arrive, a tap shows one large, and Escape closes it", async () => {
  const user = newUser();
  for (let n = 1; n <= 10; n++) {
    await place.say(user, `https://pictures.example/${n}.png`, {
      type: "IMAGE",
      mediaUrl: `https://pictures.example/${n}.png`,
    });
  }
  const measured = Promise.withResolvers<void>();
  const page = await visit(browser, place, {
    user,
    before: async (page) => {
      await intercept(page, "https://pictures.example/**", async (route) => {
        await measured.promise;
        const isGone = route.request().url().endsWith("/3.png");
        return isGone ? route.abort() : route.fulfill({ body: PNG, contentType: "image/png" });
      });
      await watchShifts(page);
    },
  });

  const images = page.getByRole("img", { name: "Picture from" });
  await eventually(() => images.count(), 10);
  const before = await page.locator(".scroller").evaluate((list) => list.scrollHeight);
  measured.resolve();
  await eventually(() => images.last().evaluate((image: HTMLImageElement) => image.naturalHeight), 3);
  await page.locator(".picture").nth(2).scrollIntoViewIfNeeded();
  await page.getByRole("link", { name: "This picture can’t be shown." }).waitFor();
  expect(await page.locator(".scroller").evaluate((list) => list.scrollHeight)).toBe(before);
  expect(await page.evaluate(() => (window as unknown as { shift: number }).shift)).toBe(0);
  await images.last().click();
  const large = page.getByRole("dialog");
  await large.getByRole("img").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await eventually(() => large.count(), 0);
  expect(page.faults).toEqual([]);
});
