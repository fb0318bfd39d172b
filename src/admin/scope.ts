import type { ErrorCode } from "../http/errors.ts";
import type { Principal } from "../keys/caller.ts";

/** Whose resources a request can reach: those of one organization, or those of any, for the operator. */
export type Scope = { organizationId: string } | "any";

/** Who makes a request, and what it can reach. */
export interface Actor extends Principal {
  scope: Scope;
}

/** The `id` of the operator, and `createdBy` of what the operator created. */
export const OPERATOR = "operator";

/**
 * The error for an organization that does not exist or is being deleted. A key of such an organization is about to stop
 * working.
 */
export function noOrganization(scope: Scope): ErrorCode {
  return scope === "any" ? "organization_not_found" : "invalid_api_key";
}
