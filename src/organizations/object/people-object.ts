import { DurableObject } from "cloudflare:workers";
import type { ActEnd, ActFilter, ActPage, BeginAnswer, EndedAct, NewAct } from "../../model/audit.ts";
import type { MemberRecord } from "../../model/organization.ts";
import type { AuditLog } from "./audit-log.ts";
import type { FreedChats } from "./freed-chats.ts";
import type { MemberRecords, MemberSession } from "./member-records.ts";

/** A Durable Object that knows an organization's members and who did what, and the calls to it. */
export abstract class PeopleObject extends DurableObject<Env> {
  protected abstract readonly members: MemberRecords;
  protected abstract readonly audit: AuditLog;
  protected abstract readonly freed: FreedChats;

  /** The member of a session; null if the session has ended. @see MemberRecords.find */
  member(organizationId: string, session: MemberSession): Promise<MemberRecord | null> {
    return this.members.find(organizationId, session);
  }

  /** A change of members begins. @param leaving the member that it removes @see MemberRecords.begin */
  async beginMemberChange(organizationId: string, change: string, leaving?: string): Promise<void> {
    if ((await this.members.begin(organizationId, change)) && leaving !== undefined) this.freed.leaving(leaving);
  }

  /** A change of members ended. @param left the member that it removed @see MemberRecords.end */
  endMemberChange(change: string, ended: { memberId: string; since: number } | null, left?: string): void {
    if (this.members.end(change, ended) && left !== undefined) this.freed.left(left);
  }

  /** Ends one session of a member. @see MemberRecords.endSession */
  endSession(organizationId: string, session: MemberSession, until: number): Promise<void> {
    return this.members.endSession(organizationId, session, until);
  }

  /** An act begins. @see AuditLog.begin */
  beginAct(organizationId: string, act: NewAct): Promise<BeginAnswer> {
    return this.audit.begin(organizationId, act);
  }

  /** An act ended. @see AuditLog.end */
  endAct(id: string, end: ActEnd): void {
    this.audit.end(id, end);
  }

  /** Acts have ended that the log does not know. @see AuditLog.store */
  storeActs(organizationId: string, acts: EndedAct[]): Promise<void> {
    return this.audit.store(organizationId, acts);
  }

  /** A page of the audit log. @see AuditLog.page */
  acts(filter: ActFilter, before: string | null, limit: number): ActPage | null {
    return this.audit.page(filter, before, limit);
  }
}
