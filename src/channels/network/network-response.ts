/** Reads responses of networks safely: they may be huge, slow or hostile, and Cloudflare's instead of the network's. */
import type { PartRefusal } from "../../model/network.ts";
import { unansweredStatus } from "../../platform/unanswered-status.ts";
import { notAccepted } from "./refusals.ts";

/** The text of a response's body; null if it is longer than `maxBytes`, is cut off, or has not ended when `signal` aborts. */
export async function readText(response: Response, maxBytes: number, signal: AbortSignal): Promise<string | null> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const stop = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", stop);
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

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Cancels the body of a response that will not be read. */
export function discard(response: Response): void {
  void response.body?.cancel().catch(() => {});
}

/**
 * Cloudflare's word that the network did not answer, as the outcome of a call; null if the response is the network's own.
 * The caller has looked for the network's JSON before: a response with it is always the network's.
 */
export function refusalByCloudflare(status: number): PartRefusal | null {
  const unanswered = unansweredStatus(status);
  if (!unanswered) return null;
  const { mayBeSent, message } = unanswered;
  return mayBeSent ? { outcome: "unknown", message } : notAccepted("connection", message);
}

/** Why a response without the network's words is of no use: `text`, unless Cloudflare answered in the network's place. */
export function statusText(status: number, text: string): string {
  return unansweredStatus(status)?.message ?? text;
}

/** The `Content-Length` of a response; null if it is absent, or if the body is encoded and its decoded length differs. */
export function contentLength(headers: Headers): number | null {
  const text = headers.get("Content-Length")?.match(/^\d{1,15}$/)?.[0];
  return text && !headers.has("Content-Encoding") ? Number(text) : null;
}

/** Fails a stream after `max` bytes, or if it ends before `min`, for responses with an unknown or wrong length. */
export function limitBytes(max: number, min = 0): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      if ((bytes += chunk.byteLength) > max) controller.error(new Error("The media is too large"));
      else controller.enqueue(chunk);
    },
    flush(controller) {
      if (bytes < min) controller.error(new Error("The media was cut off"));
    },
  });
}

const CONTENT_TYPE = /^(?:application|audio|font|image|model|text|video)\/[\w.+-]{1,100}$/;
const ACTIVE = /html|script|svg|[/+]x[ms]l|shockwave/;

/** A content type without its parameters. */
export function plainType(text: string | null | undefined): string {
  return (text ?? "").replace(/;.*/s, "").trim().toLowerCase();
}

/** What a network says that a file is, without parameters; null if that is malformed or says nothing. */
export function receivedContentType(text: string | null | undefined): string | null {
  const type = plainType(text);
  return CONTENT_TYPE.test(type) && type !== "application/octet-stream" ? type : null;
}

/** The type of a response with a network's file; null as in `receivedContentType`, and if it may contain scripts. */
export function safeContentType(text: string | null | undefined): string | null {
  const type = receivedContentType(text);
  return type !== null && ACTIVE.test(type) ? null : type;
}
