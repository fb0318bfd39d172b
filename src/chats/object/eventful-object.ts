import { DurableObject } from "cloudflare:workers";
import type { EventRange } from "../../webhooks/rpc.ts";
import type * as rpc from "../rpc.ts";
import type { ChatIdentity } from "../rpc.ts";
import type { ChatParts } from "./chat-parts.ts";
import { UNKNOWN } from "./identity.ts";

/** A Durable Object with a chat's events, and the calls of those who read them and of webhooks that get them. */
export abstract class EventfulObject extends DurableObject<Env> {
  protected abstract readonly parts: ChatParts;

  /** Reads events; see `ChatEvents.read`. */
  async events(
    organizationId: string,
    range: rpc.EventsAsked,
    types: string[] | null,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ReadEventsAnswer> {
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    return identity
      ? this.parts.events.read(identity, range, types, () => this.parts.adoption.exists(identity.life))
      : UNKNOWN;
  }

  /** A webhook can be called again; see `Lines.wake`. */
  wakeWebhook(webhookId: string, number: number, startedAt?: number): Promise<number | null> {
    return this.parts.lines.wake(webhookId, number, startedAt);
  }

  /** Describes what the chat sends to a webhook. */
  async webhookLine(
    organizationId: string,
    webhookId: string,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.WebhookLineAnswer> {
    if (!this.parts.adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    return this.parts.lines.describe(webhookId);
  }

  /** Gives up the first event that waits for a webhook. */
  async skipEvent(
    organizationId: string,
    webhookId: string,
    eventId: string,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.SkipEventAnswer> {
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    return identity ? this.parts.lines.skip(identity, webhookId, eventId) : UNKNOWN;
  }

  /** Tries the first event that waits for a webhook at once. */
  async retryEvent(
    organizationId: string,
    webhookId: string,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.RetryEventAnswer> {
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    return identity ? this.parts.lines.retry(webhookId) : UNKNOWN;
  }

  /** Sends events to a webhook again; see `Lines.replay`. @returns null if there is no chat */
  async replayEvents(webhookId: string, replayId: string, ranges: EventRange[]): Promise<number | null> {
    return this.parts.adoption.identity() ? this.parts.lines.replay(webhookId, replayId, ranges) : null;
  }
}
