import type { CALL_FAULTS } from "../objects/rules.ts";
import type { World } from "../objects/world.ts";

/** What may go wrong. Each seed has a part of it. */
export const DELIVERY_FAULTS = [
  "crash before a commit",
  "crash after a commit",
  "crash while waiting",
  "crash during a call",
  "chat evicted",
  "channel evicted",
  "alarm early or late",
  "alarm twice",
  "429 for one chat",
  "429 for the channel",
  "5xx",
  "worth one more try",
  "accepted and dropped",
  "lost on the way",
  "answer after the deadline",
  "deadline ignored",
  "refused permanently",
  "contact moved",
  "channel broken",
  "poisoned recipient",
  "channel broken by a status",
  "credentials changed",
  "channel does not answer",
  "report lost",
  "report twice",
  "wake-up lost",
  "channel's clock apart",
  "status before the answer",
  "status late",
  "status twice",
  "statuses out of order",
  "status without our id",
  "status of another program",
  "status FAILED",
  "a copy fails late",
  "redacted",
] as const;
/** The calls of clients and of the organization always arrive here, and there is no D1. */
type OtherFault = (typeof CALL_FAULTS)[number] | "clocks apart" | "D1 late";

/** What must hold; how each is meant stands at its check. */
export const DELIVERY_INVARIANTS = {
  stored: "an acknowledged message stays, in a sequence without a gap",
  marked: "an attempt is on disk before its first call",
  order: "the network is called in the order of the sequence",
  once: "a part that is known to be out is not sent again",
  copies: "a part is out once, and once more for each lost answer at most",
  wait: "WhatsApp: no second call before a status or the end of the wait",
  final: "no attempt begins once a message is done with",
  expiry: "no attempt begins after a message has expired, and it fails within a second then, wherever it waits",
  canceled: "a message is canceled only if it is certain that it was not sent, and always if no attempt began",
  schedule: "attempts keep the back-off and the network's wish",
  forward: "a status goes forward; FAILED is final unless proven wrong",
  cause: "a status has a cause: SENT a call that was accepted, FAILED a refusal or its time",
  times: "each status of a message has the time at which it came, and keeps it",
  copy: "a copy that failed does not fail the message that was sent again",
  queue: "a client is told of the queue as it is",
  told: "a message ends as what the network told of it",
  alarm: "an alarm stands while a message waits",
  due: "it stands no later than the message is due, after a crash a minute later",
  probe: "a broken channel has one call at a time, and not before its time",
  spurious: "a channel that works sends no chat away",
  rest: "no start before the network's rest is over",
  pace: "starts lie apart as the channel's pace wants",
  trial: "a channel that is not proven has one trial at a time",
  blame: "a message that breaks its channel again fails if another came through in between, and only then",
  twice: "a report that comes twice changes nothing of a channel's health",
  returned: "a permit that is not used holds up no other attempt",
  reports: "a chat reports what concerns its whole channel before it asks for the next permit",
  ends: "once faults stop, every message ends in time; what stays broken delays no other",
} as const;
type DeliveryInvariant = keyof typeof DELIVERY_INVARIANTS;

export type DeliveryWorld = World<(typeof DELIVERY_FAULTS)[number] | OtherFault, DeliveryInvariant>;
