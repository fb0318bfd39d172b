import { test } from "vitest";
import { stopTheClock } from "../delivery/conversation.ts";
import { race } from "./race.ts";

stopTheClock();

test("of two moves, a cancellation and the due time of one message, one decides, and the others are told", async () => {
  await race(40);
});
