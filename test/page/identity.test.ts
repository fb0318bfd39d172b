import { expect, test } from "vitest";
import { identify, subprotocols } from "../../src/web/visitor/identity.ts";
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

test("a visitor keeps a token of 128 bits, a different one for each channel", () => {
  const { store } = memoryStore();
  const first = subprotocols(identify(new URLSearchParams(), "chn_a", store));
  expect(first).toEqual(["parley.v1", expect.stringMatching(/^token\.[\w-]{22}$/)]);
  expect(subprotocols(identify(new URLSearchParams(), "chn_a", store))).toEqual(first);
  expect(subprotocols(identify(new URLSearchParams(), "chn_b", store))).not.toEqual(first);
});

test("without storage, the token lasts as long as the page", () => {
  const first = identify(new URLSearchParams(), "chn_c", blocked);
  expect(identify(new URLSearchParams(), "chn_c", blocked)).toEqual(first);
});

test("a damaged token is replaced", () => {
  const { store, entries } = memoryStore();
  entries.set("parley.token.chn_d", "not, a token");
  expect(identify(new URLSearchParams(), "chn_d", store)).toMatchObject({
    token: expect.stringMatching(/^[\w-]{22}$/),
  });
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
  expect(tabStorage("ada", store).outbox()).toEqual([{ ...own, echo: null }]);
  expect([tabStorage("bob", store).outbox(), tabStorage("bob", store).draft()]).toEqual([[], ""]);
  entries.set("parley.outbox.ada", '[{"id":1},null,"x"');
  expect(tabStorage("ada", store).outbox()).toEqual([]);
  expect(tabStorage("ada", blocked).draft()).toBe("");
});
