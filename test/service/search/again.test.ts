import { expect, test } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { admin, created } from "../../support/harness.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { indexed, searchPlace } from "./fixtures.ts";

stopTheClock();

const HOUR = 3_600_000;

/** A chat that said two things and was deleted. The next chat of its address has the same id. */
async function deletedChat() {
  const place = await searchPlace();
  const { id, post } = await place.chat("ada@example.com");
  for (const content of ["Old word", "Older word"]) created(await post({ content }));
  await place.told();
  const remove = async () => expect((await admin("DELETE", `/chats/${id}`)).status).toBe(200);
  const again = async () => {
    const chat = await place.chat("ada@example.com");
    expect(chat.id).toBe(id);
    return chat;
  };
  const cleanUp = async () => {
    pass(60_000);
    await runAlarm(place.object());
  };
  return { ...place, remove, again, cleanUp };
}

test("a chat that was created again is found by what it says now, and its former life leaves the index", async () => {
  const { organizationId, chat, remove, again, told, cleanUp, found } = await deletedChat();
  await remove();
  pass(1_000);
  created(await (await chat()).post({ content: "A word between" }));
  pass(1_000);
  created(await (await again()).post({ content: "New word" }));
  await told();
  const all = ["New word", "A word between"];
  expect(await found("word")).toEqual(all);
  expect(await indexed(organizationId)).toBe(2);
  await cleanUp();
  expect(await found("word")).toEqual(all);
  expect(await indexed(organizationId)).toBe(2);
});

test("what a former life of a chat said in another index is not taken for what it says now", async () => {
  const { object, remove, again, told, found } = await deletedChat();
  await object().searchIndexFull(1);
  await remove();
  pass(1_000);
  const { post } = await again();
  for (const content of ["New word", "Newer word"]) created(await post({ content }));
  await told();
  expect(await found("word")).toEqual(["Newer word", "New word"]);
});

test("a deleted chat leaves the index although its clock was ahead of its organization's", async () => {
  const { organizationId, remove, cleanUp } = await deletedChat();
  pass(-HOUR);
  await remove();
  await cleanUp();
  expect(await indexed(organizationId)).toBe(0);
});
