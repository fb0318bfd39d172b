import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { newTemplate } from "../../support/harness.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { type Place, placesOf, quietly } from "./fixtures.ts";
import { chatOnDisk, ring } from "./looks.ts";

quietly();

const HELLO = "1 OUTBOUND Hello SENT";

/** A send to a chat whose alarm is done, with a key that was never used. */
function sending(body: object, headers: Record<string, string> = {}): Path<Place> {
  const place = placesOf();
  return {
    place: async () => {
      const at = await place();
      await ring(env.CHATS.getByName(at.chatId));
      return at;
    },
    act: ({ api, chatId }) => api("POST", `/chats/${chatId}/messages`, { content: "Hello", ...body }, headers),
    look: ({ chatId }) => chatOnDisk(chatId),
    // The message is stored, but no alarm reports it to the list of chats. The next call does.
    between: ({ messages, alarm }) => messages.length === 1 && !alarm,
  };
}

test("a send is stored or not, whichever step fails", async () => {
  const tally = await failEachStep({
    ...sending({}),
    twice: { messages: [HELLO, "2 OUTBOUND Hello SENT"], alarm: true },
  });
  expect(tally.names).toEqual(
    expect.arrayContaining([
      "KEYS.admit",
      "CHATS.send",
      "insert into messages (seq, doc, dedupe, fingerprint, templat",
      "setAlarm",
    ]),
  );
});

test("a send with an idempotency key is stored once, whichever step fails", async () => {
  const tally = await failEachStep(sending({}, { "Idempotency-Key": "once" }));
  expect(tally.names.some((name) => name.startsWith("create table messages"))).toBe(true);
});

test("a send with a template and a sender is stored or not, whichever step fails", async () => {
  const place = placesOf();
  const path: Path<Place & { templateId: string }> = {
    ...sending({}),
    place: async () => {
      const at = await place();
      return { ...at, templateId: await newTemplate(at.organizationId, "Order {{number}} is on its way") };
    },
    act: ({ api, chatId, templateId, ownerId: senderId }) => {
      const body = { content: "Hello", senderId, templateId, variables: { number: 7 } };
      return api("POST", `/chats/${chatId}/messages`, body, { "Idempotency-Key": "shipped" });
    },
  };
  const { names, directory } = await failEachStep(path);
  expect(names.filter((name) => name.startsWith("D1 batch"))).toHaveLength(1);
  expect(directory).toBeGreaterThanOrEqual(4);
});
