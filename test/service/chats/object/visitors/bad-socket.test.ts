import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { send } from "../../../../support/harness.ts";
import { newSite, newToken, objectOf, visit } from "../../../../support/sockets.ts";
import { pass, stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

/** A visitor with three open pages, of whose sockets the second one is broken by `how`. */
async function threePages(how: (socket: WebSocket) => void) {
  const { api, channelId } = await newSite();
  const token = newToken();
  const { page: first } = await visit(channelId, { token });
  await first.write("Hello");
  pass(2_000);
  const pages = [first];
  while (pages.length < 3) {
    pages.push((await visit(channelId, { token })).page);
    pass(1_000);
  }
  const object = await objectOf(channelId, token);
  await runInDurableObject(object, (_object, state) => {
    const [, socket] = state.getWebSockets().toSorted((a, b) => openedAt(a) - openedAt(b));
    if (!socket) throw new Error("There is no second socket");
    how(socket);
  });
  const { body } = await api("GET", "/chats");
  const [one, , three] = pages;
  if (!one || !three) throw new Error("A page is missing");
  return { api, chatId: body.chats[0].id as string, one, three, bad: pages[1] };
}

const openedAt = (socket: WebSocket) => (socket.deserializeAttachment() as { openedAt: number }).openedAt;

const broken = () => {
  throw new Error("The socket is broken");
};

test.each<[string, (socket: WebSocket) => void]>([
  ["can't be written to", (socket) => Object.assign(socket, { send: broken })],
  ["has data that can't be read", (socket) => Object.assign(socket, { deserializeAttachment: broken })],
])("a visitor's socket that %s holds up no other page, and no send", async (_how, breakSocket) => {
  vi.spyOn(console, "error").mockReturnValue();
  const { api, chatId, one, three } = await threePages(breakSocket);
  for (const content of ["At once", "After a check"]) {
    // Meanwhile the check of the sockets is due.
    if (content === "After a check") pass(11_000);
    await send(api, chatId, { content });
    for (const page of [one, three]) {
      expect(await page.next()).toMatchObject({ type: "message", message: { text: content } });
    }
  }
  one.send({ type: "read", seq: 3 });
  for (const page of [one, three]) {
    for (const seq of [2, 3]) expect(await page.next()).toEqual({ type: "status", seq, status: "READ" });
  }
  pass(2_000);
  expect(await three.write("Again")).toMatchObject({ type: "stored", seq: 4 });
  expect(await one.next()).toMatchObject({ type: "message", message: { text: "Text of Again" } });
});
