import {
  affectsWaiters,
  attemptEnded,
  breakChannel,
  closeBreaker,
  endTrial,
  grantPermit,
  isStillValid,
  mustStore,
  slowDown,
} from "../../src/channels/pace.ts";
import {
  afterAttempt,
  afterHold,
  afterWake,
  brokenChannelReport,
  epochAfter,
  isSameAttempt,
  isStalePermit,
  judged,
  known,
  mayGoOn,
  nextStep,
  partsKept,
  reportsOf,
  rowOfStatus,
  startAttempt,
} from "../../src/chats/delivery/head.ts";
import { applyNews, partOut } from "../../src/chats/delivery/parts.ts";
import { begin, isOverdue, NOT_TRIED, wakeAt } from "../../src/chats/delivery/retry.ts";

const first = (startsNow: boolean, now: number) => (startsNow ? begin(NOT_TRIED, now) : NOT_TRIED);

/** All that decides in a delivery, as the service has it. A wrong version replaces some. */
export const DECISIONS = {
  attemptEnded,
  breakChannel,
  endTrial,
  first,
  afterHold,
  affectsWaiters,
  isStalePermit,
  isOverdue,
  isStillValid,
  judged,
  known,
  mayGoOn,
  closeBreaker,
  epochAfter,
  mustStore,
  brokenChannelReport,
  partOut,
  partsKept,
  reportsOf,
  rowOfStatus,
  afterAttempt,
  isSameAttempt,
  slowDown,
  startAttempt,
  grantPermit,
  applyNews,
  nextStep,
  wakeAt,
  afterWake,
};

export type Decisions = typeof DECISIONS;
