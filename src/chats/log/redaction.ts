import type { Message } from "../message.ts";

/** A redaction leaves nothing of a message's text. A network may quote the text in an error, so its words go too. */

const REDACTED = "The message was redacted";

/** A message after its redaction. Its id, number, times and status stay, and the code of its error. */
export function redacted(message: Message): Message {
  const error = message.error && withoutWords(message.error);
  const blank = { ...message, content: "", text: "", variables: null, mediaUrl: null, metadata: {}, error };
  if (message.status !== "QUEUED") return blank;
  return { ...blank, status: "FAILED", error: { code: "redacted", message: `${REDACTED} before it was delivered` } };
}

/** An error without the network's words. */
export function withoutWords({ code }: { code: string }): { code: string; message: string } {
  return { code, message: REDACTED };
}
