import { CALL_FAULTS, OBJECT_FAULTS } from "../objects/rules.ts";
import type { World } from "../objects/world.ts";

/** What may go wrong. Each seed has a part of it. */
export const WEBHOOK_FAULTS = [
  ...CALL_FAULTS,
  ...OBJECT_FAULTS,
  "D1 late",
  "D1 down",
  "chat lost",
  "webhook's object lost",
  "chat sleeps",
  "webhook's object sleeps",
  "chat silent",
  "an attempt is not stored",
  "organization away",
  "receiver dead",
  "receiver hangs",
  "5xx",
  "4xx",
  "410",
  "429 with Retry-After",
  "redirect",
  "accepted, answer lost",
  "slow answer",
  "event refused",
  "event poisoned",
  "chat deleted",
  "deleted before a call",
  "redacted before a call",
  "redacted during a call",
  "a month passes",
] as const;
type WebhookFault = (typeof WEBHOOK_FAULTS)[number];

/** What must hold. The numbers are those of the list of invariants in the design. */
export const WEBHOOK_INVARIANTS = {
  complete: "2: each matching event since a webhook's start ends: it is accepted or given up",
  logged: "2: a webhook's object logs each attempt that it was told of, once, without a gap",
  known: "2: the webhook's object knows each event that was given up",
  order: "3: an event's first attempt starts after all before it were accepted or given up",
  single: "3: a subscription has one call at a time",
  once: "4: an event that is known to be accepted or given up is not sent again",
  identity: "4: an event has one id, and no other event has it",
  replayed: "5: a replay reaches each chat that answers, also while another does not, and that one later",
  slots: "5: a chat makes three calls at a time at most",
  breaker: "6: five failures in a row open the breaker",
  probe: "6: while the breaker is open, one call is made at a time, at its time, and by another chat if one waits",
  disabled: "7: no call starts once a webhook is disabled or deleted",
  tries: "8: an event is given up after all its tries, or after 30 days, and is not sent after that",
  schedule: "8: the tries of an event keep their waits and the receiver's Retry-After",
  hurried: "8: a retry of the webhook sends all events that wait, within seconds",
  redacted: "9: no attempt begins with a redacted text, and no answer is kept that quotes it",
  erased: "9: no attempt begins after the chat's deletion",
  previous: "11: each call names the event before it that was accepted or given up",
  alarm: "12: while work is left, an alarm is set or under way",
  wake: "12: a webhook's object knows each subscription that waits for it, with a number that ends the wait",
  concurrency: "13: no more calls are under way than the webhook allows, and one on trial",
  pace: "13: starts lie apart as the webhook's pace wants",
  pause: "13: no call starts before the end of a pause that the receiver asked for",
  ended: "13: once somebody ends a pause, no subscription waits for it any longer",
} as const;
type WebhookInvariant = keyof typeof WEBHOOK_INVARIANTS;

export type WebhookWorld = World<WebhookFault, WebhookInvariant>;
