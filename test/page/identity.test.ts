import { expect, test } from "vitest";
import { forgetChannel, identify, keepToken, keptToken, subprotocols } from "../../src/web/visitor/identity.ts";
import { tabStorage } from "../../src/web/visitor/stored.ts";

function memoryStore(): { store: () => Storage; entries: Map<string, string> } {
  const entries = new Map<string, string>();
  const store = {
    getItem: (name: string) => entries.get(name) ?? null,
    setItem: (name: string, value: string) => void entries.set(name, value),
    removeItem: (name: string) => void entries.delete(name),
  } as unknown as Storage;
  return { store: () => store, entries };
}

const blocked = () => {
  throw new Error("the storage is blocked");
};

const nobody = new URLSearchParams();
const tokenOf = (channelId: string, store: () => Storage) => {
  const identity = identify(nobody, channelId, store);
  return identity.kind === "token" ? identity.token : "";
};

test("a visitor has a token of 128 bits, a different one for each channel, that is not kept before the first message", () => {
  const { store, entries } = memoryStore();
  expect(subprotocols(identify(nobody, "chn_a", store))).toEqual([
    "parley.v1",
    expect.stringMatching(/^token\.[\w-]{22}$/),
  ]);
  expect(tokenOf("chn_a", store)).toBe(tokenOf("chn_a", store));
  expect(tokenOf("chn_b", store)).not.toBe(tokenOf("chn_a", store));
  expect([...entries]).toEqual([]);
  expect(keptToken("chn_a", store)).toBeNull();
});

test("a token that is kept is the visitor's from then on, and the first tab that keeps one decides", () => {
  const { store } = memoryStore();
  const [first, second] = ["a".repeat(22), "b".repeat(22)];
  expect(keepToken("chn_a", first, store)).toBe(first);
  expect(keepToken("chn_a", second, store)).toBe(first);
  expect([tokenOf("chn_a", store), keptToken("chn_a", store), keptToken("chn_b", store)]).toEqual([first, first, null]);
});

test("without storage, the token lasts as long as the page", () => {
  const token = tokenOf("chn_c", blocked);
  expect(keepToken("chn_c", token, blocked)).toBe(token);
  expect(tokenOf("chn_c", blocked)).toBe(token);
});

test("a damaged token is replaced", () => {
  const { store, entries } = memoryStore();
  entries.set("parley.token.chn_d", "not, a token");
  expect(tokenOf("chn_d", store)).toMatch(/^[\w-]{22}$/);
});

test("all that is kept for a channel can be forgotten, and nothing of another", () => {
  const kept = ["parley.token.chn_a", "parley.asked.chn_a.user", "parley.token.chn_b", "cart.chn_a"];
  const all = Object.assign(Object.create({ removeItem: (name: string) => Reflect.deleteProperty(all, name) }), {
    ...Object.fromEntries(kept.map((name) => [name, "1"])),
  });
  forgetChannel("chn_a", () => all);
  expect(Object.keys(all)).toEqual(["parley.token.chn_b", "cart.chn_a"]);
  expect(() => forgetChannel("chn_a", blocked)).not.toThrow();
});

test("a user is sent in the subprotocol, whatever characters the id has", () => {
  const hash = "ab".repeat(32);
  const identity = identify(new URLSearchParams({ user: "ada@example.com ✓", hash }), "chn_a", blocked);
  const [, named] = subprotocols(identity) ?? [];
  expect(named).toMatch(/^user\.[\w-]+\.[0-9a-f]{64}$/);
  expect(Buffer.from(named?.split(".")[1] ?? "", "base64url").toString()).toBe("ada@example.com ✓");
});

test("a user with an expiring hash is sent with the expiry, and a malformed hash is never sent", () => {
  const user = (hash: string, expires: string) =>
    subprotocols(identify(new URLSearchParams({ user: "ada", hash, expires }), "chn_a", blocked));
  expect(user("ab".repeat(64), "1900000000")).toEqual(["parley.v1", `user.YWRh.${"ab".repeat(64)}.1900000000`]);
  for (const expires of ["", "0", "01900000000", "1900000000000", "soon", "-1"]) {
    expect(user("ab".repeat(64), expires), expires).toBeNull();
  }
  expect(user("ab".repeat(32), "1900000000")).toBeNull();
});

test("a user without a hash is refused, and never becomes an anonymous visitor", () => {
  expect(subprotocols(identify(new URLSearchParams({ user: "ada" }), "chn_a", blocked))).toBeNull();
  expect(subprotocols(identify(new URLSearchParams({ user: "ada", hash: "x y" }), "chn_a", blocked))).toBeNull();
});

test("unsent messages and the draft are kept only for their owner, and damaged ones are ignored", () => {
  const { store, entries } = memoryStore();
  const own = { id: "a", text: "hi", writtenAt: 1, afterSeq: 0, tried: true, echo: 4, seq: null, trouble: null };
  tabStorage("ada", store).saveOutbox([own, { ...own, id: "b", seq: 5 }]);
  tabStorage("ada", store).saveDraft("half a");
  tabStorage("ada", store).saveAnswered("msg_1");
  expect(tabStorage("ada", store).outbox()).toEqual([{ ...own, echo: null }]);
  expect([tabStorage("ada", store).draft(), tabStorage("ada", store).answered()]).toEqual(["half a", "msg_1"]);
  const bobs = tabStorage("bob", store);
  expect([bobs.outbox(), bobs.draft(), bobs.answered()]).toEqual([[], "", ""]);
  entries.set("parley.outbox.ada", '[{"id":1},null,"x"');
  expect(tabStorage("ada", store).outbox()).toEqual([]);
  expect(tabStorage("ada", blocked).draft()).toBe("");
});
