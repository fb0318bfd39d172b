import { answerOfR2 } from "../calls/file-bucket.ts";
import { fault } from "../http/validation.ts";
import { ApiError, unavailable } from "../model/error.ts";
import type { FileInfo } from "../model/file.ts";
import { sidesOf } from "./dimensions.ts";
import { SNIFFED_BYTES, typeOfBytes } from "./sniff.ts";

/** The maximum part of an upload that is in memory: a photo's dimensions can come after a long EXIF block. */
const MAX_HEAD = 512 * 1_024;
/** Half the time that a reservation lasts: late bytes must find their row. */
const DEADLINE_MS = 300_000;

const LATE = new Error("The upload took too long");

type Bytes = Uint8Array<ArrayBuffer>;

/** A body that is read in two steps: its first bytes, which say what it is, and then all of it into the bucket. */
export interface IncomingFile {
  info: Pick<FileInfo, "contentType" | "size" | "width" | "height">;
  /**
   * @param isRepeated whether an earlier try may have stored the same bytes
   * @throws ApiError `validation_failed` if the body is not as long as it said; `idempotency_mismatch` if an earlier try
   *   stored another file; `unavailable` if R2 does not take it
   */
  store(bucket: R2Bucket, key: string, isRepeated: boolean): Promise<void>;
  /** Reads the rest and drops it: a client that is still sending may not hear an answer before. Never throws. */
  drop(): Promise<void>;
}

/**
 * Reads the first bytes of an upload.
 * @param size its `Content-Length`, at least 1
 * @param declared its `Content-Type`, without parameters
 * @throws ApiError `media_type` if the bytes are not what the client says; `validation_failed` if the body ends early
 */
export async function beginUpload(body: ReadableStream<Bytes>, size: number, declared: string): Promise<IncomingFile> {
  const reader = body.getReader();
  const stop = new AbortController();
  stop.signal.addEventListener("abort", () => void reader.cancel().catch(() => {}));
  const { promise: late, reject } = Promise.withResolvers<never>();
  late.catch(() => {});
  const deadline = setTimeout(() => {
    reject(LATE);
    stop.abort();
  }, DEADLINE_MS);
  const drop = () => dropRest(reader, late).finally(() => clearTimeout(deadline));
  try {
    const head = new Head();
    await head.fill(reader, Math.min(size, SNIFFED_BYTES), size);
    const found = typeOfBytes(head.bytes, declared);
    if (found.type === null) throw wrongType(declared, found.found);
    const { type: contentType } = found;
    let sides = sidesOf(head.bytes, contentType);
    for (let want = 8_192; sides === "more" && want <= MAX_HEAD && head.length < size; want *= 8) {
      await head.fill(reader, Math.min(size, want), size);
      sides = sidesOf(head.bytes, contentType);
    }
    const { width, height } = sides === "more" || sides === null ? { width: null, height: null } : sides;
    const info = { contentType, size, width, height };
    const mark = markOf(head.bytes, info);
    const rest: Rest = { body, reader, stop, late, head: head.bytes, isOnItsWay: false, mark, ...info };
    return {
      info,
      drop,
      async store(bucket, key, isRepeated) {
        const earlier = isRepeated ? await answerOfR2(() => bucket.head(key)) : null;
        if (earlier) {
          await drop();
          if (!isSame(earlier, rest)) throw new ApiError("idempotency_mismatch");
          return;
        }
        await store(bucket, key, rest).finally(() => clearTimeout(deadline));
      },
    };
  } catch (error) {
    await drop();
    throw error;
  }
}

/** Reads a body and drops it: see `IncomingFile.drop`. Never throws. */
export async function dropBody(body: ReadableStream<Bytes>): Promise<void> {
  await body.pipeTo(new WritableStream(), { signal: AbortSignal.timeout(DEADLINE_MS) }).catch(() => {});
}

async function dropRest(reader: ReadableStreamDefaultReader<Bytes>, late: Promise<never>): Promise<void> {
  try {
    while (!(await Promise.race([reader.read(), late])).done);
  } catch {
    // It broke off, is too late, or was passed on.
  }
}

interface Rest {
  body: ReadableStream<Bytes>;
  /** Has read the head. */
  reader: ReadableStreamDefaultReader<Bytes>;
  /** Ends the body. */
  stop: AbortController;
  /** Rejects at the deadline: a body that says nothing more holds up the put, even if it is ended. */
  late: Promise<never>;
  head: Uint8Array;
  /** Whether R2 has begun to take it, and not yet got all of it. */
  isOnItsWay: boolean;
  contentType: string;
  size: number;
  /** See `markOf`. */
  mark: string;
}

/**
 * Tells files apart: the first bytes, and the sides, which may come later in the file. It is stored beside the bytes. So
 * what a repeated upload says of itself is never taken for what an earlier try has stored.
 */
function markOf(head: Uint8Array, { width, height }: IncomingFile["info"]): string {
  return `${head.subarray(0, SNIFFED_BYTES).toHex()} ${width}x${height}`;
}

/** Whether R2 holds this file. Bytes that an earlier version stored have no mark. */
function isSame(stored: R2Object, { contentType, size, mark }: Pick<Rest, "contentType" | "size" | "mark">): boolean {
  const { httpMetadata, customMetadata } = stored;
  const knownMark = customMetadata?.mark ?? mark;
  return stored.size === size && httpMetadata?.contentType === contentType && knownMark === mark;
}

/** Never overwrites bytes: those of an earlier try of the same upload stay. */
async function store(bucket: R2Bucket, key: string, rest: Rest): Promise<void> {
  const { stop, late, contentType, size, mark } = rest;
  const { readable, writable } = new FixedLengthStream(size);
  const passed = pass(rest, writable);
  // The put fails too.
  passed.catch(() => {});
  try {
    const put = bucket.put(key, readable, {
      onlyIf: { etagDoesNotMatch: "*" },
      httpMetadata: { contentType },
      customMetadata: { mark },
    });
    const stored = await Promise.race([put, late]);
    if (stored) return;
    stop.abort();
    const earlier = await answerOfR2(() => bucket.head(key));
    if (!earlier) throw new Error("The earlier bytes are gone");
    if (!isSame(earlier, rest)) throw new ApiError("idempotency_mismatch");
  } catch (error) {
    const fault = await faultOf(error, rest);
    stop.abort();
    throw fault;
  }
}

/** Passes a body on without a step in JavaScript for each part of it, whose garbage would fill the memory. */
async function pass(rest: Rest, writable: WritableStream<Uint8Array>): Promise<void> {
  const { body, reader, stop, head } = rest;
  const writer = writable.getWriter();
  await writer.write(head);
  rest.isOnItsWay = true;
  writer.releaseLock();
  reader.releaseLock();
  await body.pipeTo(writable, { signal: stop.signal });
  rest.isOnItsWay = false;
}

/** Why an upload failed: the body ended early, goes on too long or is too late, or R2 does not take it. */
async function faultOf(error: unknown, { body, size, isOnItsWay }: Rest): Promise<ApiError> {
  if (error instanceof ApiError) return error;
  if (error === LATE) return isOnItsWay ? tooLate() : unavailable(error);
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (name === "TypeError" && message.includes("FixedLengthStream"))
    return otherLength(size, !message.includes("many"));
  return (await isBroken(body)) ? otherLength(size, true) : unavailable(error);
}

/** Whether a body broke off, and not what it was written to. */
async function isBroken(body: ReadableStream<Bytes>): Promise<boolean> {
  // It is still being passed on.
  if (body.locked) return false;
  const closed = body.getReader().closed.then(
    () => false,
    () => true,
  );
  return Promise.race([closed, scheduler.wait(0).then(() => false)]);
}

/** The first bytes of a body. */
class Head {
  bytes: Uint8Array = new Uint8Array();

  get length(): number {
    return this.bytes.byteLength;
  }

  /**
   * Reads until there are this many bytes.
   * @param size of the whole body
   * @throws ApiError `validation_failed` if the body ends before
   */
  async fill(reader: ReadableStreamDefaultReader<Bytes>, count: number, size: number): Promise<void> {
    const chunks = [this.bytes];
    let { length } = this;
    while (length < count) {
      const { done, value } = await reader.read().catch(() => ({ done: true as const, value: undefined }));
      if (done) throw otherLength(size, true);
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
  if (declared.startsWith("multipart/")) {
    const text = `Content-Type says ${declared}. Send the file itself as the body, with its own Content-Type`;
    return new ApiError("media_type", { text });
  }
  const is = found === null ? "its first bytes are not of that type" : `its first bytes are ${found}`;
  return new ApiError("media_type", { text: `Content-Type says ${declared}, but ${is}` });
}

function tooLate(): ApiError {
  return fault("", `took longer than ${DEADLINE_MS / 60_000} minutes. Upload it again on a faster line`);
}

function otherLength(size: number, isShort: boolean): ApiError {
  return fault("Content-Length", `is ${size}, but the body has ${isShort ? "fewer" : "more"} bytes`);
}
