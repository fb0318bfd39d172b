import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { directory } from "../db/client.ts";
import { retryOnConflict } from "../db/retry-on-conflict.ts";
import { insertIf, isWithin, rowOf, walkOf } from "../db/rows.ts";
import { organizations, replies } from "../db/schema.ts";
import type { afterQuery } from "../http/pagination.ts";
import { newIdOf, type RequestAct } from "../keys/audited.ts";
import { type Actor, noOrganization, type Scope } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { atMost, optional, requiredText, showsNothing } from "../model/field.ts";
import { folded } from "../model/folding.ts";
import { MAX_CONTENT } from "../model/message.ts";
import { pick } from "../model/pick.ts";
import { MAX_REPLIES, MAX_REPLY_NAME, MAX_SHORTCUT, placeholderFault } from "../model/reply.ts";
import { isoTime } from "../model/time.ts";

type Reply = typeof replies.$inferSelect;

const name = requiredText(MAX_REPLY_NAME);
/** Letters of any language, with their marks. Some letters are invisible. */
const shortcut = z.string().check(
  z.regex(/^[\p{L}\p{Nd}_-][\p{L}\p{M}\p{Nd}_-]*$/u, {
    error: "must have only letters, digits, - and _",
    abort: true,
  }),
  z.refine((text) => !showsNothing(text), "must not be blank"),
  ...atMost(MAX_SHORTCUT),
);
const content = requiredText(MAX_CONTENT).check(
  z.refine((text) => placeholderFault(text) === null, {
    error: ({ input }) => placeholderFault(input as string) ?? undefined,
  }),
);

/** The body of `POST /replies`. */
export const newReplyBody = z.object({ name, shortcut: optional(shortcut), content });

/** The body of `PATCH /replies/{id}`. A shortcut that is null is removed. */
export const replyPatch = z
  .object({ name: z.optional(name), shortcut: z.nullish(shortcut), content: z.optional(content) })
  .check(
    z.refine(
      (patch) => Object.values(patch).some((value) => value !== undefined),
      "must have a name, a shortcut or a content",
    ),
  );

/** A page of an organization's saved replies, oldest first. @throws ApiError as `walkOf` */
export async function listReplies(env: Env, scope: Scope, organizationId: string, query: z.output<typeof afterQuery>) {
  const { rows, pagination } = await walkOf(directory(env), scope, replies, "rpl", organizationId, query);
  return { replies: rows.map(presentReply), pagination };
}

/**
 * Adds a saved reply to an organization, in the statement that counts and compares shortcuts.
 * @throws ApiError `reply_exists`, `reply_limit`; as `noOrganization`
 */
export async function createReply(env: Env, actor: Actor, act: RequestAct, body: z.output<typeof newReplyBody>) {
  const db = directory(env);
  const now = Date.now();
  const { organizationId } = act;
  const { shortcut = null } = body;
  const reply: Reply = {
    ...body,
    id: newIdOf(act),
    organizationId,
    shortcut,
    foldedShortcut: shortcut && folded(shortcut),
    createdBy: actor.id,
    createdAt: now,
    updatedAt: now,
  };
  const count = sql`(select count(*) from replies where organization_id = ${organizationId})`;
  const isFree = isFreeIn(sql`${organizationId}`, reply);
  return retryOnConflict(reply.id, async () => {
    if (await insertIf(db, replies, reply, and(sql`${count} < ${MAX_REPLIES}`, isFree))) return presentReply(reply);
    const why = await db
      .select({ count: count.mapWith(Number), isFree: isFree.mapWith(Boolean) })
      .from(organizations)
      .where(and(eq(organizations.id, organizationId), isNull(organizations.erasingAt)))
      .get();
    if (!why) throw new ApiError(noOrganization(actor.scope));
    if (!why.isFree) throw new ApiError("reply_exists");
    if (why.count >= MAX_REPLIES) throw new ApiError("reply_limit");
    return null;
  });
}

/** Changes a saved reply. @throws ApiError `reply_not_found`, `reply_exists` */
export async function patchReply(env: Env, scope: Scope, id: string, patch: z.output<typeof replyPatch>) {
  const db = directory(env);
  const foldedShortcut = patch.shortcut && folded(patch.shortcut);
  const isFree = isFreeIn(sql`${replies.organizationId}`, { id, foldedShortcut });
  const [reply] = await db
    .update(replies)
    .set({ ...patch, foldedShortcut, updatedAt: Date.now() })
    .where(and(eq(replies.id, id), isWithin(replies, scope), isFree))
    .returning();
  if (reply) return presentReply(reply);
  await rowOf(db, scope, replies, id, "reply_not_found");
  throw new ApiError("reply_exists");
}

/** Deletes a saved reply. @throws ApiError `reply_not_found` */
export async function deleteReply(env: Env, scope: Scope, id: string) {
  const [reply] = await directory(env)
    .delete(replies)
    .where(and(eq(replies.id, id), isWithin(replies, scope)))
    .returning();
  if (!reply) throw new ApiError("reply_not_found");
  return presentReply(reply);
}

/** A condition: no other reply of the organization has this shortcut. It is true without one. */
function isFreeIn(
  organizationId: SQL,
  { id, foldedShortcut = null }: { id: string; foldedShortcut: string | null | undefined },
) {
  return sql`not exists (select 1 from replies other where other.organization_id = ${organizationId}
    and other.folded_shortcut = ${foldedShortcut} and other.id <> ${id})`;
}

export function presentReply(reply: Reply) {
  return {
    ...pick(reply, "id", "name", "shortcut", "content"),
    updatedAt: isoTime(reply.updatedAt),
    createdBy: reply.createdBy,
  };
}
