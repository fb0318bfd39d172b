import { expect, test } from "vitest";
import type { MessageChange } from "../../../../../src/model/chat-answers.ts";
import { newId } from "../../../../../src/model/id.ts";
import type { Message } from "../../../../../src/model/message.ts";
import { asOwner } from "../../../../support/as-owner.ts";
import { expectError, expectFaults, send } from "../../../../support/harness.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { retainedPlace } from "./fixtures.ts";

stopTheClock();

test("what comes for a message that retention has deleted is refused or dropped, and stores nothing of it", async () => {
  const place = await retainedPlace();
  const { api, chatId } = place;
  const as = asOwner(place.organizationId);
  const [own] = await place.sendSome("From the company");
  const networkId = "of the contact";
  const draft = { id: newId("msg", null), dedupe: networkId, type: "TEXT", content: "From the contact" } as const;
  const received = await place.object().receive(as, { ...draft, media: null, origin: null, addresses: [] });
  const { id } = JSON.parse(received.outcome === "stored" ? received.doc : "") as Message;
  expect(await place.object().change(as, { change: "edit", networkId, content: "Edited", at: 1 })).toEqual({
    outcome: "ok",
  });
  await api("PUT", `/chats/${chatId}/messages/${id}/reaction`, { emoji: "🎉" });
  await api("POST", `/chats/${chatId}/read`, { messageId: id });
  await place.passDays(20);
  const { id: young } = await send(api, chatId, { content: "Young" });
  await place.passDays(12);
  const before = await place.stored();
  for (const gone of [own?.id ?? "", id]) {
    expectFaults(await api("POST", `/chats/${chatId}/messages`, { content: "x", replyTo: gone }), "replyTo");
    const path = `/chats/${chatId}/messages/${gone}/reaction`;
    expectError(await api("PUT", path, { emoji: "👍" }), 404, "message_not_found");
    expectError(await api("DELETE", path), 404, "message_not_found");
    expectError(await api("POST", `/chats/${chatId}/read`, { messageId: gone }), 404, "message_not_found");
  }
  const changes: MessageChange[] = [
    { change: "edit", networkId, content: "Back", at: Date.now() },
    { change: "deletion", networkId },
    { change: "reaction", networkId, emoji: "👍", at: Date.now() },
  ];
  for (const change of changes) {
    expect(await place.object().change(as, change)).toEqual({ outcome: "no_message" });
  }
  expect(await place.stored()).toBe(before);
  expect((await place.chat()).readUpTo).toBe(2);
  expect((await place.get()).body.messages).toMatchObject([{ id: young, seq: 3 }]);
});
