import { brokenChannelReport, reportsOf } from "./channel-reports.ts";
import {
  afterAttempt,
  afterHold,
  afterWake,
  epochAfter,
  isSameAttempt,
  isStalePermit,
  judged,
  known,
  mayCancel,
  mayExpire,
  mayGoOn,
  nextStep,
  partsKept,
  rowOfStatus,
  startAttempt,
} from "./head.ts";
import { applyNews, partOut } from "./parts.ts";
import { isOverdue, newDelivery, wakeAt } from "./retry.ts";

/** The decisions of delivery. Tests replace some by wrong ones, to prove that the simulation detects them. */
export const DELIVERY_DECISIONS = {
  afterAttempt,
  afterHold,
  afterWake,
  applyNews,
  brokenChannelReport,
  epochAfter,
  isOverdue,
  isSameAttempt,
  isStalePermit,
  judged,
  known,
  mayCancel,
  mayExpire,
  mayGoOn,
  newDelivery,
  nextStep,
  partOut,
  partsKept,
  reportsOf,
  rowOfStatus,
  startAttempt,
  wakeAt,
};

export type DeliveryDecisions = typeof DELIVERY_DECISIONS;
