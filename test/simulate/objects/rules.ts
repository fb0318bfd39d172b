/** What may go wrong with a call between places. */
export const CALL_FAULTS = ["call late", "call lost", "call twice", "answer lost", "answer late"] as const;

/** What may go wrong with an object. */
export const OBJECT_FAULTS = [
  "crash before a commit",
  "crash after a commit",
  "alarm early or late",
  "alarm twice",
  "clocks apart",
] as const;
