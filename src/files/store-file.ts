import { ApiError, unavailable } from "../http/errors.ts";
import { fault } from "../http/validation.ts";
import { isMeasured, sidesOf } from "./dimensions.ts";
import type { FileInfo } from "./file.ts";
import { SNIFFED_BYTES, typeOfBytes } from "./sniff.ts";

/** Of each upload, so much is in memory at most: a photo's sides can stand behind a long EXIF. */
const MAX_HEAD = 512 * 1_024;
/** Half the time that a reservation lasts: late bytes must find their row. */
const DEADLINE_MS = 300_000;

type Bytes = Uint8Array<ArrayBuffer>;

/** A body that is read in two steps: its first bytes, which say what it is, and then all of it into the bucket. */
export interface IncomingFile {
  info: Pick<FileInfo, "contentType" | "size" | "width" | "height">;
  /** @throws ApiError `validation_failed` if the body is not as long as it said; `unavailable` if R2 does not take it */
  store(bucket: R2Bucket, key: string): Promise<void>;
}

/**
 * Reads the first bytes of an upload.
 * @param size its `Content-Length`, at least 1
 * @param declared its `Content-Type`, without parameters
 * @throws ApiError `media_type` if the bytes are not what the client says; `validation_failed` if the body ends early
 */
export async function beginUpload(body: ReadableStream<Bytes>, size: number, declared: string): Promise<IncomingFile> {
  const reader = body.getReader();
  const late = setTimeout(() => void reader.cancel().catch(() => {}), DEADLINE_MS);
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  void over.then(() => clearTimeout(late));
  try {
    const head = new Head();
    await head.fill(reader, Math.min(size, SNIFFED_BYTES));
    const found = typeOfBytes(head.bytes, declared);
    if (found.type === null) throw wrongType(declared, found.found);
    const { type: contentType } = found;
    let sides = isMeasured(contentType) ? sidesOf(head.bytes) : null;
    for (let want = 4_096; isMeasured(contentType) && !sides && want <= MAX_HEAD && head.length < size; want *= 2) {
      await head.fill(reader, Math.min(size, want));
      sides = sidesOf(head.bytes);
    }
    const info = { contentType, size, width: sides?.width ?? null, height: sides?.height ?? null };
    return { info, store: (bucket, key) => store(bucket, key, { reader, head: head.bytes, ...info }).finally(end) };
  } catch (error) {
    end();
    void reader.cancel().catch(() => {});
    throw error;
  }
}

interface Rest {
  reader: ReadableStreamDefaultReader<Bytes>;
  head: Uint8Array;
  contentType: string;
  size: number;
}

/** Never overwrites bytes: those of an earlier try of the same upload stay. */
async function store(bucket: R2Bucket, key: string, { reader, head, contentType, size }: Rest): Promise<void> {
  const { readable, writable } = new FixedLengthStream(size);
  const body = pump(reader, head, writable.getWriter(), size);
  // A body that ends early fails the put too, but says why.
  body.catch(() => {});
  try {
    const stored = await bucket.put(key, readable, {
      onlyIf: { etagDoesNotMatch: "*" },
      httpMetadata: { contentType },
    });
    if (stored) {
      await body;
      return;
    }
    void reader.cancel().catch(() => {});
    if ((await bucket.head(key))?.size !== size) throw new Error("Other bytes are stored");
  } catch (error) {
    void reader.cancel().catch(() => {});
    const ofBody = await Promise.race([
      body.then(
        () => null,
        (cause: unknown) => cause,
      ),
      scheduler.wait(0),
    ]);
    throw ofBody instanceof ApiError ? ofBody : unavailable(error);
  }
}

/** @throws ApiError `validation_failed` if the body has another length than it said */
async function pump(
  reader: ReadableStreamDefaultReader<Bytes>,
  head: Uint8Array,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  size: number,
): Promise<void> {
  let written = head.byteLength;
  try {
    await writer.write(head);
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true as const, value: undefined }));
      if (done) break;
      written += value.byteLength;
      if (written > size) break;
      await writer.write(value);
    }
    if (written !== size) throw otherLength(size, written);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
}

/** The first bytes of a body. */
class Head {
  bytes: Uint8Array = new Uint8Array();

  get length(): number {
    return this.bytes.byteLength;
  }

  /** Reads until there are so many bytes. @throws ApiError `validation_failed` if the body ends before */
  async fill(reader: ReadableStreamDefaultReader<Bytes>, count: number): Promise<void> {
    const chunks = [this.bytes];
    let { length } = this;
    while (length < count) {
      const { done, value } = await reader.read().catch(() => ({ done: true as const, value: undefined }));
      if (done) throw otherLength(count, length);
      chunks.push(value);
      length += value.byteLength;
    }
    if (chunks.length === 1) return;
    this.bytes = new Uint8Array(length);
    let at = 0;
    for (const chunk of chunks) {
      this.bytes.set(chunk, at);
      at += chunk.byteLength;
    }
  }
}

function wrongType(declared: string, found: string | null): ApiError {
  const is = found === null ? "its first bytes are not of that type" : `its first bytes are ${found}`;
  return new ApiError("media_type", { text: `Content-Type says ${declared || "nothing"}, but ${is}` });
}

function otherLength(size: number, length: number): ApiError {
  return fault("Content-Length", `is ${size}, but the body has ${length < size ? "fewer" : "more"} bytes`);
}
