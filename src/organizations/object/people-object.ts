import type { MemberRecord } from "../rpc.ts";
import { AuditedObject } from "./audited-object.ts";
import type { MemberRecords, MemberSession } from "./member-records.ts";

/** A Durable Object that knows an organization's members, and the calls to it. */
export abstract class PeopleObject extends AuditedObject {
  protected abstract readonly members: MemberRecords;

  /** The member of a session; null if the session has ended. @see MemberRecords.find */
  member(organizationId: string, session: MemberSession): Promise<MemberRecord | null> {
    return this.members.find(organizationId, session);
  }

  /** A change of members begins. @see MemberRecords.begin */
  beginMemberChange(organizationId: string, change: string): Promise<void> {
    return this.members.begin(organizationId, change);
  }

  /** A change of members ended. @see MemberRecords.end */
  endMemberChange(change: string, ended: { memberId: string; since: number } | null): void {
    this.members.end(change, ended);
  }

  /** Ends one session of a member. @see MemberRecords.endSession */
  endSession(organizationId: string, session: MemberSession, until: number): Promise<void> {
    return this.members.endSession(organizationId, session, until);
  }
}
