import {
  attemptEnded,
  breakChannel,
  endTrial,
  isNews,
  isStillGood,
  mendChannel,
  mustStore,
  slowDown,
  takeLeave,
} from "../../src/channels/pace.ts";
import {
  held,
  isOldLeave,
  judged,
  known,
  mayGoOn,
  mendedBy,
  newsOfChannel,
  partsKept,
  reportsOf,
  rowOf,
  settled,
  shows,
  started,
  turnOf,
  woken,
} from "../../src/chats/delivery/head.ts";
import { partOut, takeNews } from "../../src/chats/delivery/parts.ts";
import { begin, isOverdue, NOT_TRIED, wakeAt } from "../../src/chats/delivery/schedule.ts";

const first = (startsNow: boolean, now: number) => (startsNow ? begin(NOT_TRIED, now) : NOT_TRIED);

/** All that decides in a delivery, as the service has it. A wrong version replaces some. */
export const DECISIONS = {
  attemptEnded,
  breakChannel,
  endTrial,
  first,
  held,
  isNews,
  isOldLeave,
  isOverdue,
  isStillGood,
  judged,
  known,
  mayGoOn,
  mendChannel,
  mendedBy,
  mustStore,
  newsOfChannel,
  partOut,
  partsKept,
  reportsOf,
  rowOf,
  settled,
  shows,
  slowDown,
  started,
  takeLeave,
  takeNews,
  turnOf,
  wakeAt,
  woken,
};

export type Decisions = typeof DECISIONS;
