import { expect, test } from "vitest";
import { stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { openPlace, pageUrl } from "./fixtures.ts";
import { eventually, newUser, shown, visit, visitInWeather, write } from "./visitor.ts";

const place = await openPlace();

test("an open page shows edits, reactions, and who is typing", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  // Who is typing is shown until the test has seen it.
  await stopTimers(page, 6_000);
  await place.say(user, "Hello");
  await page.getByText("Hello").waitFor();
  const at = new Date().toISOString();
  const changed = { direction: "OUTBOUND", type: "TEXT", status: "SENT", createdAt: at, editedAt: at };
  const id = await place.say(user, "Hallo");
  await page.getByText("Hallo").waitFor();
  const reactions = [
    { by: "contact", emoji: "🎉", at },
    { by: "organization", emoji: "👍", at },
  ];
  weather.tell({ type: "updated", message: { ...changed, id, seq: 2, content: "Hello, Ada", reactions } });
  await eventually(() => shown(page), ["Hello", "Hello, Ada"]);
  await expect.poll(() => page.getByText("Edited").count()).toBe(1);
  await expect.poll(() => page.locator(".reactions").textContent()).toBe("You: 🎉Acme support: 👍");
  weather.tell({ type: "dance" });
  weather.tell({ type: "typing", sender: { name: "Ana" } });
  await page.getByText("Ana is typing…").waitFor();
  weather.tell({ type: "typing", sender: null });
  await page.getByText("Someone is typing…").waitFor();
  await place.say(user, "Done");
  await page.getByText("Someone is typing…").waitFor({ state: "hidden" });
  expect(page.faults).toEqual([]);
});

test("a page that was offline through a redaction and a reaction shows both when it is back", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await place.say(user, "A secret");
  await write(page, "Thank you");
  await page.getByText("Thank you").waitFor();
  await eventually(() => place.heard(user), ["Thank you"]);
  await weather.storm(1013);
  await place.redact(user, "A secret");
  await place.react(user, "Thank you", "🙏");
  weather.clear();
  await eventually(() => shown(page), ["This message was deleted.", "Thank you"]);
  await eventually(() => page.locator(".reactions").textContent(), `${place.name}: 🙏`);
});

test("a page that missed more changes than are told forgets what it has, and shows the conversation as it is", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  const first = await place.say(user, "Old words");
  await page.getByText("Old words").waitFor();
  await weather.storm(1013);
  await place.redact(user, "Old words");
  for (let n = 0; n < 201; n++) await place.say(user, `New ${n}`);
  weather.clear();
  // It need not wait out its back-off, which has grown.
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.getByText("New 200", { exact: true }).waitFor();
  await eventually(() => page.getByText("Old words").count(), 0);
  expect(first).toMatch(/^msg_/);
});

test("another visitor on the same page receives live, and sees and keeps nothing of the one before", async () => {
  const [ann, ben] = [newUser(), newUser()];
  const page = await visit(browser, place, { user: ann });
  await place.say(ann, "A word for Ann");
  await page.getByText("A word for Ann").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("Ann was about to write");
  await place.meet(ben);
  const frames: string[] = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => frames.push(String(payload))));
  await page.evaluate((hash) => (location.hash = hash), new URL(pageUrl(place, ben)).hash);
  await eventually(async () => frames.some((frame) => frame.includes('"ready"')), true);
  await place.say(ann, "Another word for Ann");
  await place.say(ben, "A word for Ben");
  await page.getByText("A word for Ben").waitFor();
  expect(await shown(page)).toEqual(["A word for Ben"]);
  await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("");
  expect(frames.filter((frame) => frame.includes("for Ann"))).toEqual([]);
});

test("a redacted message disappears from the open page, and stays away after a reload", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await write(page, "my card is 4111");
  await page.getByText("Sent", { exact: true }).waitFor();
  await place.redact(user, "my card is 4111");
  await eventually(() => shown(page), ["This message was deleted."]);
  await page.reload();
  await eventually(() => shown(page), ["This message was deleted."]);
});

test("a deleted chat disappears from the open page, and a new one can begin there", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await write(page, "forget me");
  await eventually(() => place.heard(user), ["forget me"]);
  await place.erase(user);
  await eventually(() => shown(page), []);
  await place.meet(user);
  await write(page, "hello again");
  await eventually(() => place.heard(user), ["hello again"]);
  // The service may have the message before the page has drawn it.
  await eventually(() => shown(page), ["hello again"]);
});

test("a long chat opens at its end, and older messages load on demand without moving the view", async () => {
  const user = newUser();
  await place.fill(user, 201);
  const page = await visit(browser, place, { user });
  await page.getByText("Message 201 of 201").waitFor();
  const scroller = page.getByRole("region", { name: "Conversation" });
  await scroller.evaluate((element) => element.scrollTo({ top: 0 }));
  const first = page.getByText("Message 102 of 201");
  const before = await first.boundingBox();
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await page.getByText("Message 101 of 201").waitFor({ state: "attached" });
  const after = await first.boundingBox();
  expect(Math.abs((after?.y ?? 0) - (before?.y ?? 999))).toBeLessThan(3);
});

test("the history is not announced, and each new message is added to the log once", async () => {
  const user = newUser();
  await place.fill(user, 30);
  const page = await visit(browser, place, { user });
  await page.getByText("Message 30 of 30").waitFor();
  await page.locator('[role=log][aria-live="polite"]').waitFor();
  await page.getByRole("log").evaluate((log) => {
    const added: string[] = [];
    Object.assign(window, { added });
    const collect = (record: MutationRecord) => {
      for (const node of record.addedNodes) if (node instanceof Element) added.push(node.textContent ?? "");
    };
    new MutationObserver((records) => records.forEach(collect)).observe(log, { childList: true, subtree: true });
  });
  await write(page, "mine");
  await place.say(user, "theirs");
  await page.getByText("theirs").waitFor();
  await eventually(() => place.heard(user).then((heard) => heard.at(-1)), "mine");
  const added = await page.evaluate(() => (window as unknown as { added: string[] }).added);
  expect(added.filter((text) => text.includes("mine"))).toHaveLength(1);
  expect(added.filter((text) => text.includes("theirs"))).toHaveLength(1);
});

test("a visitor who reads older messages is notified of new ones without scrolling", async () => {
  const user = newUser();
  await place.fill(user, 60);
  const page = await visit(browser, place, { user });
  await page.getByText("Message 60 of 60").waitFor();
  await page.getByRole("region", { name: "Conversation" }).evaluate((element) => element.scrollTo({ top: 0 }));
  await page.getByText("Message 1 of 60", { exact: true }).hover();
  await place.say(user, "down here");
  await page.getByRole("button", { name: "New messages" }).click();
  await page.getByText("down here").click();
});
