import type { MatchingAnswer, MessagePlace, Unknown } from "../../../model/chat-answers.ts";
import { folded } from "../../../model/folding.ts";
import { ShortSteps } from "../../../platform/object/short-steps.ts";
import type { LateTable } from "../log/chat-tables.ts";
import { SEARCHED } from "../log/searched-text.ts";

/**
 * Those of some messages that contain a text now: the index may not know yet that they changed, or went. Other calls come
 * in between.
 * @param search as `folded` returns it
 * @param exists false after the chat was deleted
 */
export async function matchingMessages(
  messages: LateTable,
  places: MessagePlace[],
  search: string,
  exists: () => boolean,
): Promise<MatchingAnswer | Unknown> {
  const steps = new ShortSteps();
  const docs: (string | null)[] = [];
  for (const { seq, at } of places) {
    // One row at a time: a redaction may come in between.
    const [row] = messages.run<{ doc: string; createdAt: string; text: string }>(
      `select doc, doc ->> '$.createdAt' as createdAt, ${SEARCHED} as text from messages where seq = ?`,
      seq,
    );
    const form = row ? folded(row.text) : "";
    docs.push(row && Date.parse(row.createdAt) === at && form.includes(search) ? row.doc : null);
    if (steps.did((row?.text.length ?? 0) + form.length)) {
      await steps.pause();
      if (!exists()) return { outcome: "unknown" };
    }
  }
  return { outcome: "ok", docs, work: Math.ceil(steps.total) };
}
