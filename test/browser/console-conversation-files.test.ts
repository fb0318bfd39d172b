import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { openDesk, withUndo } from "./console.ts";
import {
  beginReply,
  chooseSending,
  log,
  messageBox,
  messagesOf,
  openChat,
  scheduledOf,
  textOfTarget,
} from "./console-conversation.ts";
import { intercept, noteChanges, takeOver } from "./disturb.ts";

const desk = await openDesk();

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
  "base64",
);
const dot = { name: "dot.png", mimeType: "image/png", buffer: PNG };
const words = { name: "words.txt", mimeType: "text/plain", buffer: Buffer.from("words") };

const staged = (page: Page) => page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
const choose = (page: Page, ...files: (typeof dot)[]) => page.locator("input[type=file]").setInputFiles(files);
const attached = (page: Page, count: number) => expect.poll(() => staged(page).count()).toBe(count);

/** A page that has sent a text with two files, as an answer to what the contact wrote. */
async function sendFiles(name: string) {
  const chat = await desk.chat(name);
  await desk.writes(chat.address, "Where is my invoice?");
  const page = await openChat(desk, chat.id);
  await beginReply(page, "Where is my invoice?");
  await choose(page, dot, words);
  await attached(page, 2);
  await messageBox(page).fill("Here it is");
  await messageBox(page).press("Control+Enter");
  await log(page).getByRole("link", { name: "words.txt" }).waitFor();
  return { chat, page };
}

test("each file goes out as a message, the first one with the text", async () => {
  const { chat } = await sendFiles("Fil Files");
  expect(await messagesOf(desk, chat.id)).toMatchObject([
    { direction: "INBOUND" },
    { type: "IMAGE", text: "Here it is", media: { fileName: "dot.png", width: 2, height: 3 } },
    { type: "DOCUMENT", text: "words.txt", media: { fileName: "words.txt" } },
  ]);
});

test("the first of several files is the answer to a message", async () => {
  const { chat } = await sendFiles("Ann Answers");
  const [question, first, second] = await messagesOf(desk, chat.id);
  expect(first.replyTo).toBe(question.id);
  expect(second.replyTo).toBeUndefined();
});

test("files that were sent leave the composer, and so does their text", async () => {
  const { page } = await sendFiles("Emil Empty");
  await attached(page, 0);
  await expect.poll(() => messageBox(page).inputValue()).toBe("");
});

test("a file that answers a message leads to it", async () => {
  const { page } = await sendFiles("Lea Leads");
  await log(page)
    .getByRole("button", { name: /In reply to: .*Where is my invoice\?/ })
    .click();
  await expect.poll(() => textOfTarget(page)).toContain("Where is my invoice?");
});

test("an image opens in a dialog, which Escape closes", async () => {
  const { page } = await sendFiles("Ima Image");
  await log(page).getByRole("button", { name: "Open image: Here it is" }).click();
  await page.getByRole("dialog", { name: "Here it is" }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
});

test("a file that is taken away before is not sent", async () => {
  const chat = await desk.chat("Tao Taken");
  const page = await openChat(desk, chat.id);
  await choose(page, words, { ...words, name: "wrong.txt" });
  await attached(page, 2);
  await page.getByRole("button", { name: "Remove wrong.txt" }).click();
  await attached(page, 1);
  const uploads = noteChanges(page, /\/media$/);
  await messageBox(page).press("Control+Enter");
  await attached(page, 0);
  expect(await uploads()).toHaveLength(1);
  expect(await messagesOf(desk, chat.id)).toMatchObject([{ media: { fileName: "words.txt" } }]);
});

test("the key r answers the message whose details are shown", async () => {
  const chat = await desk.chat("Rita Replies");
  await desk.writes(chat.address, "Where is my invoice?");
  const page = await openChat(desk, chat.id, { viewport: { width: 1440, height: 900 } });
  await log(page)
    .getByRole("button", { name: /Show details|Received/ })
    .click();
  await page.getByRole("heading", { name: "Message 1" }).waitFor();
  await page.keyboard.press("r");
  await page.locator(".answered").getByText("Where is my invoice?").waitFor();
});

/** A page that has undone a send of two files. */
async function undoFiles(name: string) {
  const chat = await desk.chat(name);
  await desk.writes(chat.address, "Please send both");
  const page = await openChat(desk, chat.id, withUndo());
  await beginReply(page, "Please send both");
  await choose(page, dot, words);
  await attached(page, 2);
  await messageBox(page).fill("Both");
  await messageBox(page).press("Control+Enter");
  await expect.poll(async () => (await scheduledOf(desk, chat.id)).length).toBe(2);
  await attached(page, 0);
  await page.getByText("Undo (Esc)").waitFor();
  await page.keyboard.press("Escape");
  await attached(page, 2);
  return { chat, page };
}

test("an undo takes back all files of a send", async () => {
  const { chat } = await undoFiles("Uno Undone");
  expect(await scheduledOf(desk, chat.id)).toEqual([]);
});

test("an undo puts back the text of a send with files, and what it answers", async () => {
  const { page } = await undoFiles("Una Undone");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Both");
  await expect.poll(() => page.locator(".answered").textContent()).toContain("Please send both");
});

test("files whose send was undone go out again", async () => {
  const { chat, page } = await undoFiles("Ada Again");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Both");
  await messageBox(page).press("Control+Enter");
  await expect
    .poll(async () => (await scheduledOf(desk, chat.id)).map(({ text }: { text: string }) => text))
    .toEqual(["Both", "words.txt"]);
});

/** A page whose upload the service has refused. Later ones go through. */
async function failUpload(name: string) {
  const chat = await desk.chat(name);
  const page = await openChat(desk, chat.id);
  await messageBox(page).fill("Look");
  const keys: (string | undefined)[] = [];
  await intercept(page, /\/media\?/, (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length > 1) return route.continue();
    return route.fulfill({ status: 409, json: { code: "upload_limit", message: "Too many files wait in this chat" } });
  });
  await choose(page, dot);
  await attached(page, 1);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await staged(page).getByText("Too many files wait in this chat").waitFor();
  return { page, keys };
}

test("an upload that fails says why at its file, and keeps the text", async () => {
  const { page } = await failUpload("Kai Keeps");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Look");
});

test("an upload that failed can be repeated, with the same key", async () => {
  const { page, keys } = await failUpload("Ria Repeats");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await log(page).getByRole("button", { name: "Open image: Look" }).waitFor();
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
});

/** The person pastes a file into the box of the message, or drops it there. */
const give = (page: Page, type: "paste" | "drop", name: string) =>
  messageBox(page).evaluate(
    async (field, [kind, fileName]) => {
      // The page listens once its first frame is drawn.
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
      const data = new DataTransfer();
      data.items.add(new File(["words"], fileName as string, { type: "text/plain" }));
      const init = { bubbles: true, cancelable: true };
      field.dispatchEvent(
        kind === "paste"
          ? new ClipboardEvent("paste", { ...init, clipboardData: data })
          : new DragEvent("drop", { ...init, dataTransfer: data }),
      );
    },
    [type, name],
  );

test.each(["paste", "drop"] as const)("a file can be attached by its event: %s", async (type) => {
  const chat = await desk.chat("Pat Pastes");
  const page = await openChat(desk, chat.id);
  await give(page, type, "given.txt");
  await expect.poll(() => staged(page).locator("bdi").allTextContents()).toEqual(["given.txt"]);
});

test("an attached file waits in its chat while another one is open", async () => {
  const [one, other] = [await desk.chat("Wim Waits"), await desk.chat("Dee Drops")];
  const page = await openChat(desk, one.id);
  await give(page, "paste", "pasted.txt");
  await attached(page, 1);
  await page.getByRole("link", { name: /Dee Drops/ }).click();
  await page.getByRole("heading", { name: "Dee Drops" }).waitFor();
  await attached(page, 0);
  expect(page.url()).toContain(other.id);
  await page.getByRole("link", { name: /Wim Waits/ }).click();
  await staged(page).getByText("pasted.txt").waitFor();
});

test("an empty file is not attached, and named", async () => {
  const chat = await desk.chat("Elli Empty");
  const page = await openChat(desk, chat.id);
  await choose(page, { ...words, buffer: Buffer.alloc(0) });
  await page.getByText("“words.txt” is empty.").waitFor();
  await attached(page, 0);
});

/** The dialog in which two files that answer a message are sent later. */
async function openLater(name: string) {
  const chat = await desk.chat(name);
  await desk.writes(chat.address, "Send it on Monday");
  const page = await openChat(desk, chat.id);
  await beginReply(page, "Send it on Monday");
  await choose(page, dot, words);
  await attached(page, 2);
  await chooseSending(page, "Send later…");
  return { chat, page, schedule: page.getByRole("dialog").getByRole("button", { name: "Schedule" }) };
}

test("files are sent later too, the first one as the answer", async () => {
  const { chat, schedule } = await openLater("Lara Later");
  await schedule.click();
  const [question] = await messagesOf(desk, chat.id);
  await expect
    .poll(() => scheduledOf(desk, chat.id))
    .toMatchObject([
      { text: "dot.png", replyTo: question.id, media: { fileName: "dot.png" } },
      { text: "words.txt", media: { fileName: "words.txt" } },
    ]);
});

test("a file that is attached while others are being scheduled waits", async () => {
  const { chat, page, schedule } = await openLater("Max Meanwhile");
  const addAnother = async (route: Route) => {
    await choose(page, { ...words, name: "late.txt" });
    await staged(page).getByText("late.txt").waitFor();
    await route.continue();
  };
  const letThrough = await takeOver(page, /\/media\?/, (route) => {
    letThrough();
    return addAnother(route);
  });
  await schedule.click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await scheduledOf(desk, chat.id)).toHaveLength(2);
  await expect.poll(() => staged(page).locator("bdi").allTextContents()).toEqual(["late.txt"]);
});
