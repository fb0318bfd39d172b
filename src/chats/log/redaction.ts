import type { Message } from "../message.ts";

/** Redaction removes a message's text. A network may quote the text in an error, so error texts are removed too. */

const REDACTED = "The message was redacted";

/** The redacted message. It keeps its id, number, times and status, and its error's code. */
export function redacted(message: Message): Message {
  const error = message.error && withoutWords(message.error);
  const blank = { ...message, content: "", text: "", variables: null, mediaUrl: null, metadata: {}, error };
  if (message.status !== "QUEUED") return blank;
  return { ...blank, status: "FAILED", error: { code: "redacted", message: `${REDACTED} before it was delivered` } };
}

/** An error with its code but without the network's text. */
export function withoutWords({ code }: { code: string }): { code: string; message: string } {
  return { code, message: REDACTED };
}
