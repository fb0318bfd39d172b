import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { beginUpload } from "../../../src/files/store-file.ts";
import { hurryDeadlines } from "../../support/deadlines.ts";

const SIZE = 300;
const KEY = "a-chat/1/a-file";
const BYTES = { httpMetadata: { contentType: "application/octet-stream" } };

afterEach(() => env.MEDIA.delete(KEY));

/** A body of parts of these lengths, that breaks off in the end if it is told so. */
function bodyOf(lengths: number[], { breaks = false } = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
  const left = [...lengths];
  return new ReadableStream({
    pull(controller) {
      const length = left.shift();
      if (length !== undefined) controller.enqueue(new Uint8Array(length).fill(7));
      else if (breaks) controller.error(new Error("Network connection lost."));
      else controller.close();
    },
  });
}

async function storeIn(bucket: R2Bucket, body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
  const upload = await beginUpload(body, SIZE, "application/octet-stream");
  await upload.store(bucket, KEY, false);
}

const lengthFault = (has: "fewer" | "more") => ({
  code: "validation_failed",
  faults: [{ path: "Content-Length", message: `is ${SIZE}, but the body has ${has} bytes` }],
});

test.for<[name: string, body: ReadableStream<Uint8Array<ArrayBuffer>>, has: "fewer" | "more"]>([
  ["ends early", bodyOf([100, 199]), "fewer"],
  ["ends within its first bytes", bodyOf([10]), "fewer"],
  ["breaks off", bodyOf([100, 100], { breaks: true }), "fewer"],
  ["goes on in its last part", bodyOf([100, 201]), "more"],
  ["is longer from its first part on", bodyOf([301]), "more"],
])("of a body that %s, nothing is stored", async ([, body, has]) => {
  await expect(storeIn(env.MEDIA, body)).rejects.toMatchObject(lengthFault(has));
  expect(await env.MEDIA.head(KEY)).toBeNull();
});

test("a body that goes on after its length is refused", async () => {
  await expect(storeIn(env.MEDIA, bodyOf([100, 200, 1]))).rejects.toMatchObject(lengthFault("more"));
});

test("a body that says nothing more ends with the deadline", async () => {
  const late: (() => void)[] = [];
  vi.stubGlobal("setTimeout", (run: () => void) => late.push(run));
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  vi.spyOn(env.MEDIA, "put").mockImplementation(async (_key, value) => {
    await (value as ReadableStream).getReader().read();
    resolve();
    return new Promise(() => {});
  });
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const written = writer.write(new Uint8Array(100));
  const upload = await beginUpload(readable as never, SIZE, "application/octet-stream");
  await written;
  const stored = upload.store(env.MEDIA, KEY, false);
  await taken;
  // The writer hears of it in the next turn.
  await scheduler.wait(0);
  late[0]?.();
  await expect(stored).rejects.toMatchObject({
    code: "validation_failed",
    faults: [{ path: "", message: "took longer than 5 minutes. Upload it again on a faster line" }],
  });
});

test("a bucket that never takes a byte is unavailable at the deadline", async () => {
  const late: (() => void)[] = [];
  vi.stubGlobal("setTimeout", (run: () => void) => late.push(run));
  vi.spyOn(env.MEDIA, "put").mockReturnValue(new Promise(() => {}));
  const upload = await beginUpload(bodyOf([100, 200]), SIZE, "application/octet-stream");
  const stored = upload.store(env.MEDIA, KEY, false);
  late[0]?.();
  await expect(stored).rejects.toMatchObject({ code: "unavailable" });
});

test("a bucket that takes all bytes and says nothing is unavailable at the deadline", async () => {
  const late: (() => void)[] = [];
  vi.stubGlobal("setTimeout", (run: () => void) => late.push(run));
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  vi.spyOn(env.MEDIA, "put").mockImplementation(async (_key, value) => {
    await new Response(value as ReadableStream).bytes();
    resolve();
    return new Promise(() => {});
  });
  const upload = await beginUpload(bodyOf([100, 200]), SIZE, "application/octet-stream");
  const stored = upload.store(env.MEDIA, KEY, false);
  await taken;
  await scheduler.wait(0);
  late[0]?.();
  await expect(stored).rejects.toMatchObject({ code: "unavailable" });
});

test("a bucket that does not say whether an earlier try stored the bytes is unavailable", async () => {
  vi.spyOn(env.MEDIA, "head").mockReturnValue(new Promise(() => {}));
  const upload = await beginUpload(bodyOf([100, 200]), SIZE, "application/octet-stream");
  hurryDeadlines();
  await expect(upload.store(env.MEDIA, KEY, true)).rejects.toMatchObject({ code: "unavailable" });
});

test("a repeated upload is read to its end, and a refused one too, so that its client hears the answer", async () => {
  const read = (lengths: number[]) => {
    const left = [...lengths];
    return {
      left,
      body: new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull(controller) {
          const length = left.shift();
          if (length === undefined) controller.close();
          else controller.enqueue(new Uint8Array(length).fill(7));
        },
      }),
    };
  };
  await env.MEDIA.put(KEY, new Uint8Array(SIZE).fill(1), BYTES);
  const repeated = read([100, 100, 50, 50]);
  const upload = await beginUpload(repeated.body, SIZE, "application/octet-stream");
  await upload.store(env.MEDIA, KEY, true);
  expect(repeated.left).toEqual([]);
  expect((await (await env.MEDIA.get(KEY))?.bytes())?.at(-1)).toBe(1);
  const refused = read([100, 100, 50, 50]);
  await expect(beginUpload(refused.body, SIZE, "image/png")).rejects.toMatchObject({ code: "media_type" });
  expect(refused.left).toEqual([]);
});

test("a bucket that fails amid the bytes is unavailable, and the body is read no further", async () => {
  vi.spyOn(env.MEDIA, "put").mockImplementation(async (_key, value) => {
    const reader = (value as ReadableStream).getReader();
    await reader.read();
    await reader.cancel(new Error("R2 is away"));
    throw new Error("R2 is away");
  });
  await expect(storeIn(env.MEDIA, bodyOf([100, 100, 100]))).rejects.toMatchObject({ code: "unavailable" });
});

test("bytes that are stored stay, and an upload of the same length needs no other ones", async () => {
  await env.MEDIA.put(KEY, new Uint8Array(SIZE).fill(1), BYTES);
  await storeIn(env.MEDIA, bodyOf([100, 200]));
  expect((await (await env.MEDIA.get(KEY))?.bytes())?.at(-1)).toBe(1);
  for (const [length, type] of [
    [2, "application/octet-stream"],
    [SIZE, "text/html"],
  ] as const) {
    await env.MEDIA.put(KEY, new Uint8Array(length), { httpMetadata: { contentType: type } });
    await expect(storeIn(env.MEDIA, bodyOf([100, 200]))).rejects.toMatchObject({ code: "idempotency_mismatch" });
  }
});
