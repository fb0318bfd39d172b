import { directory } from "../db/client.ts";
import { rowsAfter } from "../db/rows.ts";
import { channels, members, templates } from "../db/schema.ts";
import { presentSettings } from "../management/channels.ts";
import { presentMember } from "../management/members.ts";
import { presentTemplate } from "../management/templates.ts";
import type { ListName, ListPlace } from "./cursor.ts";

const ROWS_AT_ONCE = 100;

/** How a row of each list is shown: without secrets, not even the ends of credentials. */
const SHOWN = {
  members: { type: "member", table: members, present: presentMember },
  channels: { type: "channel", table: channels, present: presentSettings },
  templates: { type: "template", table: templates, present: presentTemplate },
} as const;

/**
 * Up to 100 rows of a list behind a place, oldest first, as lines of JSON, in one query of the directory.
 * @returns `place`: the last row; null if there are none
 */
export async function listLines(
  env: Env,
  organizationId: string,
  list: ListName,
  after: ListPlace | null,
): Promise<{ lines: string; place: ListPlace | null; isComplete: boolean }> {
  const { type, table, present } = SHOWN[list];
  const rows = await rowsAfter(directory(env), table, organizationId, after ?? { createdAt: 0, id: "" }, ROWS_AT_ONCE);
  const lines = rows.map((row) => `${JSON.stringify({ type, [type]: present(row as never) })}\n`);
  const last = rows.at(-1);
  return {
    lines: lines.join(""),
    place: last ? { list, createdAt: last.createdAt, id: last.id } : null,
    isComplete: rows.length < ROWS_AT_ONCE,
  };
}
