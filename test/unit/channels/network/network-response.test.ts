import { expect, test, vi } from "vitest";
import {
  contentLength,
  discard,
  limitBytes,
  parseJson,
  plainType,
  readText,
  receivedContentType,
  safeContentType,
} from "../../../../src/channels/network/network-response.ts";

const never = new AbortController().signal;
const bytes = (text: string) => Uint8Array.from(new TextEncoder().encode(text));

/** An answer whose body comes in these pieces, and what became of its reader. */
function answer(...pieces: (Uint8Array | "hang" | "break")[]) {
  const seen = { canceled: false };
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = left.shift();
        if (next === undefined) controller.close();
        else if (next === "break") controller.error(new Error("broke off"));
        else if (next === "hang") await new Promise(() => {});
        else controller.enqueue(next);
      },
      cancel() {
        seen.canceled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body), seen };
}

test("a text is read to its end, also where a character comes in two pieces", async () => {
  const whole = bytes("é🦀");
  for (let at = 1; at < whole.length; at++) {
    const { response } = answer(whole.slice(0, at), whole.slice(at));
    expect(await readText(response, 100, never)).toBe("é🦀");
  }
  expect(await readText(answer(bytes("a"), whole.slice(0, 1)).response, 100, never)).toBe("a\ufffd");
});

test("an answer without a body is an empty text", async () => {
  expect(await readText(new Response(null), 100, never)).toBe("");
});

test("a text of as many bytes as are allowed is read; one byte more, and the rest is let go", async () => {
  expect(await readText(answer(bytes("ab"), bytes("cd")).response, 4, never)).toBe("abcd");
  const { response, seen } = answer(bytes("ab"), bytes("cd"), "hang");
  expect(await readText(response, 3, never)).toBeNull();
  expect(seen.canceled).toBe(true);
});

test("a text that is cut off or incomplete at the deadline is null", async () => {
  expect(await readText(answer(bytes("ab"), "break").response, 100, never)).toBeNull();
  const clock = new AbortController();
  const { response, seen } = answer(bytes("ab"), "hang");
  const reading = readText(response, 100, clock.signal);
  await new Promise((resolve) => setTimeout(resolve));
  clock.abort();
  // Otherwise the reading would go on for as long as the answer hangs.
  expect(seen.canceled).toBe(true);
  expect(await reading).toBeNull();
  expect(await readText(answer(bytes("ab")).response, 100, AbortSignal.abort())).toBeNull();
});

test("a signal that outlives a reading keeps nothing of it", async () => {
  const { signal } = new AbortController();
  const [added, removed] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
  await readText(answer(bytes("ab")).response, 100, signal);
  expect(added).toHaveBeenCalledOnce();
  expect(removed.mock.calls).toEqual(added.mock.calls);
});

test("a text that is not JSON is undefined", () => {
  expect([parseJson('{"a":1}'), parseJson("null"), parseJson("{"), parseJson(""), parseJson(null)]).toEqual([
    { a: 1 },
    null,
    undefined,
    undefined,
    undefined,
  ]);
});

test("an unread body is canceled, and a body that is being read is not", () => {
  const { response, seen } = answer("hang");
  discard(response);
  expect(seen.canceled).toBe(true);
  discard(new Response(null));
});

test.each([
  ["0", 0],
  ["1234", 1_234],
  ["9".repeat(15), 999_999_999_999_999],
  ["9".repeat(16), null],
  ["-1", null],
  ["x1", null],
  ["1x", null],
  ["", null],
])("the length %j is %s", (text, length) => {
  expect(contentLength(new Headers({ "Content-Length": text }))).toBe(length);
});

test("a response without a length or with an encoding has no known length", () => {
  expect(contentLength(new Headers())).toBeNull();
  expect(contentLength(new Headers({ "Content-Length": "5", "Content-Encoding": "gzip" }))).toBeNull();
});

test("a stream fails after the maximum number of bytes", async () => {
  const through = (max: number) => {
    const { response } = answer(bytes("ab"), bytes("cd"));
    return new Response(response.body?.pipeThrough(limitBytes(max))).text();
  };
  expect(await through(4)).toBe("abcd");
  await expect(through(3)).rejects.toThrow();
});

test.each([
  ["text/plain", "text/plain"],
  [" Text/HTML ; charset=x;\ny", "text/html"],
  ["", ""],
  [null, ""],
  [undefined, ""],
])("the content type %j without its parameters is %j", (text, type) => {
  expect(plainType(text)).toBe(type);
});

test.each([
  ["image/jpeg", "image/jpeg"],
  [" Image/JPEG ; charset=x", "image/jpeg"],
  ["text/plain", "text/plain"],
  ["application/vnd.ms-excel", "application/vnd.ms-excel"],
  [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ],
  ["application/octet-stream", null],
  ["text/html", null],
  ["image/svg+xml", null],
  ["application/xml", null],
  ["application/xhtml+xml", null],
  ["text/xml", null],
  ["text/xsl", null],
  ["application/rss+xml", null],
  ["application/x-shockwave-flash", null],
  ["text/javascript", null],
  ["application/ecmascript", null],
  ["application/xslt+xml", null],
  ["multipart/x-mixed-replace", null],
  ["nonsense", null],
  ["ximage/jpeg", null],
  ["image/jpeg x", null],
  ["image/png, text/html", null],
  ["image/", null],
  [`image/${"x".repeat(101)}`, null],
  ["message/rfc822", null],
  ["", null],
  [null, null],
  [undefined, null],
])("the content type %j is passed on as %j", (text, type) => {
  expect(safeContentType(text)).toBe(type);
});

test.each([
  ["text/html; charset=utf-8", "text/html"],
  ["image/SVG+xml", "image/svg+xml"],
  ["text/javascript", "text/javascript"],
  ["application/octet-stream", null],
  ["multipart/x-mixed-replace", null],
  ["image/png, text/html", null],
  [`image/${"x".repeat(101)}`, null],
  ["text/html\r\nSet-Cookie: a=b", null],
  [undefined, null],
])("the content type %j that a network says is told as %j", (text, type) => {
  expect(receivedContentType(text)).toBe(type);
});
