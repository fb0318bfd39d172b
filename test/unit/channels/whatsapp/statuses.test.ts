import { expect, test } from "vitest";
import type { StatusUpdate } from "../../../../src/model/network.ts";
import { itemOf, PHONE, status, USER } from "./received.ts";

test.each([
  ["sent", "SENT"],
  ["delivered", "DELIVERED"],
  ["read", "READ"],
  ["played", "READ"],
])("the status %s with our ids finds its message", async (word, expected) => {
  const item = await itemOf({
    statuses: [status({ status: word, biz_opaque_callback_data: "cht_g0123456789ABCDE.msg_g0123456789ABCDE" })],
  });
  expect(item).toEqual({
    kind: "status",
    chatId: "cht_g0123456789ABCDE",
    messageId: "msg_g0123456789ABCDE",
    networkId: "wamid.9",
    address: PHONE,
    addresses: [],
    status: expected,
    error: null,
  });
});

test.each<[string, string | undefined]>([
  ["none", undefined],
  ["an empty one", ""],
  ["one of another's", "order 4711"],
  ["one without a message", "cht_g0123456789ABCDE."],
  ["one of three parts", "a.b.c"],
  ["one that is too long", `${"a".repeat(65)}.b`],
])("a status with %s for callback data goes by its recipient", async (_name, biz_opaque_callback_data) => {
  expect(await itemOf({ statuses: [status({ biz_opaque_callback_data })] })).toMatchObject({
    chatId: null,
    messageId: null,
    networkId: "wamid.9",
    address: PHONE,
  });
});

test.each<[string, object, object[], string | null, string[]]>([
  ["a number and a user id", { recipient_user_id: USER }, [], PHONE, [USER]],
  ["a user id alone", { recipient_id: undefined, recipient_user_id: USER }, [], USER, []],
  ["a contact", {}, [{ wa_id: "491511234567", user_id: USER }], PHONE, ["491511234567", USER]],
  ["a parent's user id", { recipient_parent_user_id: "DE.ENT.1" }, [], PHONE, ["DE.ENT.1"]],
  ["nobody", { recipient_id: undefined }, [], null, []],
])("a status that names %s tells the addresses", async (_name, fields, contacts, address, addresses) => {
  expect(await itemOf({ contacts, statuses: [status(fields)] })).toMatchObject({ address, addresses });
});

test.each<[string, unknown, object]>([
  [
    "outside the window",
    [{ code: 131047, title: "Re-engagement message", error_data: { details: "More than 24 hours" } }],
    { code: "outside_messaging_window", message: "Re-engagement message: More than 24 hours" },
  ],
  [
    "by a template",
    [{ code: 132015, title: "Paused", message: "Template is paused" }],
    { code: "template_rejected", message: "Template is paused" },
  ],
  [
    "by another code",
    [{ code: 131026, title: "Undeliverable", message: "Message undeliverable" }],
    { code: "network_131026", message: "Message undeliverable" },
  ],
  ["without errors", undefined, { code: "network_error", message: "The network gave no reason" }],
  ["with errors that are none", ["no"], { code: "network_error", message: "The network gave no reason" }],
])("a message that failed %s says why", async (_name, errors, error) => {
  expect(await itemOf({ statuses: [status({ status: "failed", errors })] })).toMatchObject({
    status: "FAILED",
    error,
  });
});

test.each([0, 3, 10, 33, 190, 200, 299, 368, 131005, 131031, 131037, 131042, 131045, 131048, 133010])(
  "a status with the code %i says that the channel is broken, as an answer would",
  async (code) => {
    const errors = [{ code, title: "Refused", error_data: { details: "The account" } }];
    const error = { code: `network_${code}`, message: "Refused: The account", broken: `${code}: Refused: The account` };
    expect(await itemOf({ statuses: [status({ status: "failed", errors })] })).toMatchObject({ error });
  },
);

test.each([1, 100, 131000, 131053, 131026, 131047, 131049, 132015, 130429, 300])(
  "a status with the code %i says nothing of the channel",
  async (code) => {
    const item = await itemOf({ statuses: [status({ status: "failed", errors: [{ code, title: "No" }] })] });
    expect(item).toMatchObject({ error: { message: "No" } });
    expect((item as StatusUpdate).error).not.toHaveProperty("broken");
  },
);

test("a status other than FAILED has no error", async () => {
  const errors = [{ code: 131026, title: "Undeliverable" }];
  expect(await itemOf({ statuses: [status({ errors })] })).toMatchObject({ status: "DELIVERED", error: null });
});
