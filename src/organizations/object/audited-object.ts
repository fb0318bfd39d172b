import { DurableObject } from "cloudflare:workers";
import type { ActEnd, ActFilter, ActPage, BeginAnswer, EndedAct, NewAct } from "../../audit/act.ts";
import type { AuditLog } from "./audit-log.ts";

/** A Durable Object with an audit log, and the calls to it. */
export abstract class AuditedObject extends DurableObject<Env> {
  protected abstract readonly audit: AuditLog;

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
