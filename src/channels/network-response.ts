/** What both networks' adapters need to read an answer that may be huge, slow or hostile. */

/** The text of an answer's body; null where it is longer than `maxBytes`, breaks off, or has not ended at `signal`. */
export async function readText(response: Response, maxBytes: number, signal: AbortSignal): Promise<string | null> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const stop = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  try {
    const decoder = new TextDecoder();
    let text = "";
    for (let bytes = 0; !signal.aborted; ) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      if (bytes > maxBytes) return null;
      text += decoder.decode(value, { stream: true });
    }
    return signal.aborted ? null : text + decoder.decode();
  } catch {
    return null;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** A text as JSON; undefined where it is none. */
export function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

/** Lets go of a body that nobody will read. */
export function discard(response: Response): void {
  void response.body?.cancel().catch(() => {});
}

/** The length that an answer says it has; null where it says none, or is encoded and so has another in the end. */
export function contentLength(headers: Headers): number | null {
  const text = headers.get("Content-Length") ?? "";
  return /^\d{1,15}$/.test(text) && !headers.has("Content-Encoding") ? Number(text) : null;
}

/** Breaks a stream off after `max` bytes, for answers that don't say how long they are, or lie. */
export function limitBytes(max: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      if ((bytes += chunk.byteLength) > max) controller.error(new Error("The media is too large"));
      else controller.enqueue(chunk);
    },
  });
}

const CONTENT_TYPE = /^(?:application|audio|font|image|model|text|video)\/[\w.+-]{1,100}$/;
const ACTIVE = /html|script|svg|[/+]x[ms]l|shockwave/;

/** A content type without its parameters; null for one that is malformed, says nothing, or that a browser would run. */
export function safeContentType(text: string | null | undefined): string | null {
  const type = text?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return CONTENT_TYPE.test(type) && !ACTIVE.test(type) && type !== "application/octet-stream" ? type : null;
}
