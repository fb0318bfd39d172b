import { type PartNews, printDelivery, type QueuedMessage, type StoredParts } from "../log/delivery-column.ts";
import { withoutWords } from "../log/redaction.ts";
import { withoutPastWords } from "./attempt-history.ts";

/** The parts of a redacted message, with their ids, statuses and error codes only. Its upload is forgotten. */
export function partsWithoutWords(parts: StoredParts): StoredParts {
  const { states, early, upload: _, ...rest } = parts;
  return {
    ...rest,
    ...(states && {
      states: states.map((state) => state && { ...state, error: state.error && withoutWords(state.error) }),
    }),
    ...(early && { early: early.map(newsWithoutWords) }),
  };
}

/** A status of a redacted message, without texts. `broken` stays set, because it concerns the whole channel. */
export function newsWithoutWords(news: PartNews): PartNews {
  if (!news.error) return news;
  const { code, broken } = news.error;
  const reason = broken !== undefined && { broken: `The network refused the channel with ${code}` };
  return { ...news, error: { ...withoutWords(news.error), ...reason } };
}

/** Prints the state of a redacted message's delivery, without error texts. */
export function printRedacted({ delivery, parts }: QueuedMessage): string {
  return printDelivery({ delivery: withoutPastWords(delivery), parts: partsWithoutWords(parts), lastError: null });
}
