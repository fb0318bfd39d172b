import { expect, test, vi } from "vitest";
import { callOf, PHONE_ID } from "./network.ts";
import { itemOf, PHONE, receive, status, USER } from "./received.ts";

test.each<[object, object]>([
  [
    { category: "utility", type: "regular", billable: true, pricing_model: "PMP" },
    { category: "utility", type: "regular", billable: true },
  ],
  [
    { category: "service", type: "free_customer_service", billable: false },
    { category: "service", type: "free_customer_service", billable: false },
  ],
  [{ category: "utility" }, { category: "utility", type: null, billable: null }],
  [
    { category: "utility", type: 5, billable: "no" },
    { category: "utility", type: null, billable: null },
  ],
  [
    { category: "c".repeat(65), type: "t".repeat(65) },
    { category: "c".repeat(64), type: "t".repeat(64), billable: null },
  ],
])("the pricing %j of a status is the price %j", async (pricing, price) => {
  expect(await itemOf({ statuses: [status({ pricing })] })).toMatchObject({ price });
});

test.each([undefined, null, "utility", {}, { category: "" }, { category: 5 }])(
  "a status with the pricing %j has no price",
  async (pricing) => {
    expect(await itemOf({ statuses: [status({ pricing })] })).not.toHaveProperty("price");
  },
);

test("a status that FAILED says when, and others don't", async () => {
  const errors = [{ code: 131026, title: "Undeliverable" }];
  const failed = { status: "failed", errors };
  expect(await itemOf({ statuses: [status(failed)] })).toMatchObject({ failedAt: 1_700_000_000_000 });
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  expect(await itemOf({ statuses: [status({ ...failed, timestamp: undefined })] })).toMatchObject({
    failedAt: 1_800_000_000_000,
  });
  vi.useRealTimers();
  expect(await itemOf({ statuses: [status({ errors })] })).not.toHaveProperty("failedAt");
});

test.each<[string, object]>([
  ["by its type", { recipient_type: "group" }],
  ["by a member", { recipient_participant_id: PHONE }],
])("a status of a message to a group, known %s, is no item", async (_how, fields) => {
  expect(await receive(callOf({ statuses: [status(fields)] }))).toEqual({
    genuine: true,
    items: [],
    notes: ["groups_not_supported"],
    groups: [PHONE_ID],
  });
});

test("a status of a message to one person is an item", async () => {
  const fields = { recipient_type: "individual", recipient_participant_id: "" };
  expect(await itemOf({ statuses: [status(fields)] })).toMatchObject({ kind: "status", address: PHONE });
});

test("all addresses of a status are told, each once and the recipient's first", async () => {
  const contacts = [{ wa_id: "491511234567", user_id: USER, parent_user_id: "DE.ENT.2" }];
  const fields = { recipient_user_id: USER, recipient_parent_user_id: "DE.ENT.1" };
  expect(await itemOf({ contacts, statuses: [status(fields)] })).toMatchObject({
    address: PHONE,
    addresses: ["491511234567", USER, "DE.ENT.1", "DE.ENT.2"],
  });
});

test.each<[string, object]>([
  ["chats and messages with ids of 64 characters", { chatId: "a".repeat(64), messageId: "b".repeat(64) }],
  ["of one character", { chatId: "a", messageId: "b" }],
  ["with hyphens and underscores", { chatId: "a-_1", messageId: "B_-2" }],
])("callback data names %s", async (_what, ids) => {
  const { chatId, messageId } = ids as { chatId: string; messageId: string };
  const fields = { biz_opaque_callback_data: `${chatId}.${messageId}` };
  expect(await itemOf({ statuses: [status(fields)] })).toMatchObject(ids);
});

test.each([
  ["a.b", {}],
  ["a.b.reaction.1", { reactionAt: 1 }],
  [`a.b.reaction.${"1".repeat(15)}`, { reactionAt: 111_111_111_111_111 }],
])("the callback data %s has our ids", async (biz_opaque_callback_data, more) => {
  expect(await itemOf({ statuses: [status({ biz_opaque_callback_data })] })).toMatchObject({
    ...{ chatId: "a", messageId: "b", ...more },
  });
});

test.each(["!a.b", "a.b!", ".b", `a.${"b".repeat(65)}`, "a.b.reaction.1x", "aXb", "a.b.reaction1"])(
  "the callback data %s has none",
  async (biz_opaque_callback_data) => {
    expect(await itemOf({ statuses: [status({ biz_opaque_callback_data })] })).toMatchObject({
      ...{ chatId: null, messageId: null },
    });
  },
);
