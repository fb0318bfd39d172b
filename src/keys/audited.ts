import type { Context, MiddlewareHandler, Next } from "hono";
import { routePath } from "hono/route";
import type * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import { ownerOf } from "../calls/chat-owner.ts";
import { directory } from "../db/client.ts";
import { rowOf } from "../db/rows.ts";
import { apiKeys, channels, members, replies, templates, webhooks } from "../db/schema.ts";
import { isSearch, readQuery } from "../http/validation.ts";
import {
  ACTOR_ROWS_A_DAY,
  type ActEnd,
  type BeginAnswer,
  type FullAudit,
  mergedBy,
  type NewAct,
  ORGANIZATION_ROWS_A_DAY,
  withinRow,
} from "../model/audit.ts";
import { type AuditAction, actionSpec } from "../model/audit-action.ts";
import { type Actor, noOrganization, OPERATOR } from "../model/caller.ts";
import { ApiError, type ErrorCode, unavailable } from "../model/error.ts";
import { type IdPrefix, isId, isMessageId, jurisdictionOf, newId, newSortableId } from "../model/id.ts";
import type { Region } from "../model/region.ts";
import { warnIfFails } from "../platform/log.ts";
import type { AdminEnv } from "./operator-guard.ts";
import { tellAct } from "./waiting-acts.ts";

/** An act of a request. */
export interface RequestAct {
  organizationId: string;
  /** The id of what it acts on; of a resource that it creates, the id that the resource gets. Null if it has none yet. */
  target: string | null;
  /** Its row. An act that cuts off access stores it in its own commit. */
  row: NewAct;
  /**
   * Stores its row, before it changes anything. `audited` calls this, except for the creation of an organization.
   * @param region where the organization's object is created, if this is its first call
   * @throws ApiError `unavailable`, `audit_full`; `organization_not_found` or the like if there is no such organization
   */
  begin: (region?: Region | null) => Promise<void>;
}

/** The id that a new resource gets. It is in the row before the resource exists. */
export function newIdOf({ target }: RequestAct): string {
  if (target === null) throw new Error("the action creates no resource");
  return target;
}

export type ActEnv = AdminEnv & { Variables: { act: RequestAct } };

/** The part of a context that all routes of the management have. */
export type ManagementContext = Pick<Context<AdminEnv>, "req" | "env" | "var">;

/** Who acts, and where. */
export interface ActorAccess {
  actorOf: (c: ManagementContext) => Actor;
  /** The organization of a request to one of its lists. */
  organizationOf: (c: ManagementContext) => string;
}

/** The resources that have a row in the directory. */
const TABLES = {
  key: { table: apiKeys, code: "key_not_found" },
  chn: { table: channels, code: "channel_not_found" },
  tpl: { table: templates, code: "template_not_found" },
  mbr: { table: members, code: "member_not_found" },
  whk: { table: webhooks, code: "webhook_not_found" },
  rpl: { table: replies, code: "reply_not_found" },
} as const;

/**
 * Middleware for one route, the last before its handler: stores the row of the act in the organization's audit log, and
 * after the act the status of the response. If the row can't be stored, nothing is done. A row without a status says
 * that the act broke off. Each row also has a line in the service's log, which outlives the organization.
 *
 * An act that cuts off access never waits for the log: it stores the row in its own commit, and the log gets it
 * afterward.
 * @throws ApiError as `RequestAct.begin`; the error of a resource that the operator asks for and nobody has
 */
export function audited(access: ActorAccess, action: AuditAction): MiddlewareHandler<ActEnv> {
  return function act(c, next) {
    return runAct(c, access, action, next);
  };
}

/**
 * Like `audited`, but only for requests that search. A plain list has no row.
 * @param query the parameters of the route: a request with wrong ones has no row either
 */
export function auditedSearch(access: ActorAccess, action: AuditAction, query: z.ZodMiniObject): MiddlewareHandler {
  return async function actIfSearch(c, next) {
    if (!isSearch(c.req.url)) return next();
    readQuery(c, query);
    await runAct(c, access, action, next);
  };
}

/** Like `audited`, but only for requests of the operator, in the console. */
export function auditedForOperator(access: ActorAccess, action: AuditAction): MiddlewareHandler<ActEnv> {
  return async function actIfOperator(c, next) {
    if (access.actorOf(c).type !== "operator") return next();
    await runAct(c, access, action, next);
  };
}

/** Like `audited`, for what the operator does in no organization: it leaves only a line in the service's log. */
export function auditedInLog(action: string): MiddlewareHandler {
  return async function act(c, next) {
    await next();
    logAct(c, { action, organizationId: null, actor: OPERATOR, status: c.res.status, target: null });
  };
}

async function runAct(c: Context<ActEnv>, access: ActorAccess, action: AuditAction, next: Next): Promise<void> {
  const { scope: _scope, passkeyId: _passkeyId, ...actor } = access.actorOf(c);
  const { creates, isSearch, isResumed, stops } = actionSpec(action);
  const { organizationId, missing } = await placeOf(c, access, action);
  const target = creates ? newTarget(action, organizationId) : targetOf(c, action, organizationId);
  const row = withinRow({
    id: newSortableId("aud", jurisdictionOf(organizationId), Date.now()),
    actor,
    action,
    target,
    requestId: c.var.requestId,
    changed: changedBy(c, action),
  });
  if (isSearch) row.merged = mergedBy(row, "hour");
  // A large export takes thousands of requests.
  if (isResumed && c.req.query("after") !== undefined) row.merged = mergedBy(row, "target");
  const act: RequestAct = {
    organizationId,
    target,
    row,
    begin: async (region = c.var.caller?.region) => {
      const begun = await beginAct(c.env, organizationId, row, region);
      // The log of an organization that is being deleted may be gone before the rest.
      if (begun === false && action !== "organization.delete") throw new ApiError(missing);
      if (typeof begun === "string") throw auditFull(begun);
    },
  };
  c.set("act", act);
  if (action !== "organization.create" && !stops) await act.begin();
  await next();
  const end = { status: c.res.status, target: act.target };
  logAct(c, { action, organizationId, actor: actor.id, ...end });
  const ended = stops
    ? tellAct(c.env, organizationId, { ...row, ...end })
    : endAct(c.env, organizationId, row.id, { ...end, merged: row.merged });
  // It ends even if the client disconnects.
  c.executionCtx.waitUntil(ended);
  // A client finds its change in the log as soon as it has the response.
  if (c.req.method !== "GET") await ended;
}

/** The line of an act in the service's log. It has no values of the request. */
function logAct(
  c: Context,
  act: { action: string; target: string | null; organizationId: string | null; actor: string; status: number },
): void {
  const { target, ...rest } = act;
  const { requestId } = c.var;
  console.log({ event: "audit", requestId, method: c.req.method, route: routePath(c), id: target, ...rest });
}

async function beginAct(env: Env, organizationId: string, row: NewAct, region?: Region | null): Promise<BeginAnswer> {
  try {
    return await callOrganization(env, organizationId, (object) => object.beginAct(organizationId, row), region);
  } catch (error) {
    throw error instanceof ApiError ? error : unavailable(error);
  }
}

function auditFull(full: FullAudit): ApiError {
  const whose =
    full === "actor" ? "This key or member has made its" : "The organization's keys and members have made their";
  const count = full === "actor" ? ACTOR_ROWS_A_DAY : ORGANIZATION_ROWS_A_DAY;
  const text = `${whose} ${count.toLocaleString("en")} entries in the audit log for today. Try again after 00:00 UTC`;
  return new ApiError("audit_full", { text });
}

/** A failure is only logged, because the act is done: then its row says that it broke off. */
function endAct(env: Env, organizationId: string, id: string, end: ActEnd): Promise<void> {
  return warnIfFails({ event: "audit_status_lost", id, organizationId, status: end.status }, () =>
    callOrganization(env, organizationId, (object) => object.endAct(id, end)),
  );
}

/**
 * The organization in whose log the row belongs, and the error if it no longer has a log. The operator names the
 * organization, or only one of its resources.
 */
async function placeOf(
  c: ManagementContext,
  access: ActorAccess,
  action: AuditAction,
): Promise<{ organizationId: string; missing: ErrorCode }> {
  const { scope } = access.actorOf(c);
  const { target, creates } = actionSpec(action);
  const id = c.req.param("id") ?? "";
  const missing = noOrganization(scope);
  if (scope !== "any") return { organizationId: scope.organizationId, missing };
  if (target === "org" && creates) return { organizationId: newId("org", bodyOf(c).jurisdiction ?? null), missing };
  if (target === null || target === "org" || target === "lbl" || creates)
    return { organizationId: access.organizationOf(c), missing };
  if (target === "cht" || target === "msg") return { ...(await ownerOf(c.env, id)), missing: "chat_not_found" };
  const { table, code } = TABLES[target as keyof typeof TABLES];
  const { organizationId } = await rowOf(directory(c.env), "any", table, id, code);
  return { organizationId, missing: code };
}

function newTarget(action: AuditAction, organizationId: string): string | null {
  const { target } = actionSpec(action);
  if (target === "org") return organizationId;
  return target && newId(target, jurisdictionOf(organizationId));
}

/** The parameters of paths that name what is acted on behind what it is in. */
const PARAMETERS: { [Prefix in IdPrefix]?: string } = { msg: "messageId", lbl: "labelId" };

/** The id in the path that the request acts on. Null for text that is not an id: it would be a value of the request. */
function targetOf(c: ManagementContext, action: AuditAction, organizationId: string): string | null {
  const { target } = actionSpec(action);
  if (target === null) return null;
  if (target === "org") return organizationId;
  const id = c.req.param(PARAMETERS[target] ?? "id") ?? "";
  return isIdOf(target, id) ? id : null;
}

function isIdOf(prefix: IdPrefix, id: string): boolean {
  return prefix === "msg" ? isMessageId(id) : isId(prefix, id);
}

/** The names of the fields that a creation or a change sets. */
function changedBy(c: ManagementContext, action: AuditAction): string[] {
  if (!/\.(create|update)$/.test(action)) return [];
  return Object.entries(bodyOf(c)).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

/** The body that `validBody` has read. It has no fields that the route does not know. */
function bodyOf(c: ManagementContext): { jurisdiction?: "eu" | "us" } {
  return c.req.valid("json" as never);
}
