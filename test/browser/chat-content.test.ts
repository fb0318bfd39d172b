import { expect, test } from "vitest";
import { takeOver } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { openPlace } from "./fixtures.ts";
import { violations } from "./violations.ts";
import { eventually, newUser, open, shown, visit, visitInWeather, watchShifts, write } from "./visitor.ts";

const place = await openPlace();

const QUESTION = {
  interactive: {
    header: "Order 4711",
    choices: [
      { type: "reply", id: "refund", title: "Refund", description: "Within three days" },
      { type: "reply", id: "exchange", title: "Exchange", section: "Other" },
    ],
  },
};

test("choices are buttons, and once one is tapped it is marked and none can be tapped, also after a reload", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "What is it about?", QUESTION);
  const choices = page.getByRole("group", { name: "Choices" });
  await choices.getByRole("button", { name: "Exchange" }).click();
  await eventually(() => place.heard(user), ["Exchange"]);
  for (const _ of ["before", "after the reload"]) {
    await choices.getByText("Exchange Chosen").waitFor();
    await expect.poll(() => choices.getByText("Within three days").count()).toBe(1);
    await expect.poll(() => choices.getByRole("button").count()).toBe(0);
    expect(await shown(page)).toEqual(["What is it about?", "Exchange"]);
    for (const text of ["Order 4711", "Other"]) await expect.poll(() => page.getByText(text).count()).toBe(1);
    await page.reload();
  }
});

test("two taps in a row send one choice, and the choices of a deleted message go", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "What is it about?", QUESTION);
  await page.getByRole("button", { name: "Refund" }).evaluate((button: HTMLButtonElement) => {
    button.click();
    button.click();
  });
  await page.getByText("Sent", { exact: true }).waitFor();
  await write(page, "Thanks");
  await eventually(() => place.heard(user), ["Refund", "Thanks"]);
  await place.redact(user, "What is it about?");
  await eventually(() => page.getByRole("group", { name: "Choices" }).count(), 0);
  await expect.poll(() => page.getByText("Within three days").count()).toBe(0);
});

test("choices that are links open their page, and an address that isn't one of the web is no link", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const choices = [{ type: "link", title: "Track", url: "https://example.com/track" }];
  await place.say(user, "On its way", { interactive: { choices } });
  const link = page.getByRole("link", { name: "Track" });
  expect([await link.getAttribute("href"), await link.getAttribute("rel")]).toEqual([
    "https://example.com/track",
    "noopener noreferrer nofollow",
  ]);
});

test("a place is shown as text with a link to a map, and a contact card as text", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "Our shop", { location: { latitude: 52.5, longitude: 13.4, name: "Acme" } });
  await place.say(user, "Our courier", { contacts: [{ name: "Ada", phones: ["+49 30 1"] }] });
  await page.getByText("Ada · +49 30 1").waitFor();
  const map = page.getByRole("link", { name: "52.5, 13.4" });
  await expect.poll(() => map.getAttribute("href")).toContain("mlat=52.5&mlon=13.4");
});

test("a reply shows what it answers, and leads there", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const id = await place.say(user, "The first one");
  await place.fill(user, 12);
  await place.say(user, "About that", { replyTo: id });
  const quote = page.getByRole("button", { name: "In reply to: Acme support The first one" });
  await quote.click();
  const answered = page.locator(".message", { has: page.locator(".text", { hasText: "The first one" }) });
  // It is drawn with the next frame, and has the focus then.
  await eventually(() => answered.evaluate((element) => element === document.activeElement), true);
  await place.redact(user, "The first one");
  await page.getByRole("button", { name: "In reply to: Acme support This message was deleted." }).waitFor();
});

test("a quote leads over a hundred messages and pictures to the one that it shows", async () => {
  const user = newUser();
  const id = await place.say(user, "The first one");
  for (let n = 1; n <= 6; n++) {
    await place.fill(user, 20);
    await place.say(user, `Picture ${n}`, { type: "IMAGE", mediaUrl: `https://parley.invalid/${n}.png` });
  }
  await place.say(user, "About that", { replyTo: id });
  const page = await visit(browser, place, { user });
  await page.locator("button.quote").click();
  const target = page.locator(".text", { hasText: "The first one" });
  const view = await page.getByRole("region", { name: "Conversation" }).boundingBox();
  const isInView = async () => {
    const box = await target.boundingBox();
    return box !== null && view !== null && box.y >= view.y && box.y + box.height <= view.y + view.height;
  };
  await eventually(isInView, true);
  // It stays there until the ring around it is gone, long after the scrolling.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  expect(await isInView()).toBe(true);
});

test("a visitor answers a message by keyboard alone, and takes that back with Escape", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const answered = await place.say(user, "Tea or coffee?");
  await page.getByText("Tea or coffee?").waitFor();
  const opener = page.getByRole("button", { name: "React or reply" });
  const chooseReply = async () => {
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("group", { name: "React or reply" }).waitFor();
    for (let n = 0; n < 6; n++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.locator(".answered").waitFor();
  };
  const box = page.getByRole("textbox", { name: "Message" });
  await chooseReply();
  await page.keyboard.press("Escape");
  await page.locator(".answered").waitFor({ state: "detached" });
  await chooseReply();
  await eventually(() => box.evaluate((element) => element === document.activeElement), true);
  await page.keyboard.type("Tea");
  await page.keyboard.press("Enter");
  const quote = page.getByRole("button", { name: "In reply to: Acme support Tea or coffee?" });
  await quote.waitFor();
  await expect.poll(() => page.locator(".answered").count()).toBe(0);
  await eventually(async () => (await place.messages(user)).map(({ replyTo }) => replyTo), [undefined, answered]);
  await page.reload();
  await quote.waitFor();
  expect(page.faults).toEqual([]);
});

test("what a visitor answers stays through a reload, shows the message as it is, and a button takes it away", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const answer = async (text: string) => {
    await page.getByText(text, { exact: true }).hover();
    await page.getByRole("button", { name: `React or reply: ${text}` }).click();
    await page.getByRole("button", { name: "Reply", exact: true }).click();
  };
  await place.say(user, "Tea?");
  await place.say(user, "My card is 4111");
  await answer("Tea?");
  await page.getByRole("textbox", { name: "Message" }).fill("Yes");
  const quote = page.locator(".answered");
  await quote.getByText("Tea?").waitFor();
  await page.reload();
  await quote.getByText("Acme support").waitFor();
  await page.getByRole("button", { name: "Don’t reply to this message" }).click();
  await eventually(() => quote.count(), 0);
  await page.reload();
  await page.getByText("Tea?").waitFor();
  await expect.poll(() => quote.count()).toBe(0);
  await answer("My card is 4111");
  await quote.getByText("4111").waitFor();
  await place.redact(user, "My card is 4111");
  await eventually(() => quote.count(), 0);
  await page.keyboard.press("Enter");
  await eventually(async () => (await place.messages(user)).map(({ replyTo }) => replyTo).at(-1), undefined);
  await eventually(() => place.heard(user), ["Yes"]);
});

test("visitors react by keyboard alone, and a tap outside of the menu closes it", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "Here is your order");
  const opener = page.getByRole("button", { name: "React or reply: Here is your order" });
  await opener.waitFor();
  const box = page.getByRole("textbox", { name: "Message" });
  await box.focus();
  // The message is before the box and the button for files.
  for (let n = 0; n < 5 && !(await opener.evaluate((element) => element === document.activeElement)); n++) {
    await page.keyboard.press("Shift+Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "React or reply" }).waitFor();
  for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowLeft", "Enter"]) {
    await page.keyboard.press(key);
  }
  await eventually(async () => (await place.messages(user))[0]?.reactions?.map(({ emoji }) => emoji), ["🙏"]);
  expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "React or reply" }).waitFor();
  await page.getByRole("log").click({ position: { x: 1, y: 1 } });
  await page.getByRole("group", { name: "React or reply" }).waitFor({ state: "detached" });
});

test("a menu that can't be fetched stays closed, and the next click tries again", async () => {
  const user = newUser();
  await place.say(user, "Here is your order");
  const page = await visit(browser, place, { user });
  const giveBack = await takeOver(page, /\/web-assets\/later-/);
  const opener = page.getByRole("button", { name: "React or reply" });
  await Promise.all([page.waitForEvent("requestfailed"), opener.press("Enter")]);
  await eventually(() => opener.getAttribute("aria-expanded"), "false");
  giveBack();
  await opener.press("Enter");
  await page.getByRole("group", { name: "React or reply" }).waitFor();
});

test("a reaction that the limit refuses is taken back, and the page says so", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await place.say(user, "Here is your order");
  await page.getByText("Here is your order").hover();
  await page.getByRole("button", { name: "React or reply" }).click();
  weather.refuse = () => ({ type: "refused", id: "reaction", code: "rate_limited", message: "", retryAfter: 90 });
  await page.getByRole("button", { name: "👍" }).click();
  await page.getByRole("alert").getByText("Not sent. Too many messages. Try again in 90 seconds.").waitFor();
  expect((await page.getByRole("alert").boundingBox())?.height).toBeGreaterThan(20);
  await expect.poll(() => page.locator(".reactions").count()).toBe(0);
});

test("nothing moves when a reaction or an answer comes, or what it answers is loaded", async () => {
  const user = newUser();
  await place.say(user, "Two pages before the newest");
  const first = await place.say(user, "Message 1");
  await place.fill(user, 199);
  const page = await visit(browser, place, { user, before: watchShifts });
  // It rises when it is drawn.
  await page.getByText("Message 199 of 199").scrollIntoViewIfNeeded();
  const boxes = () =>
    Promise.all(["198", "199"].map((n) => page.getByText(`Message ${n} of 199`, { exact: true }).boundingBox()));
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
  const before = await boxes();
  await place.react(user, "Message 198 of 199", "👍");
  await page.locator(".reactions").getByText("👍").waitFor();
  expect(await boxes()).toEqual(before);
  await place.say(user, "An answer", { replyTo: first });
  const quote = page.locator(".quote");
  await quote.getByText("An earlier message").waitFor();
  const height = await quote.evaluate((element) => element.getBoundingClientRect().height);
  await page.getByRole("region", { name: "Conversation" }).evaluate((element) => element.scrollTo({ top: 0 }));
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await quote.getByText("Message 1", { exact: true }).waitFor();
  expect(await quote.evaluate((element) => element.getBoundingClientRect().height)).toBe(height);
  expect(await page.evaluate(() => (window as unknown as { shift: number }).shift)).toBe(0);
  // What is hidden in messages makes the page itself no higher than the window.
  expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0);
});

test("a visitor reacts, changes it, and takes it back, and nothing moves", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "Here is your order");
  await page.getByText("Here is your order").hover();
  const opener = page.getByRole("button", { name: "React or reply" });
  const reactions = page.locator(".reactions");
  const choose = async (emoji: string) => {
    await opener.click();
    await page.getByRole("group", { name: "React or reply" }).getByRole("button", { name: emoji }).click();
  };
  await choose("👍");
  await eventually(() => reactions.textContent(), "You: 👍");
  await eventually(async () => (await place.messages(user))[0]?.reactions?.map(({ emoji }) => emoji), ["👍"]);
  await opener.click();
  await expect.poll(() => page.getByRole("button", { name: "👍" }).getAttribute("aria-pressed")).toBe("true");
  await page.keyboard.press("Escape");
  await page.getByRole("group", { name: "React or reply" }).waitFor({ state: "detached" });
  expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true);
  const box = await page.getByText("Here is your order").boundingBox();
  // A visitor sends one a second.
  await choose("❤️");
  await eventually(async () => (await place.messages(user))[0]?.reactions?.map(({ emoji }) => emoji), ["❤️"]);
  await choose("❤️");
  await eventually(() => reactions.count(), 0);
  await eventually(async () => (await place.messages(user))[0]?.reactions, undefined);
  expect(await page.getByText("Here is your order").boundingBox()).toEqual(box);
});

test("a deleted message can be neither answered nor reacted to, and offline there are no reactions", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await place.say(user, "A mistake");
  await place.say(user, "The right one");
  const opener = page.getByRole("button", { name: "React or reply" });
  await eventually(() => opener.count(), 2);
  await place.redact(user, "A mistake");
  await eventually(() => opener.count(), 1);
  await weather.storm(1012);
  await page.getByText("The right one").hover();
  await opener.click();
  const menu = page.getByRole("group", { name: "React or reply" });
  await eventually(() => menu.getByRole("button").allTextContents(), ["Reply"]);
});

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
  await page.route("**/media?fileName=*", async (route) => {
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
      await page.route("https://pictures.example/**", async (route) => {
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

test("the page has the company's title, color, words and suggestions, and says when it is away", async () => {
  const company = await openPlace({
    title: "Moin & Co",
    greeting: "Hello!\nWhat are you looking for?",
    accentColor: "#ffe000",
    logoUrl: "https://parley.invalid/logo.png",
    starters: ["Prices", "Where is my order?"],
    texts: { en: { emptyTitle: "Welcome" }, "en-GB": { placeholder: "Tell us…" } },
    hours: { timeZone: "UTC", week: { monday: [{ opens: "09:00", closes: "09:01" }] } },
  });
  const user = newUser();
  const page = await visit(browser, company, { user });
  await page.getByRole("heading", { name: "Moin & Co" }).waitFor();
  await page.getByText("Welcome").waitFor();
  await page.getByText("What are you looking for?").waitFor();
  await page.getByPlaceholder("Tell us…").waitFor();
  await page.getByText(/We’re away until Monday.*09:00/).waitFor();
  const send = page.getByRole("button", { name: "Send" });
  expect(await send.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe("rgb(166, 148, 9)");
  // A logo that can't be loaded leaves the first letter.
  await eventually(() => page.locator(".avatar img").count(), 0);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Where is my order?" }).click();
  await eventually(() => company.heard(user), ["Where is my order?"]);
  await eventually(() => page.getByRole("button", { name: "Prices" }).count(), 0);
  expect(page.faults).toEqual([]);
});

test("the title has the number of messages that came while the page was hidden, until they are seen", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const title = await page.title();
  const turn = (state: string) =>
    page.evaluate((next) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, value: next });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await place.say(user, "Seen at once");
  await page.getByText("Seen at once").waitFor();
  await turn("hidden");
  await place.say(user, "One");
  await place.say(user, "Two");
  await eventually(() => page.title(), `(2) ${title}`);
  await turn("visible");
  await eventually(() => page.title(), title);
});

test("the person who writes is named once above a run, and on each message for a screen reader", async () => {
  const user = newUser();
  for (const text of ["One", "Two"]) await place.say(user, text, { type: "TEXT", senderId: place.memberId });
  await place.say(user, "From a bot");
  const page = await visit(browser, place, { user });
  await eventually(() => shown(page), ["One", "Two", "From a bot"]);
  const name = (await page.locator(".writer bdi").allTextContents())[0] ?? "";
  expect(name).not.toBe("");
  await expect.poll(() => page.locator(".writer").count()).toBe(1);
  await expect
    .poll(() => page.locator(".bubble > .hidden").allTextContents())
    .toEqual([`${name}: `, `${name}: `, "Reply: "]);
  expect(await violations(page)).toEqual([]);
});

test("an anonymous visitor is asked once how to be reached, and can decline", async () => {
  const company = await openPlace({ askContact: "afterFirst" });
  const url = `${company.base}/web/${company.channelId}`;
  const page = await open(browser);
  await page.goto(url);
  const form = page.getByRole("form", { name: "How can we reach you?" });
  await write(page, "Hello");
  await form.getByLabel("Name").fill("Ada");
  await form.getByLabel("Email").fill("ada@example.com");
  expect(await violations(page)).toEqual([]);
  await form.getByRole("button", { name: "Send" }).click();
  await page.getByText("Thank you.").waitFor();
  await eventually(() => company.people(), [["Ada", "ada@example.com"]]);
  await page.reload();
  await eventually(() => shown(page), ["Hello"]);
  await expect.poll(() => form.count()).toBe(0);
  const other = await open(browser);
  await other.goto(url);
  await write(other, "Hello");
  await other.getByRole("button", { name: "Not now" }).click();
  await eventually(() => other.getByRole("form", { name: "How can we reach you?" }).count(), 0);
  const known = await visit(browser, company);
  await write(known, "Hello");
  await known.getByText("Sent", { exact: true }).waitFor();
  await expect.poll(() => known.getByRole("form", { name: "How can we reach you?" }).count()).toBe(0);
  expect([page.faults, other.faults]).toEqual([[], []]);
});
