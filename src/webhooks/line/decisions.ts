import {
  afterGivingUp,
  afterLater,
  afterReport,
  awayMs,
  isExpired,
  isPermitFresh,
  judgedAttempt,
  lineAfterAttempt,
  lineAfterWake,
  newLine,
  nextWork,
  replayWork,
  skippedTo,
  withFilter,
  withoutResponses,
  withReplay,
  withReplaySearched,
} from "./line.ts";

/** The decisions of lines. Tests replace some by wrong ones, to prove that the simulation detects them. */
export const LINE_DECISIONS = {
  lineAfterAttempt,
  afterGivingUp,
  afterLater,
  afterReport,
  lineAfterWake,
  awayMs,
  isExpired,
  isPermitFresh,
  judgedAttempt,
  newLine,
  nextWork,
  replayWork,
  skippedTo,
  withFilter,
  withoutResponses,
  withReplay,
  withReplaySearched,
};

export type LineDecisions = typeof LINE_DECISIONS;
