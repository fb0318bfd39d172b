import { expect, test } from "vitest";
import { inboundFields } from "../../../../../src/chats/object/log/inbound-fields.ts";

const interactive = {
  choices: [
    { type: "reply", id: "refund-4711", title: "Refund" },
    { type: "link", title: "Track", url: "https://shop.example/" },
  ],
  rendering: "buttons",
};
const MESSAGES: Record<string, object> = {
  msg_gOffer: { id: "msg_gOffer", direction: "OUTBOUND", interactive },
  msg_gPlain: { id: "msg_gPlain", direction: "OUTBOUND" },
  msg_gTheirs: { id: "msg_gTheirs", direction: "INBOUND", interactive },
};

type Log = Parameters<typeof inboundFields>[0];

/** A chat with these messages, one of which the network knows as `wamid.offer`. */
const log = {
  byId: (id: string) => (MESSAGES[id] ? { doc: JSON.stringify(MESSAGES[id]) } : null),
  networkIds: { message: (id: string) => (id === "wamid.offer" ? log.byId("msg_gOffer") : null) },
} as Log;

test("a message that says nothing more has no further fields", () => {
  expect(inboundFields(log)).toEqual({});
});

test("the log is asked for a message only if one is named", () => {
  const asked: unknown[] = [];
  const look = (id: unknown) => {
    asked.push(id);
    return null;
  };
  const empty = { byId: look, networkIds: { message: look } } as unknown as Log;
  inboundFields(empty, { sticker: { emoji: null } });
  expect(asked).toEqual([]);
  inboundFields(empty, { quote: "wamid.offer" });
  inboundFields(empty, { replyTo: "msg_gPlain" });
  expect(asked).toEqual(["wamid.offer", "msg_gPlain"]);
});

test("a tap on a reply brings the company's id and its title, whatever the network shows", () => {
  const choice = { id: "refund-4711", title: "Refund", messageId: "msg_gOffer" };
  expect(inboundFields(log, { tap: { data: "msg_gOffer:0", title: "Forged" } })).toEqual({
    choice,
    replyTo: "msg_gOffer",
  });
  expect(inboundFields(log, { tap: { data: "msg_gOffer:0", title: "" }, quote: "wamid.other" })).toEqual({
    choice,
    replyTo: "msg_gOffer",
  });
});

test.each([
  ["an index without a choice", "msg_gOffer:2"],
  ["a link", "msg_gOffer:1"],
  ["a message without choices", "msg_gPlain:0"],
  ["a message of the contact", "msg_gTheirs:0"],
])("a tap on %s has no id, and names the message", (_, data) => {
  const messageId = data.slice(0, -2);
  const choice = { id: null, title: "As shown", messageId };
  expect(inboundFields(log, { tap: { data, title: "As shown" } })).toEqual({ choice, replyTo: messageId });
});

test.each(["msg_gGone:0", "msg_gOffer", "", "refund-4711"])(
  "a tap with %j is of no message that the chat has",
  (data) => {
    const choice = { id: null, title: "As shown", messageId: null };
    expect(inboundFields(log, { tap: { data, title: "As shown" } })).toEqual({ choice });
    const quoting = inboundFields(log, { tap: { data, title: "As shown" }, quote: "wamid.offer" });
    expect(quoting).toEqual({ choice, replyTo: "msg_gOffer" });
  },
);

test("a quote is looked up by the network's id, a visitor's by ours", () => {
  expect(inboundFields(log, { quote: "wamid.offer" })).toEqual({ replyTo: "msg_gOffer" });
  expect(inboundFields(log, { quote: "wamid.gone" })).toEqual({});
  expect(inboundFields(log, { replyTo: "msg_gPlain" })).toEqual({ replyTo: "msg_gPlain" });
  expect(inboundFields(log, { replyTo: "msg_gGone" })).toEqual({});
});

test("a place, cards and a sticker stay as they are", () => {
  const said = {
    location: { latitude: 0, longitude: 0 },
    contacts: [{ name: "Ann", phones: ["1"] }],
    sticker: { emoji: null },
  };
  expect(inboundFields(log, said)).toEqual(said);
});
