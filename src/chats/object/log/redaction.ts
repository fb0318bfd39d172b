import type { ShownMessage } from "../../../model/message.ts";
import { WORDS } from "../../../model/received.ts";
import { withStatus } from "../status-change.ts";

/**
 * Redaction, or the contact's deletion, removes a message's text. A network may quote the text in an error, so error
 * texts are removed too.
 */

const REDACTED = "The message was redacted";

const BLANK_EXTRAS = {
  interactive: undefined,
  location: undefined,
  contacts: undefined,
  media: undefined,
  replyTo: undefined,
  template: undefined,
  choice: undefined,
  sticker: undefined,
  ...Object.fromEntries(WORDS.map((field) => [field, undefined])),
  reactions: undefined,
};

/**
 * The blank message. It keeps its id, number, times and status, and its error's code. A queued message
 * fails, and a scheduled one is canceled.
 * @param at Unix milliseconds
 * @param time the field that says when it became blank, and by whom
 */
export function redacted<Shown extends ShownMessage>(
  message: Shown,
  at: number,
  time: "redactedAt" | "deletedAt" = "redactedAt",
): Shown {
  const blank: Shown = {
    ...message,
    content: "",
    text: "",
    variables: null,
    mediaUrl: null,
    metadata: {},
    error: message.error && withoutWords(message.error),
    ...BLANK_EXTRAS,
    [time]: new Date(at).toISOString(),
  };
  if (message.status === "SCHEDULED") return withStatus(blank, { status: "CANCELED", error: null, at });
  if (message.status !== "QUEUED") return blank;
  const error = { code: "redacted", message: `${REDACTED} before it was delivered` };
  return withStatus(blank, { status: "FAILED", error, at });
}

/** Whether nothing is left of what a message said. */
export function isBlank({ redactedAt, deletedAt }: ShownMessage): boolean {
  return (redactedAt ?? deletedAt) !== undefined;
}

/** An error with its code but without the network's text. */
export function withoutWords({ code }: { code: string }): { code: string; message: string } {
  return { code, message: REDACTED };
}
