import { test } from "vitest";
import { stopTheClock } from "../../../../../service/chats/object/delivery/conversation.ts";
import { race } from "../../../../../service/chats/object/scheduled/race.ts";

stopTheClock();

test("of two moves, a cancellation and the due time of one message, one decides, and the others are told", async () => {
  await race(200);
});
