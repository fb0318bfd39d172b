import type { Context, MiddlewareHandler } from "hono";
import { type KeyVariables, requirePermission } from "../keys/guard.ts";
import type { Need, Permission } from "../keys/permissions.ts";
import { type AdminEnv, audit } from "./guard.ts";
import { type Actor, OPERATOR } from "./scope.ts";

type ManagementContext = Context<AdminEnv>;

/** What differs between the operator's routes and those of an organization's keys. */
export interface Access {
  /** Comes before the paths of an organization's lists. */
  prefix: "" | "/organizations/:id";
  /** The permission line of a route. */
  needs: (need: Need | null) => MiddlewareHandler<AdminEnv>;
  actorOf: (c: ManagementContext) => Actor;
  /** The organization of a request to one of its lists. */
  organizationOf: (c: ManagementContext) => string;
  /** Whether the client has a permission. The operator has all. */
  isAllowed: (c: ManagementContext, permission: Permission) => boolean;
  /** Called after a change, with the id of the changed resource. */
  onChange: (c: ManagementContext, id: string) => void;
}

/** `authenticateOperator` runs before all of the operator's routes. */
const proceed: MiddlewareHandler = (_c, next) => next();

/** The operator, who manages all organizations. */
export const operatorAccess: Access = {
  prefix: "/organizations/:id",
  needs: () => proceed,
  actorOf: () => ({ scope: "any", type: "operator", id: OPERATOR, name: "Operator" }),
  organizationOf: (c) => c.req.param("id") ?? "",
  isAllowed: () => true,
  onChange: audit,
};

/** The API keys that manage their own organization, and the sessions of the console. */
export const keyAccess: Access = {
  prefix: "",
  needs: (need) => requirePermission(need) as MiddlewareHandler,
  actorOf: (c) => ({ scope: { organizationId: callerOf(c).organizationId }, ...callerOf(c).principal }),
  organizationOf: (c) => callerOf(c).organizationId,
  isAllowed: (c, permission) => callerOf(c).permissions.includes(permission),
  onChange: audit,
};

function callerOf(c: ManagementContext): KeyVariables["caller"] {
  const { caller } = c.var;
  if (!caller) throw new Error("a management route has no permission line");
  return caller;
}
