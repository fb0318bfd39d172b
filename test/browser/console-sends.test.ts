import { expect, test } from "vitest";
import { comes, openConsole, openDesk, screenOf, withUndo } from "./console.ts";
import { messageBox as box, log, SOON, textsOf } from "./console-conversation.ts";
import { holdUp, intercept, requestsAreKnown, takeOver } from "./disturb.ts";
import { browser } from "./file-browser.ts";

const desk = await openDesk();

const texts = (chatId: string) => textsOf(desk, chatId);

test("a send is undone by Escape: nothing is sent, and the text is back in the box", async () => {
  const chat = await desk.chat("Ben Undo");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`), withUndo());
  await box(page).fill("Too early");
  await page.keyboard.press("Control+Enter");
  await comes(page.getByText("Undo (Esc)"));
  await log(page).getByText("Too early").waitFor();
  await page.keyboard.press("Escape");
  await log(page).getByText("Too early").waitFor({ state: "detached" });
  await expect.poll(() => box(page).inputValue()).toBe("Too early");
  const { messages } = await desk.api("GET", `/chats/${chat.id}/scheduled`);
  expect(messages).toEqual([]);
  expect(await texts(chat.id)).toEqual([]);
  await page.context().close();
});

test("a send of the operator waits until the members are known, because it is in the name of one", async () => {
  const chat = await desk.chat("Mona Members");
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  await page.getByRole("link", { name: /Mona Members/ }).waitFor();
  const release = await holdUp(page, /\/members\?/);
  const senders: unknown[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/messages"))
      senders.push(request.postDataJSON().senderId);
  });
  await page.reload();
  await page.getByRole("link", { name: /Mona Members/ }).click();
  await box(page).fill("As Ann");
  await page.keyboard.press("Control+Enter");
  await page.locator("button[aria-busy=true]").waitFor();
  await requestsAreKnown(page);
  expect(senders).toEqual([]);
  release();
  await expect.poll(() => texts(chat.id), SOON).toEqual(["As Ann"]);
  expect(senders).toEqual([desk.organization.memberId]);
  await expect.poll(() => box(page).inputValue()).toBe("");
  await page.context().close();
});

test("two people answer the same chat: the second is told, and nothing is sent twice", async () => {
  const chat = await desk.chat("Cleo Crossed");
  await desk.writes(chat.address, "Can I change the address?");
  const first = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  const second = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await log(second).getByText("Can I change the address?").waitFor();
  // The second page hears nothing from now on, as on a bad connection.
  await intercept(second.context(), /\/events\/stream/, (route) => route.abort());
  await second.reload();
  await log(second).getByText("Can I change the address?").waitFor();
  await box(first).fill("Yes, to which one?");
  await first.keyboard.press("Control+Enter");
  await expect.poll(() => texts(chat.id), SOON).toEqual(["Can I change the address?", "Yes, to which one?"]);
  await box(second).fill("No, it left already.");
  await second.keyboard.press("Control+Enter");
  await second.getByText("Ann answered meanwhile. Your message was not sent.").waitFor();
  await log(second).getByText("Yes, to which one?").waitFor();
  await expect.poll(() => box(second).inputValue()).toBe("No, it left already.");
  expect(await texts(chat.id)).toHaveLength(2);
  await second.getByRole("button", { name: "Send anyway" }).click();
  await expect
    .poll(() => texts(chat.id), SOON)
    .toEqual(["Can I change the address?", "Yes, to which one?", "No, it left already."]);
  await Promise.all([first.context().close(), second.context().close()]);
});

test("two people answer while both can undo it: the second is told, and sends nothing", async () => {
  const chat = await desk.chat("Cora Close");
  await desk.writes(chat.address, "Is it waterproof?");
  const [first, second] = await Promise.all([
    openConsole(browser, screenOf(desk, `inbox/${chat.id}`), withUndo(12)),
    openConsole(browser, screenOf(desk, `inbox/${chat.id}`), withUndo(12)),
  ]);
  await Promise.all([first, second].map((page) => log(page).getByText("Is it waterproof?").waitFor()));
  await intercept(second.context(), /\/events\/stream/, (route) => route.abort());
  await second.reload();
  await log(second).getByText("Is it waterproof?").waitFor();
  await box(second).fill("No.");
  await box(first).fill("Yes.");
  await first.keyboard.press("Control+Enter");
  await comes(log(first).getByText("Yes."));
  await second.keyboard.press("Control+Enter");
  await second.getByText("Ann answered meanwhile. Your message was not sent.").waitFor();
  await expect.poll(() => box(second).inputValue()).toBe("No.");
  await expect.poll(() => texts(chat.id), SOON).toEqual(["Is it waterproof?", "Yes."]);
  // Two messages of the same person in a row need no question.
  await box(first).fill("To 10 metres.");
  await first.keyboard.press("Control+Enter");
  await comes(log(first).getByText("To 10 metres."));
  await box(first).fill("And it floats.");
  await first.keyboard.press("Control+Enter");
  await expect
    .poll(() => texts(chat.id), SOON)
    .toEqual(["Is it waterproof?", "Yes.", "To 10 metres.", "And it floats."]);
  await Promise.all([first.context().close(), second.context().close()]);
});

test("a send whose answers were lost is repeated as it was: it is sent once, also after the page was loaded again", async () => {
  const chat = await desk.chat("Lea Lost");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  const statuses: number[] = [];
  const giveBack = await takeOver(page, /\/messages$/, async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    // The browser adds it later.
    const headers = { ...route.request().headers(), "sec-fetch-site": "same-origin" };
    statuses.push((await route.fetch({ headers })).status());
    await route.abort();
  });
  await box(page).fill("Only once");
  await page.keyboard.press("Control+Enter");
  await page.getByText(/can’t be reached/).waitFor();
  expect(statuses).toEqual([201, 201, 201]);
  expect(await texts(chat.id)).toEqual(["Only once"]);
  await expect.poll(() => box(page).inputValue()).toBe("Only once");
  giveBack();
  await page.reload();
  await box(page).click();
  await page.keyboard.press("Control+Enter");
  await expect.poll(() => box(page).inputValue()).toBe("");
  await expect.poll(() => texts(chat.id), SOON).toEqual(["Only once"]);
  await page.context().close();
});

test("what is written while a send is under way stays, and undo puts the sent text before it", async () => {
  const chat = await desk.chat("Max More");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`), withUndo());
  await box(page).fill("First");
  await page.keyboard.press("Control+Enter");
  await comes(page.getByText("Undo (Esc)"));
  await box(page).fill("Second");
  await page.keyboard.press("Escape");
  await expect.poll(() => box(page).inputValue()).toBe("First\nSecond");
  expect(await texts(chat.id)).toEqual([]);
  await page.context().close();
});

test("Escape undoes a send also after another chat was opened, and the text is back in its own", async () => {
  const [sent, other] = [await desk.chat("Una Undone"), await desk.chat("Otto Other")];
  const page = await openConsole(browser, screenOf(desk, `inbox/${sent.id}`), withUndo());
  await box(page).fill("Not yet");
  await page.keyboard.press("Control+Enter");
  await comes(page.getByText("Undo (Esc)"));
  await page.getByRole("link", { name: /Otto Other/ }).click();
  await page.getByRole("heading", { level: 1, name: "Otto Other" }).waitFor();
  await page.getByText("Sending to Una Undone").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("Undo (Esc)").waitFor({ state: "detached" });
  expect(page.url()).toContain(other.id);
  await page.getByRole("link", { name: /Una Undone/ }).click();
  await page.getByRole("heading", { level: 1, name: "Una Undone" }).waitFor();
  await expect.poll(() => box(page).inputValue()).toBe("Not yet");
  expect((await desk.api("GET", `/chats/${sent.id}/scheduled`)).messages).toEqual([]);
  expect(await texts(sent.id)).toEqual([]);
  await page.context().close();
});

test("a message is scheduled, moved by an hour, and canceled", async () => {
  const chat = await desk.chat("Dan Later");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await box(page).fill("Good morning");
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: "Send later…" }).click();
  await page.getByRole("button", { name: "Tomorrow at 9" }).click();
  await page.getByRole("button", { name: "Schedule", exact: true }).click();
  await log(page)
    .getByText(/Scheduled in/)
    .waitFor();
  const scheduled = async () => (await desk.api("GET", `/chats/${chat.id}/scheduled`)).messages;
  const [before] = await scheduled();
  await page.getByRole("button", { name: "Change this scheduled message" }).click();
  await page.getByRole("menuitem", { name: "An hour later" }).click();
  await page.getByText("Moved", { exact: true }).waitFor();
  const [after] = await scheduled();
  expect(Date.parse(after.scheduledAt) - Date.parse(before.scheduledAt)).toBe(3_600_000);
  await page.getByRole("button", { name: "Change this scheduled message" }).click();
  await page.getByRole("menuitem", { name: "Cancel it" }).click();
  await log(page)
    .getByText(/Scheduled in/)
    .waitFor({ state: "detached" });
  expect(await scheduled()).toEqual([]);
  await page.context().close();
});
