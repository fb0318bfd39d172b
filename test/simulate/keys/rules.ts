import { CALL_FAULTS, OBJECT_FAULTS } from "../objects/rules.ts";
import type { World } from "../objects/world.ts";

/** What may go wrong. Each seed has a part of it. */
export const KEY_FAULTS = [
  ...CALL_FAULTS,
  "instance lost",
  "isolate lost",
  ...OBJECT_FAULTS,
  "object's clock set back",
  "isolate's clock steps",
  "isolate's clock stands still",
  "isolate paused",
  "D1 down",
  "D1 late",
] as const;
type KeyFault = (typeof KEY_FAULTS)[number];

/** Faults after which an isolate's clock says nothing about how long something takes. */
export const CLOCK_FAULTS = ["isolate's clock steps", "isolate's clock stands still"] as const;

/** Without these each unit that is granted is used, or is returned in time. */
export const LOSSY_FAULTS: readonly KeyFault[] = [
  "call late",
  "call lost",
  "answer lost",
  "answer late",
  "instance lost",
  "isolate lost",
  "crash before a commit",
  "crash after a commit",
  "object's clock set back",
  ...CLOCK_FAULTS,
  "isolate paused",
  "D1 down",
  "D1 late",
];

/** What must hold. */
export const KEY_INVARIANTS = {
  limit: "in no window more requests are admitted than its limit, and no window begins before the one before it ended",
  quota: "in no month more requests are admitted than the quota",
  change: "a request that begins after a change is judged by the changed key",
  ended: "no request is admitted by a secret or a key that has ended",
  deleted: "after the answer of an organization's deletion its keys admit nothing",
  refused: "a request is refused only by what the key is, and a refusal is repeated for at most a second",
  counted: "at rest a key has counted all that it admitted, and at most one block for each loss beside it",
  statistics: "at rest the organization knows what each key admitted",
  remaining: "a single caller sees Remaining fall by one with each request",
  over: "no unit that was granted ahead is used after its end, or by another secret, address or permission",
  wait: "a change waits a second at most, and only where a grant may be open",
  ahead: "what is granted ahead is at most 5 % of the limit and 1 % of what the quota has left",
  pace: "units are granted ahead only to a busy isolate, by an object that is awake for a second, with 20 % of the limit left",
  rest: "when faults have stopped, all alarms end",
} as const;
type KeyInvariant = keyof typeof KEY_INVARIANTS;

export type KeyWorld = World<KeyFault, KeyInvariant>;
