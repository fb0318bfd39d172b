import { expect, test } from "vitest";
import { fingerprintOf } from "../../../src/chats/idempotency.ts";
import { sendBody } from "../../../src/chats/message.ts";
import { placeholdersOf } from "../../../src/chats/template.ts";
import { PING, PONG, readFrame } from "../../../src/chats/visitors/frames.ts";

/** What is wrong with a body, place by place. */
function faults(json: string): string[] {
  const result = sendBody.safeParse(JSON.parse(json));
  return (result.error?.issues ?? []).map(({ path, message }) => `${path.join(".")} ${message}`);
}

test("pairs and variables have no key __proto__, and that is all that is said of them", () => {
  expect(faults('{"content":"Hi","metadata":{"__proto__":"x"}}')).toEqual(["metadata must not have the key __proto__"]);
  expect(faults('{"content":"Hi","metadata":{"__proto__":5}}')).toEqual(["metadata must not have the key __proto__"]);
  expect(faults('{"content":"Hi","variables":{"__proto__":true}}')).toEqual([
    "variables must not have the key __proto__",
  ]);
});

test("there are twenty pairs at most", () => {
  const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
  expect(faults(JSON.stringify({ content: "Hi", metadata: pairs(20) }))).toEqual([]);
  expect(faults(JSON.stringify({ content: "Hi", metadata: pairs(21) }))).toEqual([
    "metadata must have at most 20 pairs",
  ]);
});

test("media is at an https address", () => {
  expect(faults('{"content":"Hi","mediaUrl":"http://media.test/a"}')).toEqual(["mediaUrl must be an https URL"]);
});

test("a request has the fingerprint that it had when its key was used first", async () => {
  const body = sendBody.parse({ content: "Hi", variables: { b: 2, a: "1" }, metadata: { y: "2", x: "1" } });
  const meaning = '["Hi","TEXT",null,null,[["a","1"],["b",2]],null,[["x","1"],["y","2"]]]';
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(meaning));
  expect(await fingerprintOf(body)).toBe(new Uint8Array(digest).toHex());
});

test("a placeholder may begin as __proto__ does", () => {
  expect(placeholdersOf("{{__proto__x}}")).toEqual(["__proto__x"]);
  expect(placeholdersOf("{{__proto__}}")).toBeNull();
});

test("a ping and its answer have the one spelling that the platform knows", () => {
  expect([PING, PONG]).toEqual(['{"type":"ping"}', '{"type":"pong"}']);
  expect(readFrame(PING)).toEqual({ type: "ping" });
});

test("the past before a message is asked for by its number", () => {
  expect(readFrame('{"type":"older","before":7}')).toEqual({ type: "older", before: 7 });
  expect(readFrame('{"type":"older","before":-1}')).toBe("no_frame");
});
