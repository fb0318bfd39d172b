import type { Place } from "../http/pagination.ts";
import type { ListAnswer } from "./answers.ts";
import { pageRange, rangeAfter, rangeBefore } from "./listing.ts";
import type { MessageLog } from "./message-log.ts";

/** A page of a chat's messages, most recent first, as it goes to the client. `newest` is the highest number. */
export function readPage(log: MessageLog, newest: number, place: Place): ListAnswer {
  if ("page" in place) return answer(log, pageRange(newest, place.page, place.limit));
  const cursor = log.byId("before" in place ? place.before : place.after);
  if (!cursor) return { outcome: "unknown_cursor" };
  const select = "before" in place ? rangeBefore : rangeAfter;
  return answer(log, select(newest, cursor.seq, place.limit));
}

function answer(
  log: MessageLog,
  { range, pagination }: ReturnType<typeof pageRange> | ReturnType<typeof rangeBefore>,
): ListAnswer {
  const documents = log.documents(range);
  return { outcome: "ok", body: `{"messages":[${documents}],"pagination":${JSON.stringify(pagination)}}` };
}
