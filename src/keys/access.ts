import type { MiddlewareHandler } from "hono";
import { every } from "hono/combine";
import type * as z from "zod/mini";
import { allOf, type Before, before } from "../http/before.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import { type AuditAction, actionSpec } from "../model/audit-action.ts";
import { OPERATOR } from "../model/caller.ts";
import type { DailyNeed, Need, Permission, ReadNeed } from "../model/permission.ts";
import {
  type ActEnv,
  type ActorAccess,
  audited,
  auditedForOperator,
  type ManagementContext,
  type RequestAct,
} from "./audited.ts";
import { type KeyVariables, permit } from "./guard.ts";
import type { AdminEnv } from "./operator-guard.ts";

/** What differs between the operator's routes and those of an organization's keys. */
export interface Access extends ActorAccess {
  /** Comes before the paths of an organization's lists. */
  prefix: "" | "/organizations/:id";
  /** The permission line of a route that only reads. */
  needs: (need: ReadNeed | null) => Before<AdminEnv>;
  /**
   * The first line of a route that acts: its permission, its query and body, and the row in the audit log. So no route of
   * a key acts without a row.
   */
  acts: Acts;
  /** Whether the client has a permission. The operator has all. */
  isAllowed: (c: ManagementContext, permission: Permission) => boolean;
  /** Whether the client is a key that ends or is bound to addresses, so that secrets would outlast it. */
  isBound: (c: ManagementContext) => boolean;
}

type Acts = <Body extends z.ZodMiniType, Query extends z.ZodMiniObject>(
  action: AuditAction,
  inputs?: Inputs<Body, Query>,
) => MiddlewareHandler<ActEnv, string, Validated<Body, Query>>;

/** What a route reads. Without `query` it has no parameters. */
interface Inputs<Body, Query> {
  body?: Body;
  /** Whether the body may be empty. */
  mayBeEmpty?: boolean;
  query?: Query;
}

interface Validated<Body extends z.ZodMiniType, Query extends z.ZodMiniObject> {
  in: { json: z.input<Body>; query: z.input<Query> };
  out: { json: z.output<Body>; query: z.output<Query> };
}

/** The operator, who manages all organizations. `authenticateOperator` runs before all of the operator's routes. */
export const operatorAccess: Access = accessOf({
  prefix: "/organizations/:id",
  permits: () => proceed,
  actorOf: () => ({ scope: "any", type: "operator", id: OPERATOR, name: "Operator" }),
  organizationOf: (c) => c.req.param("id") ?? "",
  isAllowed: () => true,
  isBound: () => false,
});

/** The API keys that manage their own organization, and the sessions of the console. */
export const keyAccess: Access = accessOf({
  prefix: "",
  permits(need) {
    if (need === "operator") throw new Error("a key has no such route");
    return permit(need) as Before;
  },
  actorOf(c) {
    const { organizationId, principal, passkeyId } = callerOf(c);
    return { scope: { organizationId, isSession: principal.type !== "key" }, passkeyId, ...principal };
  },
  organizationOf: (c) => callerOf(c).organizationId,
  isAllowed: (c, permission) => callerOf(c).permissions.includes(permission),
  isBound: (c) => callerOf(c).isBound === true,
});

/** The context of a route with `daily`. */
interface DailyEnv extends AdminEnv {
  Variables: AdminEnv["Variables"] & { act?: RequestAct };
}

/**
 * The first line of a route with which an organization's software writes all day, such as a send: its permission and
 * body.
 * @param action the act for the audit log if the operator makes the request in the console. Null: it leaves no row
 */
export function daily<Body extends z.ZodMiniType, Query extends z.ZodMiniObject>(
  need: DailyNeed,
  action: AuditAction | null,
  { body, mayBeEmpty = false, query }: Inputs<Body, Query> = {},
): MiddlewareHandler<DailyEnv, string, Pick<Validated<Body, Query>, "in" | "out">> {
  const checks = inOrder(permit(need), query, body, mayBeEmpty);
  return action === null ? checks : withNeed(every(checks, auditedForOperator(keyAccess, action)), checks);
}

function accessOf(
  base: Omit<Access, "needs" | "acts"> & { permits: (need: Need | "operator" | null) => Before<AdminEnv> },
): Access {
  const { permits, ...access } = base;
  const acts: Acts = (action, { body, mayBeEmpty = false, query } = {}) => {
    const checks = inOrder(permits(actionSpec(action).needs), query, body, mayBeEmpty);
    return withNeed(every(checks, audited(access, action)), checks);
  };
  return { ...access, needs: permits, acts };
}

/** The permission line of a route, and then its query and body, as one middleware. */
function inOrder(
  permits: Before,
  query: z.ZodMiniObject | undefined,
  body: z.ZodMiniType | undefined,
  mayBeEmpty: boolean,
): Before {
  const reads = [query ? validQuery(query) : noQuery, ...(body ? [validBody(body, { mayBeEmpty })] : [])];
  return withNeed(allOf(permits, ...reads), permits);
}

/** Gives a middleware the `need` of another one, which the OpenAPI documents read. */
function withNeed<M extends object>(middleware: M, other: { need?: Need | null | undefined } | object): M {
  return Object.assign(middleware, { need: "need" in other ? other.need : undefined });
}

const proceed: Before<AdminEnv> = before(() => undefined);

function callerOf(c: ManagementContext): KeyVariables["caller"] {
  const { caller } = c.var;
  if (!caller) throw new Error("a management route has no permission line");
  return caller;
}
