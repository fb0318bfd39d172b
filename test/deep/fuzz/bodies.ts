import fc from "fast-check";
import { oddText } from "./values.ts";

const DEEP = 6_000;

/** JSON text of a value; numbers and depths that no JavaScript value has are written where it names them. */
function written(value: unknown): string {
  return JSON.stringify(value)
    .replace(/"#number:([^"]*)"/g, "$1")
    .replace(/"#deep:\["/g, `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`)
    .replace(/"#deep:\{\\"a\\":"/g, `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`);
}

/** A body as it goes out: a text, or bytes as the characters up to U+00FF where they are no UTF-8. */
export type Body = { text: string } | { bytes: string };

const spoils: fc.Arbitrary<(text: string) => Body>[] = [
  fc.nat(200).map((at) => (text) => ({ text: text.slice(0, at) })),
  fc.constantFrom("}", "{}", "\0", " garbage", ",").map((tail) => (text) => ({ text: text + tail })),
  fc.constantFrom("\ufeff", "\0", "//\n", "[").map((head) => (text) => ({ text: head + text })),
  fc
    .constantFrom("__proto__", "constructor", "content", "name", "kind", "channelId", "unknown")
    .map((name) => (text) => ({
      text: text.replace("{", `{"${name}":{"content":"Hello","isAdmin":true},`),
    })),
  // Each field twice.
  fc.constant((text) => ({ text: /^\{.+\}$/s.test(text) ? `${text.slice(0, -1)},${text.slice(1)}` : text })),
  fc.constant((text) => ({ text: text.replace(/}$/, `,"padding":"${"x".repeat(70_000)}"}`) })),
  fc.constant((text) => ({ text: text.replace(/}$/, `,"padding":[${"0,".repeat(30_000)}0]}`) })),
  fc
    .tuple(fc.nat(100), fc.constantFrom("\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2"))
    .map(([at, bytes]) => (text) => ({ bytes: `${text.slice(0, at)}${bytes}${text.slice(at)}` })),
  // UTF-16.
  fc.constant((text) => ({ bytes: `\xff\xfe${[...text].map((char) => `${char}\0`).join("")}` })),
  oddText.map((odd) => () => ({ text: odd })),
];

/** Bodies of values, and what may become of them on the way. */
export function bodiesOf(values: fc.Arbitrary<unknown>): fc.Arbitrary<Body> {
  const texts = values.map(written);
  return fc.oneof(
    { weight: 8, arbitrary: texts.map((text): Body => ({ text })) },
    { weight: 1, arbitrary: fc.tuple(texts, fc.oneof(...spoils)).map(([text, spoil]) => spoil(text)) },
  );
}

export function bytesOf(body: Body): Uint8Array<ArrayBuffer> {
  if ("text" in body) return new Uint8Array(new TextEncoder().encode(body.text));
  return Uint8Array.from(body.bytes, (char) => char.charCodeAt(0) & 0xff);
}
