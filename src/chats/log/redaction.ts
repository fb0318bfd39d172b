import type { PartNews } from "../delivery/parts.ts";
import type { DeliveryError } from "../delivery/schedule.ts";
import type { Message } from "../message.ts";
import type { StoredParts } from "./message-log.ts";

/** A redaction leaves nothing of a message's text. A network may quote the text in an error, so its words go too. */

const REDACTED = "The message was redacted";

/** A message after its redaction. Its id, number, times and status stay, and the code of its error. */
export function redacted(message: Message): Message {
  const error = message.error && withoutWords(message.error);
  const blank = { ...message, content: "", text: "", variables: null, mediaUrl: null, metadata: {}, error };
  if (message.status !== "QUEUED") return blank;
  return { ...blank, status: "FAILED", error: { code: "redacted", message: `${REDACTED} before it was delivered` } };
}

/** What delivery still knows of the parts of a redacted message: their ids, statuses and error codes. */
export function partsWithoutWords({ states, early, ...rest }: StoredParts): StoredParts {
  return {
    ...rest,
    ...(states && {
      states: states.map((state) => state && { ...state, error: state.error && withoutWords(state.error) }),
    }),
    ...(early && { early: early.map(newsWithoutWords) }),
  };
}

/** A status of a redacted message. `broken` stays set, because it concerns the whole channel. */
export function newsWithoutWords(news: PartNews): PartNews {
  if (!news.error) return news;
  const { code, broken } = news.error;
  const reason = broken !== undefined && { broken: `The network refused the channel with ${code}` };
  return { ...news, error: { ...withoutWords(news.error), ...reason } };
}

function withoutWords({ code }: DeliveryError): DeliveryError {
  return { code, message: REDACTED };
}
