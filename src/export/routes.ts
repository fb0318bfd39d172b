import { Hono } from "hono/quick";
import * as z from "zod/mini";
import { fault } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { ActEnv } from "../keys/audited.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { noOrganization } from "../model/caller.ts";
import type { ErrorCode } from "../model/error.ts";
import { queryText } from "../model/field.ts";
import { causeOf } from "../platform/log.ts";
import { MAX_EXPORT_CURSOR, readExportCursor } from "./cursor.ts";
import { exportParts } from "./export.ts";

/** The query of an export. */
export const exportQuery = z.object({ after: queryText(MAX_EXPORT_CURSOR) });

const HEADERS = { "Content-Type": "application/x-ndjson" };

/** Exports. The audit log has them, because they hand out everything. */
export function exportRoutesFor({ prefix, acts, actorOf }: Access): Hono<AdminEnv> {
  return new Hono<AdminEnv>()
    .get(`${prefix}/export`, acts("organization.export", { query: exportQuery }), async (c) => {
      const missing = noOrganization(actorOf(c).scope);
      return c.body(
        await openExport(c.env, c.var, { chatId: null, missing }, c.req.valid("query").after),
        200,
        HEADERS,
      );
    })
    .get("/chats/:id/export", acts("chat.export", { query: exportQuery }), async (c) => {
      const what = { chatId: c.req.param("id"), missing: "chat_not_found" } as const;
      return c.body(await openExport(c.env, c.var, what, c.req.valid("query").after), 200, HEADERS);
    }) as Hono<AdminEnv>;
}

/**
 * Opens a stream of lines. The next part is read when the client has taken the one before, so one part is in memory.
 * @throws ApiError `validation_failed` for a cursor of another export; `chat_not_found`
 */
async function openExport(
  env: Env,
  { requestId, act: { organizationId }, caller }: ActEnv["Variables"],
  what: { chatId: string | null; missing: ErrorCode },
  after: string | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const scope = { ...what, organizationId, region: caller?.region ?? null };
  const from = after === undefined ? null : readExportCursor(scope, after);
  if (after !== undefined && !from) throw fault("after", "is not a cursor of this export");
  const parts = exportParts(env, scope, from);
  // Read before the headers are sent, so that the client gets an error of its request.
  let first: IteratorResult<Uint8Array, void> | null = await parts.next();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = first ?? (await parts.next());
          first = null;
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          // The client sees that the last line is missing.
          console.warn({ event: "export_ended", requestId, error: causeOf(error) });
          controller.error(error);
        }
      },
      async cancel() {
        await parts.return();
      },
    },
    { highWaterMark: 0 },
  );
}
