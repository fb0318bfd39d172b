import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { send } from "../../../../support/harness.ts";
import { connect, visit } from "../../../../support/sockets.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { newVisitor } from "./new-visitor.ts";

stopTheClock();

/** A visitor with an open page, who wrote a message. */
async function written() {
  const visitor = await newVisitor();
  const { page } = await visit(visitor.channelId, { token: visitor.token });
  const { messageId } = await page.write("a");
  const { page: other, ready } = await visit(visitor.channelId, { token: visitor.token });
  const path = `/chats/${ready.chatId}`;
  const act = async (...request: Parameters<typeof visitor.api>) => {
    const { status, body } = await visitor.api(...request);
    expect(status).toBe(200);
    return body;
  };
  return { ...visitor, page, other, ready, messageId: messageId as string, path, act };
}

test("an open page is told that the company is writing, without a name if a key says so", async () => {
  const { page, other, object, path, act } = await written();
  for (const each of [page, other]) {
    expect(await act("POST", `${path}/typing`)).toEqual({ shown: true });
    expect(await each.next()).toEqual({ type: "typing", sender: null });
  }
  await page.next();
  await evictDurableObject(object);
  await other.next();
  expect(await act("POST", `${path}/typing`)).toEqual({ shown: true });
  expect(await page.next()).toEqual({ type: "typing", sender: null });
});

test("an open page is told what the company has read, and so is one that opens later, first of all", async () => {
  const { page, other, channelId, token, ready, messageId, path, act } = await written();
  await other.close();
  expect(await act("POST", `${path}/read`, { messageId })).toEqual({ shown: true });
  expect(await page.next()).toEqual({ type: "read", seq: 1 });
  await page.close();
  for (const events of [undefined, ready.events]) {
    const late = await connect(channelId, { token, after: 1, ...(events !== undefined && { events }) });
    expect((await late.rest()).map(({ type, seq }) => [type, seq])).toEqual([
      ["ready", undefined],
      ["read", 1],
    ]);
    await late.close();
  }
});

test("without an open page nobody sees that the company is writing", async () => {
  const { page, other, path, act } = await written();
  await Promise.all([page.close(), other.close()]);
  expect(await act("POST", `${path}/typing`)).toEqual({ shown: false });
});

test("the company's reaction is shown on open pages", async () => {
  const { page, messageId, path, act } = await written();
  await act("PUT", `${path}/messages/${messageId}/reaction`, { emoji: "👍" });
  const reactions = [{ by: "organization", emoji: "👍", at: expect.any(String) }];
  expect(await page.next()).toMatchObject({ type: "updated", message: { seq: 1, reactions } });
  await act("DELETE", `${path}/messages/${messageId}/reaction`);
  expect((await page.next()).message).not.toHaveProperty("reactions");
});

test("the company's reactions count nothing in a visitor's limits", async () => {
  const { page, api, ready, messageId, path, act } = await written();
  for (let n = 0; n < 61; n++) {
    await act("PUT", `${path}/messages/${messageId}/reaction`, { emoji: n % 2 ? "👍" : "🎉" });
    await page.next();
  }
  await send(api, ready.chatId);
  await page.next();
  expect(await page.ask({ type: "reaction", seq: 2, emoji: "❤️" })).toMatchObject({ type: "refused", retryAfter: 1 });
});
