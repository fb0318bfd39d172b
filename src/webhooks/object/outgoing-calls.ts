import { callObject, NEARBY } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import type { EventRange, ReportedWebhookState } from "../../model/webhook.ts";
import type { WebhookIdentity } from "./identity.ts";
import type { OrganizationNotice } from "./notices.ts";

/** Events of one subscription in an organization's feed. `pos` is their position in it. */
export interface SubscriptionPointer {
  pos: number;
  subscriptionId: string;
  first: number;
  last: number;
}

/** The calls of a webhook's object to its organization, and to the owners of its subscriptions. */
export class OutgoingCalls {
  readonly #env: Env;
  readonly #identity: WebhookIdentity;

  constructor(env: Env, identity: WebhookIdentity) {
    this.#env = env;
    this.#identity = identity;
  }

  /**
   * Tells a subscription that it may ask for a permit again.
   * @param number see `WaitingSubscription`
   * @param startedAt see `WebhookState`
   * @param depth see `WebhookPermitRequest`
   * @returns null if the subscription has nothing to send, for example because its chat was deleted
   */
  wake(subscriptionId: string, number: number, startedAt: number, depth: number): Promise<unknown> {
    const { id } = this.#identity;
    return this.#callOwner(subscriptionId, (owner) => owner.wakeWebhook(id, number, startedAt, subscriptionId, depth));
  }

  /**
   * Hands events to a subscription. A repeated call changes nothing.
   * @returns how many events the subscription will send again; null if its chat was deleted
   */
  replay(subscriptionId: string, replayId: string, ranges: EventRange[]): Promise<number | null> {
    const { id } = this.#identity;
    return this.#callOwner(subscriptionId, (owner) => owner.replayEvents(id, replayId, ranges, subscriptionId));
  }

  /** Events of the organization's feed in a time, in order. @param after a position; null to begin */
  async pointers(since: number, until: number, after: number | null, limit: number): Promise<SubscriptionPointer[]> {
    const config = await this.#identity.config();
    if (!config) return [];
    const { organizationId } = config;
    const pointers = await callOrganization(this.#env, organizationId, (organization) =>
      organization.pointersBetween(since, until, after ?? 0, limit),
    );
    return pointers.map(({ position, chatId, first, last }) => ({
      pos: position,
      subscriptionId: chatId ?? organizationId,
      first,
      last,
    }));
  }

  /** Tells the organization. A repeated call with the same id changes nothing. */
  async notify(notice: OrganizationNotice): Promise<void> {
    const webhookId = this.#identity.id;
    const config = await this.#identity.config();
    if (!config) return;
    const { organizationId } = config;
    await callOrganization(this.#env, organizationId, (organization) => {
      if (notice.type === "act") return organization.storeActs(organizationId, [notice.act]);
      const note = { webhookId, ...notice.note };
      return organization.webhookEvent(organizationId, notice.type, note, `${webhookId}:${notice.id}`);
    });
  }

  /** Tells the organization in which state the webhook is. A repeated call changes nothing. */
  async reportState(state: ReportedWebhookState): Promise<void> {
    const webhookId = this.#identity.id;
    const config = await this.#identity.config();
    if (!config) return;
    const { organizationId } = config;
    await callOrganization(this.#env, organizationId, (organization) =>
      organization.reportWebhook(organizationId, webhookId, state),
    );
  }

  /** @param subscriptionId the id of a chat or an organization, of which one has more after a dot */
  #callOwner<R>(subscriptionId: string, call: (owner: SubscriptionOwner) => R): Promise<Awaited<R>> {
    const [ownerId = ""] = subscriptionId.split(".");
    if (ownerId.startsWith("org_")) return callOrganization(this.#env, ownerId, call);
    return callObject(this.#env.CHATS, ownerId, call, NEARBY);
  }
}

/** The methods of the objects with subscriptions: chats, and organizations for their own events. */
interface SubscriptionOwner {
  wakeWebhook(
    webhookId: string,
    number: number,
    startedAt: number,
    subscriptionId: string,
    depth: number,
  ): Promise<unknown>;
  replayEvents(
    webhookId: string,
    replayId: string,
    ranges: EventRange[],
    subscriptionId: string,
  ): Promise<number | null>;
}
