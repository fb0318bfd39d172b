import { DurableObject } from "cloudflare:workers";
import type * as rpc from "../../model/chat-calls.ts";
import type { AsOwner } from "../../model/chat-calls.ts";
import type { EventRange } from "../../model/webhook.ts";
import type { ChatParts } from "./chat-parts.ts";

/** A Durable Object with a chat's events, and the calls of those who read them and of webhooks that get them. */
export abstract class EventfulObject extends DurableObject<Env> {
  protected abstract readonly parts: ChatParts;

  /** Reads events; see `ChatEvents.read`. */
  async events(as: AsOwner, range: rpc.EventsAsked, types: string[] | null): Promise<rpc.ReadEventsAnswer> {
    const { adoption, events } = this.parts;
    return adoption.forOwner(as, (identity) =>
      events.read(identity, range, types, () => adoption.exists(identity.life)),
    );
  }

  /** A webhook can be called again; see `Lines.wake`. */
  wakeWebhook(webhookId: string, number: number, startedAt?: number): Promise<number | null> {
    return this.parts.lines.wake(webhookId, number, startedAt);
  }

  /** Describes what the chat sends to a webhook. */
  async webhookLine(as: AsOwner, webhookId: string): Promise<rpc.WebhookLineAnswer> {
    return this.parts.adoption.forOwner(as, () => this.parts.lines.describe(webhookId));
  }

  /** Gives up the first event that waits for a webhook. */
  async skipEvent(as: AsOwner, webhookId: string, eventId: string): Promise<rpc.SkipEventAnswer> {
    return this.parts.adoption.forOwner(as, (identity) => this.parts.lines.skip(identity, webhookId, eventId));
  }

  /** Tries the first event that waits for a webhook at once. */
  async retryEvent(as: AsOwner, webhookId: string): Promise<rpc.RetryEventAnswer> {
    return this.parts.adoption.forOwner(as, () => this.parts.lines.retry(webhookId));
  }

  /** Sends events to a webhook again; see `Lines.replay`. @returns null if there is no chat */
  async replayEvents(webhookId: string, replayId: string, ranges: EventRange[]): Promise<number | null> {
    return this.parts.adoption.identity() ? this.parts.lines.replay(webhookId, replayId, ranges) : null;
  }
}
