/** Where the work on a chat stands: `snoozed` is put off until a time, `closed` is done until the contact writes again. */
export const WORK_STATES = ["open", "snoozed", "closed"] as const;
export type WorkState = (typeof WORK_STATES)[number];

/** The state of a chat's work. */
export interface WorkStatus {
  state: WorkState;
  /** Unix milliseconds; null unless the chat is snoozed. */
  snoozedUntil: number | null;
}

export const OPEN: WorkStatus = { state: "open", snoozedUntil: null };
