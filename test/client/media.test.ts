import { expect, test, vi } from "vitest";
import { clientOf, cut, cutInside, json } from "./server.ts";

vi.mock("../../src/platform/backoff.ts", () => ({ backoffMs: () => 10 }));

const MEDIA = { media: { id: "med_g1", contentType: "text/plain", size: 5 } };

function streamOf(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  });
}

const hello = () => new TextEncoder().encode("Hello");

test.for([
  ["bytes", hello],
  ["a blob", () => new Blob(["Hello"])],
  ["a stream", () => streamOf(hello().slice(0, 2), hello().slice(2))],
] as const)("an upload of %s that is cut is repeated whole, with its length and the same key", async ([, file]) => {
  const { parley, asked } = await clientOf([cut, cutInside, json(201, MEDIA)]);
  expect(await parley.upload("cht_g1", file(), { fileName: "a b.txt" })).toEqual(MEDIA.media);
  expect(asked).toHaveLength(3);
  expect(new Set(asked.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  for (const { method, path, query, body, headers } of asked) {
    expect({ method, path, query, body }).toEqual({
      method: "POST",
      path: "/api/v1/chats/cht_g1/media",
      query: { fileName: "a b.txt" },
      body: "Hello",
    });
    expect(headers).toMatchObject({
      authorization: "Bearer ply_test",
      "content-length": "5",
      "content-type": "application/octet-stream",
    });
  }
});

test("an upload says the type and the name of a File, unless others are given", async () => {
  const { parley, asked } = await clientOf([json(201, MEDIA)]);
  const file = new File(["Hello"], "note.txt", { type: "text/plain" });
  await parley.upload("cht_g1", file);
  await parley.upload("cht_g1", file, { fileName: "x.csv", contentType: "text/csv", idempotencyKey: "k1" });
  expect(asked.map(({ query, headers }) => [query.fileName, headers["content-type"]])).toEqual([
    ["note.txt", "text/plain"],
    ["x.csv", "text/csv"],
  ]);
  expect(asked[1]?.headers["idempotency-key"]).toBe("k1");
});

test("a stream that does not end is refused before anything is sent", async () => {
  const { parley, asked } = await clientOf([json(201, MEDIA)]);
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)) });
  await expect(parley.upload("cht_g1", endless)).rejects.toMatchObject({ code: "body_too_large", status: null });
  expect(asked).toEqual([]);
});

test("a refused upload is an error with the service's code", async () => {
  const { parley } = await clientOf([json(415, { error: "Content-Type says …", code: "media_type" })]);
  await expect(parley.upload("cht_g1", hello())).rejects.toMatchObject({ code: "media_type", status: 415 });
});

test("a download has its bytes, type and name, and continues where it was cut", async () => {
  const { parley, asked } = await clientOf([
    (response) => {
      const headers = {
        "Content-Type": "application/pdf",
        "Content-Length": "5",
        "Content-Disposition": "attachment; filename*=UTF-8''%C3%9Cber%20uns.pdf",
        ETag: '"med_g1"',
      };
      response.writeHead(200, headers).write("He", () => response.destroy());
    },
    (response) => void response.writeHead(206, { "Content-Range": "bytes 2-4/5", "Content-Length": "3" }).end("llo"),
  ]);
  const begun = await parley.media("cht_g1", "msg_g1");
  expect(begun).toMatchObject({
    contentType: "application/pdf",
    fileName: "Über uns.pdf",
    size: 5,
    offset: 0,
    etag: '"med_g1"',
  });
  await expect(new Response(begun.body).text()).rejects.toThrow();
  const rest = await parley.media("cht_g1", "msg_g1", { from: 2, etag: begun.etag });
  expect(rest).toMatchObject({ size: 5, offset: 2, fileName: null });
  expect(await new Response(rest.body).text()).toBe("llo");
  expect(asked[1]?.headers).toMatchObject({ range: "bytes=2-", "if-range": '"med_g1"' });
});

test("a file that can't be read in part comes whole", async () => {
  const { parley } = await clientOf([(response) => void response.end("Hello")]);
  expect(await parley.media("cht_g1", "msg_g1", { from: 2 })).toMatchObject({ offset: 0, etag: null, fileName: null });
});

test("a file that is gone, and a beginning behind its end, are errors", async () => {
  const { parley } = await clientOf([
    json(404, { error: "The network no longer has this file", code: "media_expired" }),
    (response) => void response.writeHead(416).end(),
  ]);
  await expect(parley.media("cht_g1", "msg_g1")).rejects.toMatchObject({ code: "media_expired" });
  await expect(parley.media("cht_g1", "msg_g1", { from: 9 })).rejects.toMatchObject({ code: "range_not_satisfiable" });
});
