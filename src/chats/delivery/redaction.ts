import { withoutWords } from "../log/redaction.ts";
import type { PartNews, StoredParts } from "./parts.ts";

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
