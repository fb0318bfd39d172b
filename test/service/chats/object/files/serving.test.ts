import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { hurryDeadlines } from "../../../../support/deadlines.ts";
import { expectError } from "../../../../support/harness.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { messageOf, newFileChat } from "./fixtures.ts";

stopTheClock();

async function newFile() {
  const chat = await newFileChat();
  const fileId = await chat.upload();
  const { id } = messageOf(await chat.send(fileId));
  const path = `/chats/${chat.chat.id}/messages/${id}/media`;
  const get = (headers: Record<string, string> = {}, method = "GET") => chat.api(method, path, undefined, headers);
  return { ...chat, fileId, get };
}

test("a picture is shown, never run, and has a tag by which it is not sent again", async () => {
  const { get, fileId } = await newFile();
  const { status, headers, text } = await get();
  expect([status, text]).toEqual([200, "bytes"]);
  expect(Object.fromEntries(headers)).toMatchObject({
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    "content-disposition": "inline; filename*=UTF-8''a.png",
    "content-length": "5",
    "content-security-policy": "sandbox; default-src 'none'",
    "content-type": "image/png",
    etag: `"${fileId}"`,
    "x-content-type-options": "nosniff",
  });
  const reads = vi.spyOn(env.MEDIA, "get");
  for (const tags of [`"${fileId}"`, `W/"${fileId}"`, `"other", "${fileId}"`, "*"]) {
    expect((await get({ "If-None-Match": tags })).status).toBe(304);
  }
  expect(reads).not.toHaveBeenCalled();
  expect((await get({ "If-None-Match": '"other"' })).text).toBe("bytes");
});

test("a file is sent only if it is one that If-Match names, by its strong tag", async () => {
  const { get, fileId } = await newFile();
  for (const tags of ["*", `"${fileId}"`, `"other", "${fileId}"`]) {
    expect((await get({ "If-Match": tags })).text).toBe("bytes");
  }
  const reads = vi.spyOn(env.MEDIA, "get");
  for (const tags of ['"other"', `W/"${fileId}"`, fileId]) {
    for (const others of [{}, { "If-None-Match": "*" }, { Range: "bytes=9-" }]) {
      expectError(await get({ "If-Match": tags, ...others }), 412, "precondition_failed", /If-Match/);
    }
  }
  expect((await get({ "If-Match": '"other"' }, "HEAD")).status).toBe(412);
  expect(reads).not.toHaveBeenCalled();
});

test.for([
  ["bytes=0-0", 206, "b", "bytes 0-0/5"],
  ["bytes=1-2", 206, "yt", "bytes 1-2/5"],
  ["bytes=3-", 206, "es", "bytes 3-4/5"],
  ["bytes=3-99", 206, "es", "bytes 3-4/5"],
  ["bytes=-2", 206, "es", "bytes 3-4/5"],
  ["bytes=-99", 206, "bytes", "bytes 0-4/5"],
  ["bytes=5-", 416, "", "bytes */5"],
  ["bytes=-0", 416, "", "bytes */5"],
  ["bytes=2-1", 200, "bytes", null],
  ["bytes=0-1,3-4", 200, "bytes", null],
  ["bytes=-", 200, "bytes", null],
  ["lines=0-1", 200, "bytes", null],
] as const)("the range %s is a %d", async ([range, status, text, contentRange]) => {
  const { get } = await newFile();
  const answer = await get({ Range: range });
  expect([answer.status, answer.text, answer.headers.get("Content-Range")]).toEqual([status, text, contentRange]);
  if (status !== 416) expect(answer.headers.get("Content-Length")).toBe(String(text.length));
});

test("a range counts only for the file that If-Range names", async () => {
  const { get, fileId } = await newFile();
  expect((await get({ Range: "bytes=0-0", "If-Range": `"${fileId}"` })).status).toBe(206);
  expect((await get({ Range: "bytes=0-0", "If-Range": '"other"' })).status).toBe(200);
  expect((await get({ Range: "bytes=0-0", "If-Range": `W/"${fileId}"` })).status).toBe(200);
});

test("HEAD has the headers, and reads no bytes", async () => {
  const { get } = await newFile();
  const reads = vi.spyOn(env.MEDIA, "get");
  const { status, headers, text } = await get({}, "HEAD");
  expect([status, text, headers.get("Content-Length")]).toEqual([200, "", "5"]);
  expect(reads).not.toHaveBeenCalled();
});

test.for([
  ["GET", "get"],
  ["HEAD", "head"],
] as const)("an R2 that says nothing ends a %s with a 503", async ([method, name]) => {
  const { get } = await newFile();
  vi.spyOn(env.MEDIA, name as "get").mockReturnValue(new Promise<never>(() => {}));
  hurryDeadlines("KEYS", "CHATS");
  const answer = await get({}, method);
  expect([answer.status, answer.headers.get("Retry-After")]).toEqual([503, "1"]);
});

test("bytes that are gone are a 404, and an R2 that does not answer a 503", async () => {
  const { get, chat } = await newFile();
  const broken = vi.spyOn(env.MEDIA, "get").mockRejectedValue(new Error("R2 is away"));
  expectError(await get(), 503, "unavailable");
  broken.mockRestore();
  const { objects } = await env.MEDIA.list({ prefix: `${chat.id}/` });
  await env.MEDIA.delete(objects.map(({ key }) => key));
  expectError(await get(), 404, "media_not_found");
  expectError(await get({ Range: "bytes=0-1" }), 404, "media_not_found");
});
