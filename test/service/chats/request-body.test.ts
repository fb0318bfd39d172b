import { expect, test } from "vitest";
import { expectError, newChat, newOrganization } from "../../support/harness.ts";

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
