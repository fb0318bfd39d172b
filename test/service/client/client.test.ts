import { exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import { dataOf, Parley } from "../../../src/client/parley.ts";
import { newChat, newKey, newOrganization, sendMany } from "../../support/harness.ts";

/** More than one page of the client's. */
const ROWS = 105;

/** A client of a new organization in the Workers runtime. `lost` says of which requests the answer is lost. */
async function newClient(lost: (request: Request) => boolean = () => false) {
  const organization = await newOrganization();
  const { secret: apiKey } = await newKey(organization.organizationId, {
    rateLimit: { limit: 10_000, windowSeconds: 60 },
  });
  const parley = new Parley({
    url: "https://parley.test",
    apiKey,
    async fetch(request) {
      const isLost = lost(request);
      const response = await exports.default.fetch(request);
      if (!isLost) return response;
      await response.arrayBuffer();
      throw new TypeError("The connection was lost");
    },
  });
  return { ...organization, parley };
}

test("a send whose answer is lost creates one message", async () => {
  let sends = 0;
  const { parley, api, channelId } = await newClient(({ method }) => method === "POST" && ++sends === 1);
  const { id } = await newChat(api, channelId);
  const message = await parley.send(id, { content: "Hello", metadata: { order: "4711" } });
  expect(message).toMatchObject({ seq: 1, content: "Hello", metadata: { order: "4711" } });
  expect(sends).toBe(2);
  expect(await Array.fromAsync(parley.messages(id), ({ seq }) => seq)).toEqual([1]);
});

test("a handover whose answer is lost is done once", async () => {
  let acts = 0;
  const { parley, api, channelId } = await newClient(({ url }) => url.endsWith("/handover") && ++acts === 1);
  const { id } = await newChat(api, channelId);
  const act = { to: "people" as const, message: { content: "One moment" } };
  const { chat, message } = await parley.handOver(id, act);
  expect([chat.handler, message?.seq]).toEqual(["people", 1]);
  expect(acts).toBe(2);
  expect(await Array.fromAsync(parley.messages(id), ({ seq }) => seq)).toEqual([1]);
  expect(await Array.fromAsync(parley.chats({ handler: "bot" }), (one) => one.id)).toEqual([]);
  await expect(parley.handOver(id, { to: "bot" })).rejects.toMatchObject({ code: "no_bot", status: 409 });
});

test("choices are sent, and each choice is told apart by its type", async () => {
  const { parley, api, channelId } = await newClient();
  const { id } = await newChat(api, channelId);
  const choices = [
    { type: "link" as const, title: "Track it", url: "https://shop.example/4711" },
    { type: "link" as const, title: "Our shop", url: "https://shop.example/" },
  ];
  const sent = await parley.send(id, { content: "Shipped", interactive: { choices, footer: null } });
  const replied = await parley.send(id, { content: "Enjoy it", replyTo: sent.id });
  expect(replied.replyTo).toBe(sent.id);
  const [, message] = await Array.fromAsync(parley.messages(id));
  const urls = message?.interactive?.choices.map((choice) => (choice.type === "link" ? choice.url : choice.title));
  expect(urls).toEqual(choices.map(({ url }) => url));
  expect(message?.choice?.id).toBeUndefined();
});

test("sends with the same key create one message", async () => {
  const { parley, api, channelId } = await newClient();
  const { id } = await newChat(api, channelId);
  const send = (content: string) => parley.send(id, { content }, { idempotencyKey: "order-4711" });
  expect(await send("Hello")).toEqual(await send("Hello"));
  await expect(send("Other")).rejects.toMatchObject({ code: "idempotency_mismatch", status: 422 });
});

test("messages come newest first, or oldest first after one, each once through all pages", async () => {
  const { parley, api, channelId } = await newClient();
  const { id } = await newChat(api, channelId);
  const [first] = await sendMany(api, id, ROWS);
  const all = Array.from({ length: ROWS }, (_, at) => at + 1);
  expect(await Array.fromAsync(parley.messages(id), ({ seq }) => seq)).toEqual([...all].reverse());
  const after = parley.messages(id, { after: first?.id ?? "" });
  expect(await Array.fromAsync(after, ({ seq }) => seq)).toEqual(all.slice(1));
});

test("chats come each once through all pages, also nobody's, and filtered by contact", async () => {
  const { parley, api, channelId } = await newClient();
  const created = await Promise.all(Array.from({ length: ROWS }, () => newChat(api, channelId)));
  for (const filter of [{}, { assignee: "none" }]) {
    const listed = await Array.fromAsync(parley.chats(filter), ({ id }) => id);
    expect(listed.toSorted()).toEqual(created.map(({ id }) => id).toSorted());
  }
  const { id, contact } = created[7] as (typeof created)[number];
  expect(await Array.fromAsync(parley.chats({ contact: contact.address }), (chat) => chat.id)).toEqual([id]);
});

test("an error carries the code, the status and the request's id of the service", async () => {
  const { parley } = await newClient();
  await expect(parley.send("cht_1", { content: "Hello" })).rejects.toMatchObject({
    message: "Chat not found",
    code: "chat_not_found",
    status: 404,
    requestId: expect.stringMatching(/\w/),
  });
  const list = parley.api.GET("/chats", { params: { query: { limit: 0 } } }).then(dataOf);
  await expect(list).rejects.toMatchObject({ code: "validation_failed", errors: [{ path: "limit" }] });
});
