import { expect, test } from "vitest";
import { telegram } from "../../../../src/channels/telegram/adapter.ts";
import type { MediaAsk } from "../../../../src/model/network.ts";
import { fakeNetwork, WHOLE } from "../fake-network.ts";
import { credentials, network, ok, refused, TOKEN } from "./network.ts";

const MIB = 1_024 * 1_024;

function found(path: unknown = "photos/file_1.jpg") {
  return ok({ file_id: "F1", file_unique_id: "U1", file_path: path });
}

function bytes(body: BodyInit | null, headers: HeadersInit = {}, status = 200) {
  return () => new Response(body, { status, headers });
}

function media(ask: MediaAsk = WHOLE) {
  return telegram.media("F1", credentials, network, ask);
}

/** The bytes of media that was found. */
async function bodyOf(answer: Awaited<ReturnType<typeof media>>): Promise<Uint8Array> {
  if (answer.outcome !== "found") throw new Error(JSON.stringify(answer));
  return new Uint8Array(await new Response(answer.body).arrayBuffer());
}

test("media is asked for by its id and fetched from its path, at the configured base, without following redirects", async () => {
  const sent = fakeNetwork(found(), bytes("picture", { "Content-Type": "image/jpeg", "Content-Length": "7" }));
  const answer = await media();
  expect(answer).toMatchObject({ outcome: "found", contentType: "image/jpeg", length: 7 });
  expect(new TextDecoder().decode(await bodyOf(answer))).toBe("picture");
  expect(sent).toEqual([
    {
      url: `https://telegram.test/bot${TOKEN}/getFile`,
      method: "POST",
      headers: { "content-type": "application/json" },
      redirect: "manual",
      body: { file_id: "F1" },
    },
    {
      url: `https://telegram.test/file/bot${TOKEN}/photos/file_1.jpg`,
      method: undefined,
      headers: { "accept-encoding": "identity" },
      redirect: "manual",
      body: undefined,
    },
  ]);
});

test("media is passed on while it comes, and not collected first", async () => {
  let pulled = 0;
  const slow = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1_024));
      if (pulled === 1_000) controller.close();
    },
  });
  fakeNetwork(found(), bytes(slow));
  const answer = await media();
  expect(pulled).toBeLessThan(10);
  expect((await bodyOf(answer)).byteLength).toBe(1_024_000);
});

test.each([
  ["a file id that is wrong", [refused(400, "Bad Request: invalid file_id")], 0],
  [
    "a file that may come back",
    [refused(400, "Bad Request: wrong file_id or the file is temporarily unavailable")],
    null,
  ],
  ["a file id that is unknown", [refused(404, "Not Found")], null],
  ["a path that has run out", [found(), bytes('{"ok":false,"error_code":404}', {}, 404)], null],
] as const)("media is expired for %s", async (_, replies, finalAfterDays) => {
  fakeNetwork(...replies);
  expect(await media()).toEqual({ outcome: "expired", finalAfterDays });
});

test("a file that is too big for a bot is not gone", async () => {
  fakeNetwork(refused(400, "Bad Request: file is too big"));
  expect(await media()).toEqual({ outcome: "too_large" });
});

test("without its bytes, a file is looked up alone", async () => {
  const sent = fakeNetwork(ok({ file_id: "F1", file_path: "a/b.jpg", file_size: 7 }), ok({ file_path: "a/b.jpg" }));
  const told = { outcome: "found", body: null, contentType: null, length: 7, contentRange: null };
  expect(await media({ isHead: true, range: null })).toEqual(told);
  expect(await media({ isHead: true, range: null })).toEqual({ ...told, length: null });
  expect(sent).toHaveLength(2);
});

const asked = (range: string, reply: Parameters<typeof fakeNetwork>[0]) => {
  fakeNetwork(found(), reply);
  return media({ isHead: false, range });
};
const partial = (told: string, body = "pic") => bytes(body, { "Content-Range": told }, 206);

test.each([
  ["bytes=0-2", "bytes 0-2/7"],
  ["bytes=0-2", "bytes 0-2/3"],
  ["bytes=4-", "bytes 4-6/7"],
  ["bytes=4-99", "bytes 4-6/7"],
  ["bytes=-3", "bytes 4-6/7"],
  ["bytes=-9", "bytes 0-2/3"],
])("the part %s is passed on as %s", async (range, told) => {
  const answer = await asked(range, partial(told));
  expect(answer).toMatchObject({ outcome: "found", length: 3, contentRange: told });
  expect(new TextDecoder().decode(await bodyOf(answer))).toBe("pic");
});

test.each([
  ["bytes=0-2", "bytes 1-3/7"],
  ["bytes=0-2", "bytes 0-1/7"],
  ["bytes=0-2", "bytes 0-3/7"],
  ["bytes=0-9", "bytes 0-9/7"],
  ["bytes=2-", "bytes 2-1/7"],
  ["bytes=-3", "bytes 0-2/7"],
  ["bytes=0-2", "bytes 0-2/*"],
  ["bytes=0-2", "bytes */7"],
  ["bytes=0-2", ""],
])("another part than %s, %s, is not passed on", async (range, told) => {
  const message = "Telegram answered 206 to the download";
  expect(await asked(range, partial(told))).toEqual({ outcome: "unavailable", message });
});

test("a part that breaks off fails, and one that is longer than it says too", async () => {
  for (const body of ["pi", "pict"]) {
    const answer = await asked("bytes=0-2", partial("bytes 0-2/7", body));
    await expect(bodyOf(answer)).rejects.toThrow();
  }
});

test("a network that knows no parts sends the whole file, and one that has no such part says so", async () => {
  expect(await asked("bytes=0-2", bytes("picture"))).toMatchObject({ outcome: "found", contentRange: null });
  const none = (told: string) => asked("bytes=9-", bytes("no", { "Content-Range": told }, 416));
  expect(await none("bytes */7")).toEqual({ outcome: "no_such_part", size: 7 });
  expect(await none("bytes */*")).toEqual({ outcome: "no_such_part", size: null });
  fakeNetwork(found(), bytes("no", {}, 416));
  expect(await media()).toMatchObject({ outcome: "unavailable" });
});

const NO_CONNECTION = "The connection to Telegram failed";
const NO_FILE = "The media is empty or too large";

test.each<[string, Parameters<typeof fakeNetwork>, string]>([
  ["a wrong token", [refused(401, "Unauthorized")], "Unauthorized"],
  ["too many calls", [refused(429, "Too Many Requests", { retry_after: 5 })], "Too Many Requests"],
  ["a fault of Telegram's", [refused(502, "Bad Gateway")], "Bad Gateway"],
  ["an answer that is no JSON", [bytes("<html>")], "Telegram's answer could not be understood"],
  ["a page with the status 400", [bytes("<html>", {}, 400)], "Telegram's answer could not be understood"],
  ["a redirect of the lookup", [bytes(null, { Location: "https://evil.test/" }, 302)], "Telegram answered 302"],
  ["a connection that breaks", [() => Promise.reject(new Error(`no route to /bot${TOKEN}/getFile`))], NO_CONNECTION],
  [
    "a redirect of the file",
    [found(), bytes(null, { Location: "https://evil.test/a" }, 302)],
    "Telegram answered 302 to the download",
  ],
  [
    "a redirect to the same host",
    [found(), bytes(null, { Location: "/file/other" }, 307)],
    "Telegram answered 307 to the download",
  ],
  ["a fault while the file is asked for", [found(), bytes("oops", {}, 500)], "Telegram answered 500 to the download"],
  ["a part of a file", [found(), bytes("pict", {}, 206)], "Telegram answered 206 to the download"],
  ["a file without a body", [found(), bytes(null)], NO_FILE],
  ["a file that says it is too big", [found(), bytes("x", { "Content-Length": String(20 * MIB + 1) })], NO_FILE],
  [
    "a connection that breaks at the file",
    [found(), () => Promise.reject(new Error(`/file/bot${TOKEN}/a`))],
    NO_CONNECTION,
  ],
])("media is unavailable for %s, and the token goes no further", async (_, replies, message) => {
  const sent = fakeNetwork(...replies);
  expect(await media()).toEqual({ outcome: "unavailable", message });
  expect(sent).toHaveLength(replies.length);
});

test("a file of 20 MiB is passed on, and breaks off if fewer bytes come", async () => {
  fakeNetwork(found(), bytes("x", { "Content-Length": String(20 * MIB) }));
  const answer = await media();
  expect(answer).toMatchObject({ outcome: "found", length: 20 * MIB });
  await expect(bodyOf(answer)).rejects.toThrow();
});

test.each([
  ["an address", "https://evil.test/a.jpg"],
  ["a scheme", "file:etc/passwd"],
  ["a host", "//evil.test/a.jpg"],
  ["the root", "/etc/passwd"],
  ["a way up", "../../bot/getUpdates"],
  ["a way up amid", "photos/../../x"],
  ["a way up at the end", "photos/.."],
  ["a step of nothing", "photos//a.jpg"],
  ["a step that stays", "photos/./a.jpg"],
  ["an encoded way up", "photos/%2e%2e/x"],
  ["a backslash", "photos\\..\\x"],
  ["a newline", "photos/a\r\nHost: evil.test"],
  ["a NUL", "photos/a\0.jpg"],
  ["half a surrogate pair", "photos/\ud83d.jpg"],
  ["a user", "@evil.test:80/a"],
  ["nothing", ""],
  ["a number", 5],
  ["null", null],
  ["undefined", undefined],
  ["a list", ["photos", "a.jpg"]],
  ["too much", `${"a/".repeat(300)}a`],
])("a path with %s is not fetched", async (_, path) => {
  const sent = fakeNetwork(ok({ file_path: path }));
  expect(await media()).toEqual({ outcome: "unavailable", message: "Telegram returned no valid file path" });
  expect(sent).toHaveLength(1);
});

test.each([
  ["documents/file 1.pdf", "documents/file%201.pdf"],
  ["documents/a?b#c.txt", "documents/a%3Fb%23c.txt"],
  ["documents/отчёт.pdf", "documents/%D0%BE%D1%82%D1%87%D1%91%D1%82.pdf"],
  ["file_2", "file_2"],
  ["a/b/c..d.txt", "a/b/c..d.txt"],
])("the path %s is fetched step by step encoded", async (path, fetched) => {
  const sent = fakeNetwork(found(path), bytes("x"));
  expect(await media()).toMatchObject({ outcome: "found" });
  expect(sent[1]?.url).toBe(`https://telegram.test/file/bot${TOKEN}/${fetched}`);
});

test.each([
  ["image/png", "image/png"],
  ["Image/PNG; charset=binary", "image/png"],
  ["text/html", null],
])("the content type %s is told as %s", async (given, told) => {
  fakeNetwork(found(), bytes("x", { "Content-Type": given }));
  expect(await media()).toMatchObject({ outcome: "found", contentType: told });
});

test("media that grows beyond what Telegram hands out breaks off", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(MIB));
    },
  });
  fakeNetwork(found(), bytes(endless));
  await expect(media().then(bodyOf)).rejects.toThrow("too large");
  expect(pulled).toBeLessThan(30);
});
