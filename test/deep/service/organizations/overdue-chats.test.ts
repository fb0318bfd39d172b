import { test } from "vitest";
import { stopTheClock } from "../../../service/chats/object/delivery/conversation.ts";
import { checkCallsOf } from "../../../service/organizations/overdue-chats.ts";

stopTheClock();

test("10,000 overdue chats are called 20 at once, each once, also if another run comes meanwhile", () =>
  checkCallsOf(10_000));
