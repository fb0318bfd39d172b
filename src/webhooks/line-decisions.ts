import {
  afterAttempt,
  afterGivingUp,
  afterLater,
  afterReport,
  afterWake,
  awayMs,
  isExpired,
  isPermitFresh,
  judged,
  newLine,
  nextWork,
  replayWork,
  skippedTo,
  withFilter,
  withoutResponses,
  withReplay,
} from "./line.ts";

/** The decisions of lines. Tests replace some by wrong ones, to prove that the simulation detects them. */
export const LINE_DECISIONS = {
  afterAttempt,
  afterGivingUp,
  afterLater,
  afterReport,
  afterWake,
  awayMs,
  isExpired,
  isPermitFresh,
  judged,
  newLine,
  nextWork,
  replayWork,
  skippedTo,
  withFilter,
  withoutResponses,
  withReplay,
};

export type LineDecisions = typeof LINE_DECISIONS;
