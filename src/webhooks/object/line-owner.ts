import { callObject } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import type { EventRange } from "../../model/webhook.ts";

/** The methods of the objects with lines: chats, and organizations for their own events. */
interface LineOwner {
  /**
   * The line may ask for a permit again.
   * @param number see `WaitingLine`
   * @param startedAt see `WebhookState`
   * @returns null if the line has nothing to send, for example because its chat was deleted
   */
  wakeWebhook(webhookId: string, number: number, startedAt: number, lineId: string): Promise<unknown>;
  /** Sends events again. @returns how many of them there are and match the webhook's filter; null if the chat was deleted */
  replayEvents(webhookId: string, replayId: string, ranges: EventRange[], lineId: string): Promise<number | null>;
}

/** Calls the owner of a line. @param lineId the id of a chat or an organization, of which one has more after a dot */
export function callLineOwner<R>(env: Env, lineId: string, call: (owner: LineOwner) => R): Promise<Awaited<R>> {
  const [ownerId = ""] = lineId.split(".");
  return ownerId.startsWith("org_") ? callOrganization(env, ownerId, call) : callObject(env.CHATS, ownerId, call);
}
