import { expect, test } from "vitest";
import { expectError, expectFaults, newChat, newOrganization } from "../../support/harness.ts";

const LIMIT = 64 * 1_024;

async function newPoster() {
  const { api, channelId } = await newOrganization();
  const path = `/chats/${(await newChat(api, channelId)).id}/messages`;
  return {
    post: (body?: unknown, headers?: Record<string, string>) => api("POST", path, body, headers),
    total: async () => (await api("GET", path)).body.pagination.total,
  };
}

/** A valid body of exactly `bytes` bytes. */
function bodyOf(bytes: number): string {
  const body = JSON.stringify({ content: "Hello", padding: "" });
  return body.replace('""', `"${"x".repeat(bytes - body.length)}"`);
}

/** The same bytes as a chunked stream, without a Content-Length. */
function chunked(text: string): ReadableStream {
  const bytes = new TextEncoder().encode(text);
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(sent, sent + 10_000));
      sent += 10_000;
    },
  });
}

test.each(["text/plain", "application/xml", "multipart/form-data", "application/json; charset=latin1", "nonsense"])(
  "a body is read as JSON under the Content-Type %s",
  async (type) => {
    const { post } = await newPoster();
    expect((await post('{"content":"Grüße"}', { "Content-Type": type })).body.message.content).toBe("Grüße");
  },
);

test.each([
  ["no body", undefined],
  ["an empty body", ""],
  ["an array", '[{"content":"Hello"}]'],
  ["broken JSON", '{"content":"Hello"'],
])("%s is not a JSON object", async (_, body) => {
  const { post, total } = await newPoster();
  const answer = await post(body);
  expectFaults(answer, "");
  expect(answer.body.message).toBe("The request body must be a JSON object");
  expect(await total()).toBe(0);
});

test("a byte order mark is ignored", async () => {
  const { post } = await newPoster();
  expect((await post('\ufeff{"content":"Hello"}')).status).toBe(201);
});

test.each([
  ["with a Content-Length", (text: string) => text, (bytes: number) => ({ "Content-Length": String(bytes) })],
  ["as a chunked stream", chunked, () => ({ "Transfer-Encoding": "chunked" })],
])("64 KiB %s are accepted, and one byte more is a 413 and stores nothing", async (_, body, headers) => {
  const { post, total } = await newPoster();
  expect((await post(body(bodyOf(LIMIT)), headers(LIMIT))).status).toBe(201);
  const answer = await post(body(bodyOf(LIMIT + 1)), headers(LIMIT + 1));
  expectError(answer, 413, "body_too_large", "The request body is too large");
  expect(await total()).toBe(1);
});

test("a chunked stream that never ends is a 413 as soon as it is too large", async () => {
  const { post } = await newPoster();
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(10_000)) });
  expectError(await post(endless), 413, "body_too_large");
});

test("bytes are counted, not characters", async () => {
  const { post } = await newPoster();
  const answer = await post(JSON.stringify({ content: "Hello", padding: "ü".repeat(LIMIT / 2) }));
  expectError(answer, 413, "body_too_large");
});

test("a body that is too large for POST /chats is a 413 too", async () => {
  const { api } = await newOrganization();
  expectError(await api("POST", "/chats", bodyOf(LIMIT + 1)), 413, "body_too_large");
});

test.each(["unknown", "metadata", "variables", "content", "type"])(
  "thirty thousand brackets in %s are handled",
  async (field) => {
    const { post } = await newPoster();
    const answer = await post(`{"${field}":${"[".repeat(30_000)}${"]".repeat(30_000)},"senderId":null}`);
    expect([answer.status, answer.body.code]).toEqual([
      400,
      field === "unknown" ? "missing_field" : "validation_failed",
    ]);
  },
);

test("five thousand variables are accepted and ignored", async () => {
  const { post } = await newPoster();
  const variables = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`v${index}`, 1]));
  expect((await post({ content: "Hello", variables })).status).toBe(201);
});

test("if a field occurs twice, the last value counts", async () => {
  const { post } = await newPoster();
  expect((await post('{"content":"First","content":"Last"}')).body.message.content).toBe("Last");
});

test("a body that is not UTF-8 is a 400, and is not converted", async () => {
  const { post } = await newPoster();
  const bytes = new Uint8Array([...new TextEncoder().encode('{"content":"'), 0xff, 0xfe, 0x22, 0x7d]);
  expectFaults(await post(new Blob([bytes]).stream()), "");
});

test("an incomplete body is a 400, not a 500", async () => {
  const { post } = await newPoster();
  const broken = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"content":"')),
    pull: (controller) => controller.error(new Error("hung up")),
  });
  expectFaults(await post(broken), "");
});

test.each(["gzip", "br", "GZIP", "identity, gzip", "nonsense"])(
  "a body with the Content-Encoding %s is a 415, and stores nothing",
  async (encoding) => {
    const { post, total } = await newPoster();
    const answer = await post({ content: "Hello" }, { "Content-Encoding": encoding });
    expectError(answer, 415, "media_type", "The request body must not have a Content-Encoding");
    expect(answer.headers.get("Accept-Encoding")).toBe("identity");
    expect(await total()).toBe(0);
  },
);

test("the Content-Encoding identity is accepted", async () => {
  const { post } = await newPoster();
  expect((await post({ content: "Hello" }, { "Content-Encoding": "identity" })).status).toBe(201);
});
