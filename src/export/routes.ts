import { Hono } from "hono";
import * as z from "zod/mini";
import type { AdminEnv } from "../admin/guard.ts";
import { findOrganization } from "../admin/organizations.ts";
import { ownerOf } from "../chats/owner.ts";
import type { Region } from "../db/schema.ts";
import { queryText } from "../http/fields.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { fault, validQuery } from "../http/validation.ts";
import { type KeyVariables, requirePermission } from "../keys/guard.ts";
import { causeOf } from "../log.ts";
import { type ExportScope, MAX_EXPORT_CURSOR, readExportCursor } from "./cursor.ts";
import { exportParts } from "./export.ts";

/** The query of an export. */
export const exportQuery = z.object({ after: queryText(MAX_EXPORT_CURSOR) });

type ExportEnv = { Bindings: Env; Variables: RequestVariables & KeyVariables };
type Scope = ExportScope & { region?: Region | null };

const PERMISSION = "data:export";
const HEADERS = { "Content-Type": "application/x-ndjson" };

/** Exports for the clients of an organization. */
export const exportRoutes = new Hono<ExportEnv>()
  .get("/export", requirePermission(PERMISSION), validQuery(exportQuery), async (c) => {
    const scope = { ...c.var.caller, chatId: null };
    return c.body(await openExport(c.env, c.var.requestId, scope, c.req.valid("query").after), 200, HEADERS);
  })
  .get("/chats/:id/export", requirePermission(PERMISSION), validQuery(exportQuery), async (c) => {
    const scope = { ...c.var.caller, chatId: c.req.param("id") };
    return c.body(await openExport(c.env, c.var.requestId, scope, c.req.valid("query").after), 200, HEADERS);
  });

/** Exports of any organization, for the operator. */
export const operatorExportRoutes = new Hono<AdminEnv>()
  .get("/organizations/:id/export", validQuery(exportQuery), async (c) => {
    const { id, region } = await findOrganization(c.env, "any", c.req.param("id"));
    const scope = { organizationId: id, region, chatId: null };
    return c.body(await openExport(c.env, c.var.requestId, scope, c.req.valid("query").after), 200, HEADERS);
  })
  .get("/chats/:id/export", validQuery(exportQuery), async (c) => {
    const chatId = c.req.param("id");
    const scope = { ...(await ownerOf(c.env, chatId)), chatId };
    return c.body(await openExport(c.env, c.var.requestId, scope, c.req.valid("query").after), 200, HEADERS);
  });

/**
 * Opens a stream of lines. The next part is read when the client has taken the one before, so one part is in memory.
 * @throws ApiError `validation_failed` for a cursor of another export; `chat_not_found`
 */
async function openExport(
  env: Env,
  requestId: string,
  { organizationId, chatId, region = null }: Scope,
  after: string | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const scope = { organizationId, chatId, region };
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
