import { ApiError } from "../model/error.ts";

/** How much of a refused body is drained, and for how long. */
const DRAIN = { bytes: 8 * 1_024 * 1_024, ms: 5_000 };

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Reads a request's whole body.
 * @param max in bytes
 * @throws ApiError `body_too_large`; or the stream's own error if the client disconnects
 */
export async function readBytes(request: Request, max: number): Promise<Bytes> {
  if (!request.body) return new Uint8Array();
  const length = request.headers.has("Transfer-Encoding") ? null : request.headers.get("Content-Length");
  if (length === null) return readStream(request.body.getReader(), max);
  if (Number(length) > max) throw new ApiError("body_too_large");
  return new Uint8Array(await request.arrayBuffer());
}

/** A body of unknown length. */
async function readStream(reader: ReadableStreamDefaultReader<Bytes>, max: number): Promise<Bytes> {
  const chunks: Bytes[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    size += value.byteLength;
    if (size > max) {
      await drain(reader);
      throw new ApiError("body_too_large");
    }
    chunks.push(value);
  }
}

/**
 * Reads and discards the rest of a refused body. The runtime closes the connection after a partly read body: a client
 * that is still writing may miss its response, and `wrangler dev` fails the next request on that connection. The
 * runtime itself drains bodies that were never read.
 */
async function drain(reader: ReadableStreamDefaultReader<Bytes>): Promise<void> {
  const stop = () => void reader.cancel().catch(() => {});
  const timer = setTimeout(stop, DRAIN.ms);
  try {
    for (let left = DRAIN.bytes; left > 0; ) {
      const { done, value } = await reader.read();
      if (done) return;
      left -= value.byteLength;
    }
    stop();
  } catch {
    // The client disconnected, so there is nothing left to read.
  } finally {
    clearTimeout(timer);
  }
}
