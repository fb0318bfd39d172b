import { expect, test } from "vitest";
import { linkIn } from "../../../src/channels/link.ts";
import type { ChannelRecord } from "../../../src/channels/record.ts";
import { readClaim } from "../../../src/channels/web/identity.ts";
import { isAllowedOrigin } from "../../../src/channels/web/origin.ts";
import { secretFingerprint, socketPolicyOf } from "../../../src/channels/web/socket-policy.ts";
import { visitorHeaders } from "../../../src/channels/web/visitor.ts";
import { asUser } from "../../support/site-users.ts";

const HASH = "ab".repeat(32);

const record = (settings: object, ...secrets: string[]) =>
  ({ settings, identitySecrets: async () => secrets }) as unknown as ChannelRecord;

test("a channel's terms are its origins, and the marks of its secrets where they are asked for", async () => {
  const channel = record({ allowedOrigins: ["https://a.example"] }, "one", "two");
  expect(await socketPolicyOf(channel, { withMarks: false }, 0)).toEqual({
    allowedOrigins: ["https://a.example"],
    marks: [],
  });
  expect(await socketPolicyOf(channel, { withMarks: true }, 0)).toEqual({
    allowedOrigins: ["https://a.example"],
    marks: [await secretFingerprint("one"), await secretFingerprint("two")],
  });
  expect(await socketPolicyOf(record({}), { withMarks: true }, 0)).toEqual({ allowedOrigins: [], marks: [] });
});

test("an origin has at most 300 characters, whoever is let in", () => {
  const origin = (length: number) => `https://${"a".repeat(length - 8)}`;
  expect([isAllowedOrigin(origin(300), "own", []), isAllowedOrigin(origin(301), "own", [])]).toEqual([true, false]);
  expect(isAllowedOrigin(origin(301), "own", [origin(301)])).toBe(false);
});

test("the upgrade that goes to a chat's object is one to a socket", () => {
  expect(visitorHeaders({} as never)).toMatchObject({ Upgrade: "websocket" });
});

test("a user's id has up to 256 characters, a mark of byte order included", () => {
  const user = (id: string) => readClaim(asUser(id, HASH).join(", "));
  expect(user("x".repeat(256))).toMatchObject({ user: "x".repeat(256) });
  expect(user("\ufeffuser")).toMatchObject({ user: "\ufeffuser" });
});

test("a claim stands beside the protocol, once", () => {
  const token = "token.0123456789abcdefghijkl";
  for (const header of [`${token}, ${token}`, `parley.v1, ${token}, ${token}`, "parley.v1,", "parley.v1, parley.v1"]) {
    expect(readClaim(header), header).toBeNull();
  }
  expect(readClaim(`${token} , parley.v1`)).toMatchObject({ kind: "token" });
});

test.each(["see https://a.example", "xhttps://a.example", "https://a.example b"])("the text %j is no link", (text) => {
  expect(linkIn(text)).toBeNull();
});
