import { expect, test } from "vitest";
import { stopTheClock } from "../../../../../service/chats/object/delivery/conversation.ts";
import { refuseRecipient } from "../../../../../service/chats/object/delivery/refused-recipient.ts";

stopTheClock();

const THREE_HOURS = 180;

test.each([
  [130497, 403, "FAILED"],
  [130497, 400, "FAILED"],
  [999_999, 403, "QUEUED"],
  [999_999, 401, "QUEUED"],
])("a refusal of one recipient with the code %i and status %i delays no other chat", async (code, status, state) => {
  const { brokenMinutes, late, messages } = await refuseRecipient(code, status, THREE_HOURS);
  expect({ brokenMinutes, late }).toEqual({ brokenMinutes: 0, late: 0 });
  expect(messages[0]?.status).toBe(state);
});

test("a recipient that Meta refuses in the words of a broken channel delays other chats by minutes, and its messages fail", async () => {
  const { late, messages } = await refuseRecipient(131_031, 400, THREE_HOURS);
  expect(late).toBeLessThanOrEqual(8);
  expect(messages.slice(0, 10).map(({ status, error }) => [status, error?.code])).toEqual(
    Array.from({ length: 10 }, () => ["FAILED", "message_refused"]),
  );
});
