import { and, eq, isNull, or, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { channelRecord } from "../calls/channel-record.ts";
import { type SyncCounts, syncTemplates } from "../channels/templates/sync.ts";
import { directory } from "../db/client.ts";
import { insertWithRoom } from "../db/row-ceilings.ts";
import { isWithin, rowOf } from "../db/rows.ts";
import { channels, templates } from "../db/schema.ts";
import { fault } from "../http/validation.ts";
import { newIdOf, type RequestAct } from "../keys/audited.ts";
import type { Scope } from "../model/caller.ts";
import { ApiError, rejectedText, unavailable } from "../model/error.ts";
import { requiredText } from "../model/field.ts";
import { MAX_CONTENT } from "../model/message.ts";
import { pick } from "../model/pick.ts";
import { placeholdersOf } from "../model/placeholder.ts";
import { isoTime } from "../model/time.ts";

type Template = typeof templates.$inferSelect;

/** The body of `POST /organizations/{id}/templates`. */
export const newTemplateBody = z.object({
  name: requiredText(512),
  language: requiredText(32),
  body: requiredText(MAX_CONTENT).check(
    z.refine(
      (body) => placeholdersOf(body) !== null,
      "has a placeholder that is not closed, or whose name is not 1 to 64 letters, digits or underscores, or is __proto__",
    ),
  ),
});

/** The body of `PATCH /templates/{id}`. */
export const templatePatch = z.partial(newTemplateBody);

/** Adds a template to an organization. @throws ApiError `template_limit`; as `noOrganization` */
export async function createTemplate(env: Env, scope: Scope, act: RequestAct, body: z.output<typeof newTemplateBody>) {
  const { organizationId } = act;
  const now = Date.now();
  const id = newIdOf(act);
  const unsynced = { wabaId: null, components: null, parameterFormat: null, network: null };
  const template: Template = { ...body, ...unsynced, id, organizationId, createdAt: now, updatedAt: now };
  await insertWithRoom(env, scope, "templates", template);
  return presentTemplate(template);
}

/**
 * Changes a template. Messages that were sent with it don't change.
 * @throws ApiError `template_not_found`; `template_synced` if it would differ from what its network approved
 */
export async function patchTemplate(env: Env, scope: Scope, id: string, patch: z.output<typeof templatePatch>) {
  const db = directory(env);
  const { name, language, body } = patch;
  const isSame = and(
    name === undefined ? undefined : eq(templates.name, name),
    language === undefined ? undefined : eq(templates.language, language),
    body === undefined ? undefined : eq(templates.body, body),
  );
  const [template] = await db
    .update(templates)
    .set({ ...patch, updatedAt: Date.now() })
    .where(and(eq(templates.id, id), isWithin(templates, scope), or(isNull(templates.wabaId), isSame ?? sql`true`)))
    .returning();
  if (template) return presentTemplate(template);
  await rowOf(db, scope, templates, id, "template_not_found");
  throw new ApiError("template_synced");
}

/** Deletes a template. Waiting messages keep its name, language and parameters. */
export async function deleteTemplate(env: Env, scope: Scope, id: string) {
  const [template] = await directory(env)
    .delete(templates)
    .where(and(eq(templates.id, id), isWithin(templates, scope)))
    .returning();
  if (!template) throw new ApiError("template_not_found");
  return presentTemplate(template);
}

export async function readTemplate(env: Env, scope: Scope, id: string) {
  return presentTemplate(await rowOf(directory(env), scope, templates, id, "template_not_found"));
}

export function presentTemplate(template: Template) {
  return {
    ...pick(template, "id", "organizationId", "name", "language", "body"),
    variables: placeholdersOf(template.body) ?? [],
    ...pick(template, "wabaId", "components", "parameterFormat"),
    network: presentState(template.network),
    createdAt: isoTime(template.createdAt),
    updatedAt: isoTime(template.updatedAt),
  };
}

function presentState(state: Template["network"]) {
  if (state === null) return null;
  const { syncedAt } = state;
  return {
    ...pick(state, "id", "status", "category", "quality", "rejectedReason"),
    syncedAt: isoTime(syncedAt),
  };
}

/**
 * Syncs the templates of a channel's account at its network.
 * @throws ApiError `channel_not_found`; `validation_failed` if the channel has no such account; `refused_by_network`;
 *   `unavailable` if the network does not answer. What it listed until then is stored
 */
export async function syncOf(env: Env, scope: Scope, id: string): Promise<SyncCounts> {
  await rowOf(directory(env), scope, channels, id, "channel_not_found");
  const record = await channelRecord(env, id, { fresh: "now" });
  if (!record) throw new ApiError("channel_not_found");
  const { outcome, ...answer } = await syncTemplates(env, record);
  if (outcome === "no_templates") throw fault("id", "is a channel whose network has no templates");
  if (outcome === "no_account") throw fault("id", "is a channel without settings.wabaId");
  if ("created" in answer) return answer;
  const { description = "" } = answer as { description?: string };
  if (outcome === "refused") throw new ApiError("refused_by_network", { text: rejectedText(description) });
  throw unavailable(description);
}
