import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { admin, send } from "../../../../support/harness.ts";
import { accept, acceptAs, fakeNetworks, hanging, inTurn, lost, refuse } from "../../../../support/networks.ts";
import { taken, tellStatus } from "../../../inbound/webhook-calls.ts";
import {
  type Conversation,
  conversation,
  crash,
  deliveryOf,
  type Kind,
  pass,
  runNext,
  stopTheClock,
} from "./conversation.ts";

stopTheClock();

const CAPTION = "A caption that no photo can carry. ".repeat(40).trim();
const PHOTO = { type: "IMAGE", content: CAPTION, mediaUrl: "https://example.com/a.jpg" };
const FAILED = { errors: [{ code: 131026, title: "Message undeliverable" }] };
const methods = (calls: { method: string; body: { type?: string } }[]) =>
  calls.map((call) => call.body.type ?? call.method);

/** A message, and a way to tell of its parts and to see what came of it. */
async function sentTo(chat: Conversation, body: object = {}) {
  const { id } = await send(chat.api, chat.chatId, { ...body });
  const tell = async (networkId: string, status: string, fields: object = {}) => {
    const why = status === "failed" ? FAILED : {};
    taken(await tellStatus(chat, id, status, { id: networkId, ...why, ...fields }));
  };
  const state = async () => {
    const { status, error } = await chat.message(id);
    return error ? `${status} ${error.code}` : status;
  };
  return { id, tell, state };
}

/** A photo and its text that WhatsApp took, as `wamid.photo` and `wamid.text`. */
async function sentPhoto() {
  const calls = fakeNetworks(inTurn(acceptAs("wamid.photo"), acceptAs("wamid.text")));
  const chat = await conversation("whatsapp");
  const message = await sentTo(chat, PHOTO);
  await chat.run();
  return { ...chat, ...message, calls };
}

const WITHOUT_OUR_IDS = { biz_opaque_callback_data: undefined };

test.each([
  [["text read", "photo delivered"], "DELIVERED"],
  [["text failed", "text delivered", "photo delivered"], "DELIVERED"],
])("a photo and its text are one message: %j make it %s", async (told, expected) => {
  const message = await sentPhoto();
  for (const one of told) {
    const [part, status = ""] = one.split(" ");
    await message.tell(`wamid.${part}`, status);
    await evictDurableObject(message.object());
  }
  expect(await message.state()).toBe(expected);
  expect(message.calls).toHaveLength(2);
});

test("a photo and its text that are redacted after they went out are two parts still", async () => {
  const message = await sentPhoto();
  await admin("POST", `/chats/${message.chatId}/messages/${message.id}/redact`);
  await message.tell("wamid.photo", "delivered");
  expect(await message.state()).toBe("SENT");
  await message.tell("wamid.text", "delivered");
  expect(await message.state()).toBe("DELIVERED");
});

test("a photo whose object was lost amid its call, and that is redacted then, is not delivered without its text", async () => {
  const network = hanging(acceptAs("wamid.photo"));
  fakeNetworks(network.script);
  const chat = await conversation("whatsapp");
  const message = await sentTo(chat, PHOTO);
  await network.reached();
  await crash(chat.object());
  network.letGo();
  await admin("POST", `/chats/${chat.chatId}/messages/${message.id}/redact`);
  await message.tell("wamid.photo", "delivered");
  expect(await message.state()).toBe("FAILED redacted");
});

test("a photo that came through proves no message delivered whose text was redacted before it went out", async () => {
  fakeNetworks(inTurn(acceptAs("wamid.photo"), refuse(131056, "Slow down")));
  const chat = await conversation("whatsapp");
  const message = await sentTo(chat, PHOTO);
  await chat.run();
  await admin("POST", `/chats/${chat.chatId}/messages/${message.id}/redact`);
  await message.tell("wamid.photo", "delivered");
  expect(await message.state()).toBe("FAILED redacted");
});

test("a failure that is told while the repeat is under way fails it only if the answer names its id", async () => {
  for (const [networkId, expected] of [
    ["wamid.lost", "SENT"],
    ["wamid.again", "FAILED network_131026"],
  ] as const) {
    const hang = hanging(acceptAs("wamid.again"));
    fakeNetworks(inTurn(lost, hang.script));
    const chat = await conversation("whatsapp");
    const message = await sentTo(chat);
    await chat.run();
    pass(90_000);
    const running = chat.run();
    await hang.reached();
    await message.tell(networkId, "failed");
    expect(await message.state()).toBe("QUEUED");
    hang.letGo();
    await running;
    expect(await message.state()).toBe(expected);
  }
});

const SECOND_CALL = { whatsapp: ["image", "text"], telegram: ["sendPhoto", "sendMessage"] } satisfies Record<
  Kind,
  string[]
>;

test.each([
  ["whatsapp", refuse(131056, "Slow down")],
  ["telegram", refuse(429, "Slow down", { parameters: { retry_after: 5 } })],
] as const)(
  "on %s text that is too long for a caption follows the media, which a retry does not send twice",
  async (kind, busy) => {
    const calls = fakeNetworks(inTurn(accept, busy));
    const chat = await conversation(kind);
    const message = await sentTo(chat, PHOTO);
    await send(chat.api, chat.chatId, { content: "Next" });
    await chat.run();
    expect(await message.state()).toBe("QUEUED");
    await runNext(chat);
    const [photo, text] = SECOND_CALL[kind];
    expect(methods(calls)).toEqual([photo, text, text, text]);
    expect(calls.map((call) => call.text)).toEqual(["", CAPTION, CAPTION, "Next"]);
    expect(await message.state()).toBe("SENT");
  },
);

test.each(["whatsapp", "telegram"] as const)(
  "on %s the first part is on disk before the second is sent",
  async (kind) => {
    const parts: string[][] = [];
    const chat = await conversation(kind);
    const calls = fakeNetworks(async (call, number) => {
      parts.push((await deliveryOf(chat.object(), 1)).parts);
      return inTurn()(call, number);
    });
    await sentTo(chat, PHOTO);
    await chat.run();
    expect(methods(calls)).toEqual(SECOND_CALL[kind]);
    expect(parts).toEqual([[], [expect.any(String)]]);
    expect((await deliveryOf(chat.object(), 1)).parts).toEqual([parts[1]?.[0], expect.any(String)]);
  },
);

test.each(["whatsapp", "telegram"] as const)(
  "an object that is lost between a photo and its text sends %s the photo once",
  async (kind) => {
    const hang = hanging();
    const calls = fakeNetworks((call, number) => (number === 2 ? hang.script : inTurn())(call, number));
    const chat = await conversation(kind);
    const message = await sentTo(chat, PHOTO);
    await hang.reached();
    await crash(chat.object());
    pass(60_000);
    await chat.run();
    expect(await message.state()).toBe("QUEUED");
    await runNext(chat);
    const [photo, text] = SECOND_CALL[kind];
    expect(methods(calls)).toEqual([photo, text, text]);
    expect(await message.state()).toBe("SENT");
  },
);

test("a status that comes before the answer counts with it, though it does not name our message", async () => {
  const hang = hanging(acceptAs("wamid.early"));
  const calls = fakeNetworks(inTurn(hang.script));
  const chat = await conversation("whatsapp");
  const message = await sentTo(chat);
  await hang.reached();
  await message.tell("wamid.strange", "read", WITHOUT_OUR_IDS);
  await message.tell("wamid.early", "delivered", WITHOUT_OUR_IDS);
  expect(await message.state()).toBe("QUEUED");
  hang.letGo();
  await chat.run();
  expect(await message.state()).toBe("DELIVERED");
  expect(await deliveryOf(chat.object(), 1)).not.toHaveProperty("calls");
  expect(calls).toHaveLength(1);
});

test("a status that comes before an answer that got lost counts once another names its message, over a crash too", async () => {
  const hang = hanging();
  const calls = fakeNetworks(inTurn(hang.script));
  const chat = await conversation("whatsapp");
  const message = await sentTo(chat);
  await hang.reached();
  await message.tell("wamid.strange", "read", WITHOUT_OUR_IDS);
  await message.tell("wamid.early", "delivered", WITHOUT_OUR_IDS);
  await crash(chat.object());
  pass(60_000);
  await chat.run();
  await message.tell("wamid.early", "sent");
  expect(await message.state()).toBe("DELIVERED");
  // What nobody could place goes with the wait.
  expect(JSON.stringify(await deliveryOf(chat.object(), 1))).not.toContain("wamid.strange");
  pass(90_000);
  await chat.run();
  expect(calls).toHaveLength(1);
});
