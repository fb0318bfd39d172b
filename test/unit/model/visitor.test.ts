import { expect, test } from "vitest";
import { isId } from "../../../src/model/id.ts";
import {
  type ConnectingVisitor,
  MAX_NEW_CHATS,
  MAX_UPLOADED,
  MAX_VISITOR_FILE_BYTES,
  readVisitor,
  visitorHeaders,
  webChatId,
} from "../../../src/model/visitor.ts";

const VISITOR: ConnectingVisitor = {
  chatId: "cht_g0123456789ABCDE",
  organizationId: "org_g0123456789ABCDE",
  channelId: "chn_g0123456789ABCDE",
  address: "user_Zoë\r\n🙂%22",
  clientNetwork: "192.0.2.1",
  admission: { origin: null, ownOrigin: "https://p.example", fingerprint: null, readAt: 5, stopWords: ["Später"] },
  hasUploads: true,
  after: 7,
  events: null,
};

test("the chat object reads the visitor that the Worker sends with the upgrade, whatever the address contains", () => {
  const headers = visitorHeaders(VISITOR);
  expect(Object.values(headers).join("")).toMatch(/^[!-~]+$/);
  expect(new Headers(headers).get("upgrade")).toBe("websocket");
  expect(readVisitor(new Headers(headers))).toEqual(VISITOR);
});

test("a request without a visitor is refused", () => {
  expect(() => readVisitor(new Headers({ Upgrade: "websocket" }))).toThrow(SyntaxError);
});

// Stored chats have these ids: another derivation would lose them.
test.each([
  ["chn_e0123456789ABCDE", "visitor_1", "cht_ewicfDW4vxRzcCAu"],
  ["chn_g0123456789ABCDE", "user_Zoë", "cht_g0JQAVeinxK53Rww"],
])("the chat of the channel %s with %s is %s", async (channelId, address, chatId) => {
  expect(await webChatId(channelId, address)).toBe(chatId);
  expect(isId("cht", chatId)).toBe(true);
});

test("a visitor can start few chats, its network ten times fewer than its block, and a channel takes ten a second", () => {
  expect(MAX_NEW_CHATS).toEqual({ network: 5, block: 50, channel: 600 });
});

test("a visitor's file has at most 10 MiB, and what visitors upload in an hour is limited at four places", () => {
  expect(MAX_VISITOR_FILE_BYTES).toBe(10_485_760);
  expect(MAX_UPLOADED).toEqual({
    visitor: 26_214_400,
    network: 104_857_600,
    block: 419_430_400,
    channel: 4_294_967_296,
  });
});
