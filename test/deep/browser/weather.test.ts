import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { browser } from "../../browser/file-browser.ts";
import { openPlace, socketUrl } from "../../browser/fixtures.ts";
import { eventually, newUser, readThrough, shown, visit, visitInWeather, write } from "../../browser/visitor.ts";

const place = await openPlace();

test("a message written offline is shown, and sent once after reconnecting", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await write(page, "before");
  await page.getByText("Sent", { exact: true }).waitFor();
  await weather.storm(1013);
  await page.getByRole("status").getByText("Connection lost. Reconnecting").waitFor();
  await write(page, "meanwhile");
  await page.getByText("Sending", { exact: true }).waitFor();
  await place.say(user, "are you there?");
  weather.clear();
  await eventually(() => place.heard(user), ["before", "meanwhile"]);
  await eventually(() => shown(page), ["before", "are you there?", "meanwhile"]);
  await eventually(() => page.getByText("Connection lost. Reconnecting").count(), 0);
});

test("a lost acknowledgment causes no duplicate, on the page or in the chat", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await write(page, "first");
  await eventually(() => place.heard(user), ["first"]);
  const before = weather.opened;
  weather.deaf = true;
  await write(page, "only once");
  await eventually(() => place.heard(user), ["first", "only once"]);
  await eventually(async () => weather.opened > before, true);
  await eventually(() => page.getByText("Sending", { exact: true }).count(), 0);
  expect(await shown(page)).toEqual(["first", "only once"]);
  expect(await place.heard(user)).toEqual(["first", "only once"]);
});

test("a connection that breaks repeatedly loses no message and keeps the order", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  // A visitor may write one a second.
  const texts = ["one", "two", "three", "four"];
  for (const [index, text] of texts.entries()) {
    await write(page, text);
    if (index % 2 === 1) await weather.cut();
  }
  await eventually(() => place.heard(user), texts);
  await eventually(() => shown(page), texts);
});

test("a refused message says why, keeps its text, and is sent again on request", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  weather.refuse = (id) => ({ type: "refused", id, code: "rate_limited", message: "", retryAfter: 600 });
  await write(page, "too much");
  await page.getByRole("alert").getByText("Not sent. Too many messages. Try again in 10 minutes.").waitFor();
  expect(await shown(page)).toEqual(["too much"]);
  weather.refuse = null;
  await page.getByRole("button", { name: "Send again" }).click();
  await eventually(() => place.heard(user), ["too much"]);
  await page.getByText("Sent", { exact: true }).waitFor();
  await expect.poll(() => page.getByRole("alert").textContent()).toBe("");
});

test("a visitor who writes too fast sees a notice, and all messages are sent in order", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  weather.refuse = (id) => ({ type: "refused", id, code: "rate_limited", message: "", retryAfter: 1 });
  for (const text of ["one", "two", "three"]) await write(page, text);
  await page.getByRole("alert").getByText("Sending shortly").waitFor();
  weather.refuse = null;
  await eventually(() => place.heard(user), ["one", "two", "three"]);
  await eventually(() => page.getByRole("alert").textContent(), "");
});

test("a network with too many new chats is told when to retry, and can use a chat that the company created", async () => {
  const crowd = await openPlace();
  const page = await visit(browser, crowd, { user: newUser() });
  // Five visitors of one network, each with a token of their own.
  await page.evaluate(async (url) => {
    for (let n = 0; n < 5; n++) {
      const socket = new WebSocket(url, ["parley.v1", `token.${crypto.randomUUID()}`]);
      await new Promise((resolve) => socket.addEventListener("open", resolve));
      socket.send(JSON.stringify({ type: "message", id: "first", content: "hello" }));
      const isStored = ({ data }: MessageEvent) => JSON.parse(data).type === "stored";
      await new Promise<void>((resolve) => {
        socket.addEventListener("message", (event) => isStored(event) && resolve());
      });
      socket.close();
    }
  }, socketUrl(crowd));
  const user = newUser();
  const late = await visit(browser, crowd, { user, unmet: true });
  await write(late, "let me in");
  await late.getByRole("alert").getByText("Not sent. Too many messages. Try again in").waitFor();
  expect(await shown(late)).toEqual(["let me in"]);
  await crowd.meet(user);
  await late.getByRole("button", { name: "Send again" }).click();
  await eventually(() => crowd.heard(user), ["let me in"]);
});

test.for([
  [4403, "This chat isn’t available here"],
  [4404, "This chat no longer exists"],
] as const)("a socket that is closed with %i is not tried again, and the page says why", async ([code, why]) => {
  const { page, weather } = await visitInWeather(browser, place, {});
  await page.getByText("How can we help?").waitFor();
  const before = weather.opened;
  await page.clock.install();
  await weather.storm(code);
  await page.getByRole("status").getByText(why).waitFor();
  // By then it would have been tried again.
  await page.clock.runFor(60_000);
  expect([await page.getByRole("textbox").count(), weather.opened]).toEqual([0, before]);
});

test("unsent messages fail when the server permanently refuses the page, and the page says so", async () => {
  const { page, weather } = await visitInWeather(browser, place, {});
  await page.getByText("How can we help?").waitFor();
  await weather.storm(1013);
  await write(page, "too late");
  await page.getByText("Sending", { exact: true }).waitFor();
  await weather.storm(4401);
  await page.getByRole("status").getByText("We couldn’t confirm who you are").waitFor();
  await page.getByText("Not sent", { exact: true }).waitFor();
  await expect.poll(() => page.getByText("Sending", { exact: true }).count()).toBe(0);
});

test("a sixth page says that too many are open, and connects when another closes", async () => {
  const user = newUser();
  const five = [];
  for (let n = 0; n < 5; n++) five.push(await visit(browser, place, { user }));
  for (const page of five) await page.getByText("How can we help?").waitFor();
  const sixth = await visit(browser, place, { user });
  await sixth.getByRole("status").getByText("This chat is open in too many windows").waitFor();
  await five[0]?.close();
  await eventually(() => sixth.getByText("too many windows").count(), 0);
  await write(sixth, "made it");
  await eventually(() => place.heard(user), ["made it"]);
});

test("older messages load with the maximum number of open pages", async () => {
  const user = newUser();
  await place.fill(user, 201);
  const five = [];
  for (let n = 0; n < 5; n++) five.push(await visit(browser, place, { user }));
  for (const page of five) await page.getByText("Message 201 of 201").waitFor();
  const first = five[0] as Page;
  await first.getByRole("button", { name: "Show earlier messages" }).click();
  await eventually(() => readThrough(first), textsFrom(2));
});

test("a chat that is deleted and recreated while a page is offline is shown correctly, whatever its length", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  for (const text of ["old one", "old two"]) await place.say(user, text);
  await eventually(() => shown(page), ["old one", "old two"]);
  await weather.storm(1013);
  await place.erase(user);
  for (const text of ["new one", "new two", "new three"]) await place.say(user, text);
  weather.clear();
  await eventually(() => shown(page), ["new one", "new two", "new three"]);
});

test("a page without a network says so, and catches up after reconnecting", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await write(page, "before");
  await eventually(() => place.heard(user), ["before"]);
  await page.context().setOffline(true);
  await page.getByRole("status").getByText("Connection lost. Reconnecting").waitFor();
  await write(page, "mine");
  await place.say(user, "theirs");
  await page.context().setOffline(false);
  await eventually(() => shown(page), ["before", "theirs", "mine"]);
  await eventually(() => place.heard(user), ["before", "mine"]);
});

test("an unsent message survives a reload", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await page.getByText("How can we help?").waitFor();
  await weather.storm(1013);
  await write(page, "do not lose me");
  await page.getByText("Sending", { exact: true }).waitFor();
  weather.clear();
  await page.reload();
  await eventually(() => place.heard(user), ["do not lose me"]);
  await eventually(() => shown(page), ["do not lose me"]);
});

test("if older messages can't be loaded, the page says so and offers a retry", async () => {
  const user = newUser();
  await place.fill(user, 201);
  const { page, weather } = await visitInWeather(browser, place, { user });
  await page.getByText("Message 201 of 201").waitFor();
  await weather.storm(1013);
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await page.getByText("Couldn’t load earlier messages. Try again.").waitFor();
  weather.clear();
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await eventually(() => readThrough(page), textsFrom(2));
});

/** The texts of the messages that were filled in, from this one on. */
function textsFrom(number: number): string[] {
  return Array.from({ length: 202 - number }, (_, n) => `Message ${number + n} of 201`);
}
