import type { ErrorCode } from "../http/errors.ts";
import type { Principal } from "./caller.ts";

/**
 * Whose resources a request can reach: those of one organization, or those of any, for the operator. `isSession`: for a
 * person in the console, who has no key.
 */
export type Scope = { organizationId: string; isSession?: boolean } | "any";

/** Who makes a request, and what it can reach. */
export interface Actor extends Principal {
  scope: Scope;
  /** The passkey with which a member's session began. It stays where all others of this member are deleted. */
  passkeyId?: string | undefined;
}

/** The `id` of the operator, and `createdBy` of what the operator created. */
export const OPERATOR = "operator";

/**
 * The error for an organization that does not exist or is being deleted. A key of such an organization is about to stop
 * working. A person can go on to another organization.
 */
export function noOrganization(scope: Scope): ErrorCode {
  return scope === "any" || scope.isSession ? "organization_not_found" : "invalid_api_key";
}
