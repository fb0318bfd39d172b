import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChannelRecord } from "../../../../src/calls/channel-record.ts";
import { isAllowedOrigin } from "../../../../src/channels/web/origin.ts";
import { secretFingerprint, socketPolicyOf, socketRefusalOf } from "../../../../src/channels/web/socket-policy.ts";
import { clientNetwork } from "../../../../src/http/client-network.ts";
import { isId, jurisdictionOf, newId } from "../../../../src/model/id.ts";
import { linkIn } from "../../../../src/model/link.ts";
import { type ConnectingVisitor, readVisitor, visitorHeaders, webChatId } from "../../../../src/model/visitor.ts";
import { NO_CHANNEL_PAGE } from "../../../../src/visitors/page.ts";

test("a web chat's id has an id's form, in the channel's jurisdiction", async () => {
  for (const jurisdiction of [null, "eu", "us"] as const) {
    const id = await webChatId(newId("chn", jurisdiction), "user-7");
    expect([isId("cht", id), jurisdictionOf(id)]).toEqual([true, jurisdiction]);
  }
});

test("a web chat's id is always the same, and another for each channel and address", async () => {
  expect(await webChatId("chn_g000000000000000", "user-7")).toBe("cht_g3iBgfhhqdkGypsg");
  const channels = [newId("chn", null), newId("chn", null)];
  const ids = new Set<string>();
  for (const channel of channels) {
    for (const address of ["a", "a ", "b", "a\nb", "\na", "🦀"]) ids.add(await webChatId(channel, address));
  }
  expect(ids.size).toBe(12);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:201", "192.0.2.1"],
  ["2001:db8::1", "20010db800000000::/64"],
  ["2001:DB8:0:0:ffff::", "20010db800000000::/64"],
  ["2001:db8:0:1::1", "20010db800000001::/64"],
  ["::1", "0::/64"],
  ["", ""],
  ["unknown", ""],
  ["1.2.3.4, 5.6.7.8", ""],
  ["2001:db8::1::2", ""],
  [null, ""],
])("%s is counted under %j", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});

const LIST = ["https://shop.example", "https://www.shop.example:8443"];

test.each([
  ["https://shop.example", LIST, true],
  ["https://www.shop.example:8443", LIST, true],
  ["https://parley.test", LIST, true],
  [null, LIST, false],
  ["null", LIST, false],
  ["", LIST, false],
  ["http://shop.example", LIST, false],
  ["https://shop.example:444", LIST, false],
  ["https://www.shop.example", LIST, false],
  ["https://shop.example.evil.example", LIST, false],
  ["https://evilshop.example", LIST, false],
  ["https://SHOP.example", LIST, false],
  ["https://shop.example/", LIST, false],
  ["http://parley.test", LIST, false],
  [null, [], true],
  ["null", undefined, true],
])("the origin %j on our page's own https://parley.test, with %j allowed: %s", (origin, list, isAllowed) => {
  expect(isAllowedOrigin(origin, "https://parley.test", list)).toBe(isAllowed);
});

test.each<[string | null, string | null, string[], string[], string | null]>([
  ["https://a.example", null, ["https://a.example"], [], null],
  ["https://own.example", null, ["https://a.example"], [], null],
  ["https://b.example", null, ["https://a.example"], [], "wrong_origin"],
  [null, null, ["https://a.example"], [], "wrong_origin"],
  ["https://b.example", null, [], [], null],
  ["https://b.example", "m1", ["https://a.example"], ["m1"], "wrong_origin"],
  [null, "m1", [], ["m2", "m1"], null],
  [null, "m1", [], ["m2"], "wrong_identity"],
  [null, "m1", [], [], "wrong_identity"],
])(
  "a socket of origin %s and fingerprint %s, with %j allowed and fingerprints %j: %s",
  (origin, fingerprint, allowedOrigins, fingerprints, expected) => {
    const admission = { origin, ownOrigin: "https://own.example", fingerprint, readAt: 0 };
    expect(socketRefusalOf(admission, { allowedOrigins, fingerprints })).toBe(expected);
    expect(socketRefusalOf(admission, null)).toBe("no_channel");
  },
);

test("a secret's fingerprint is always the same, another for each secret, and none of its text", async () => {
  expect(await secretFingerprint("secret")).toBe(await secretFingerprint("secret"));
  expect(await secretFingerprint("secret")).not.toBe(await secretFingerprint("secret2"));
  expect(await secretFingerprint("secret")).toMatch(/^[0-9A-Za-z]{15}$/);
});

test("what the Worker found out of a visitor survives the header, whatever the address", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 256 }), fc.nat(), (address, after) => {
      const visitor: ConnectingVisitor = {
        chatId: "cht_g000000000000000",
        organizationId: "org_g000000000000000",
        channelId: "chn_g000000000000000",
        address,
        clientNetwork: "192.0.2.1",
        admission: { origin: null, ownOrigin: "https://parley.test", fingerprint: null, readAt: 1 },
        hasUploads: true,
        after,
        events: null,
      };
      expect(readVisitor(new Headers(visitorHeaders(visitor)))).toEqual(visitor);
    }),
  );
});

const record = (settings: object, ...secrets: string[]) =>
  ({ settings, identitySecrets: async () => secrets }) as unknown as ChannelRecord;

test("a channel's socket policy contains its origins and, if requested, the fingerprints of its secrets", async () => {
  const channel = record({ allowedOrigins: ["https://a.example"] }, "one", "two");
  expect(await socketPolicyOf(channel, { withFingerprints: false }, 0)).toEqual({
    allowedOrigins: ["https://a.example"],
    fingerprints: [],
  });
  expect(await socketPolicyOf(channel, { withFingerprints: true }, 0)).toEqual({
    allowedOrigins: ["https://a.example"],
    fingerprints: [await secretFingerprint("one"), await secretFingerprint("two")],
  });
  expect(await socketPolicyOf(record({}), { withFingerprints: true }, 0)).toEqual({
    allowedOrigins: [],
    fingerprints: [],
  });
});

test("an origin has at most 300 characters, whoever is let in", () => {
  const origin = (length: number) => `https://${"a".repeat(length - 8)}`;
  expect([isAllowedOrigin(origin(300), "own", []), isAllowedOrigin(origin(301), "own", [])]).toEqual([true, false]);
  expect(isAllowedOrigin(origin(301), "own", [origin(301)])).toBe(false);
});

test("the upgrade that goes to a chat's object is one to a socket", () => {
  expect(visitorHeaders({} as never)).toMatchObject({ Upgrade: "websocket" });
});

test.each(["see https://a.example", "xhttps://a.example", "https://a.example b"])("the text %j is no link", (text) => {
  expect(linkIn(text)).toBeNull();
});

test("the page of a channel that does not exist says what to do", () => {
  for (const text of [
    "<title>Chat not found<",
    ">This chat doesn’t exist<",
    ">Check the link, or ask the company for a new one.<",
  ])
    expect(NO_CHANNEL_PAGE).toContain(text);
});
