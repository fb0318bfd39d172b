import type { Region } from "../db/schema.ts";
import type { Permission } from "./permission.ts";

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
  /** Set for a member: the name that contacts see. */
  publicName?: string;
  /** Set for a session that began with this passkey. */
  passkeyId?: string | undefined;
}
