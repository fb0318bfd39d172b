import { test } from "vitest";
import { breakAndRepair } from "../../../../service/channels/object/crowd.ts";
import { stopTheClock } from "../../../../service/chats/object/delivery/conversation.ts";

stopTheClock();

test("10,000 chats of a broken channel: one probe at a time, and they are woken in bounded runs once it is replaced", () =>
  breakAndRepair(10_000));
