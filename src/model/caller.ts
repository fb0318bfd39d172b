import type { CallerName } from "./chat-answers.ts";
import type { ErrorCode } from "./error.ts";
import type { Permission } from "./permission.ts";
import type { Region } from "./region.ts";

/** Who makes a request. */
export interface Principal {
  /** `member` has a session of the console. */
  type: "operator" | "key" | "member";
  /** The id of the key or of the member, or `OPERATOR`. */
  id: string;
  /** The name of the key or of the member. */
  name: string;
  /** Who made the sign-in link that led to the member's session: an id, or `OPERATOR`. Absent if none did. */
  linkBy?: string | undefined;
}

/** Who makes a request within an organization, and what it may do there. */
export interface Caller {
  principal: Principal;
  organizationId: string;
  permissions: readonly Permission[];
  /** The member who sends a message if the request names none. Null: the request must name one. */
  defaultSenderId: string | null;
  region: Region | null;
  /** Set for a key that ends or is bound to addresses: what it makes must not outlast it. */
  isBound?: true;
  /** The channels whose bot the key is; absent for none. */
  botOf?: string[];
  /** Set for a key that only writes drafts: nothing that it does reaches a contact. */
  draftsOnly?: true;
  /** Set for a member: the name that contacts see. */
  publicName?: string;
  /** Set for a session that began with this passkey. */
  passkeyId?: string | undefined;
}

/** Who makes a request, as messages and events name them. */
export function describeCaller({ principal: { type, id, name } }: Pick<Caller, "principal">): CallerName {
  return { type, id, name };
}

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
