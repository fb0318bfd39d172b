import { DECISIONS, type Decisions } from "./decisions.ts";

const {
  attemptEnded,
  breakChannel,
  judged,
  reportsOf,
  rowOfStatus,
  afterAttempt,
  slowDown,
  startAttempt,
  grantPermit,
  applyNews,
  isStalePermit,
  mayCancel,
  mayExpire,
  newDelivery,
  nextStep,
  wakeAt,
  withCredentials,
} = DECISIONS;

/** Wrong versions of the service's decisions, one for each way in which such a service has gone wrong: each must be found. */
export const SABOTEURS: Record<string, Partial<Decisions>> = {
  "an attempt is not written before the call": { startAttempt: (row) => row.delivery },
  "the first attempt is not written before the call": {
    newDelivery: (_startsNow, now) => newDelivery(false, now),
    startAttempt: (row, ...rest) => (row.delivery.attempts === 0 ? row.delivery : startAttempt(row, ...rest)),
  },
  "a lost attempt is made again at once": {
    nextStep: (row, _isMarked, now) => nextStep(row, true, now),
  },
  "a lost attempt counts as sent": {
    afterAttempt: (row, known, outcome, policy, now, random, attempt) =>
      afterAttempt(
        row,
        known,
        attempt ? outcome : { outcome: "sent", parts: ["?"], addresses: [] },
        policy,
        now,
        random,
        attempt,
      ),
  },
  "an unknown outcome does not wait for a status": {
    afterAttempt: (row, known, outcome, _policy, now, random, attempt) =>
      afterAttempt(row, known, outcome, { unknownWaitMs: 0 }, now, random, attempt),
  },
  "an unknown outcome fails the message": {
    afterAttempt: (row, known, outcome, ...rest) =>
      afterAttempt(
        row,
        known,
        outcome.outcome === "unknown" ? { ...outcome, outcome: "failed", code: "unknown" } : outcome,
        ...rest,
      ),
  },
  "attempts don't back off": {
    afterAttempt: (row, known, outcome, policy, now, random, attempt) => {
      const early = { ...row, delivery: { ...row.delivery, attempts: 1 } };
      const after = afterAttempt(early, known, outcome, policy, now, random, attempt);
      return { ...after, delivery: { ...after.delivery, attempts: row.delivery.attempts } };
    },
  },
  "the network's wish to wait is not heard": {
    afterAttempt: (row, known, outcome, ...rest) =>
      afterAttempt(row, known, outcome.outcome === "retry" ? { ...outcome, afterMs: null } : outcome, ...rest),
  },
  "an outcome overrules what a status told": {
    afterAttempt: (row, known, outcome, policy, now, random, attempt) =>
      afterAttempt(
        row,
        known.status === "DELIVERED" || known.status === "READ" ? { ...known, status: "QUEUED" } : known,
        outcome,
        policy,
        now,
        random,
        attempt,
      ),
  },
  "the parts that are out are forgotten with each outcome": {
    afterAttempt: (...given) => {
      const after = afterAttempt(...given);
      return after.status === "QUEUED" ? { ...after, parts: { ...after.parts, ids: [] } } : after;
    },
  },
  "a part that is out is not written before the next call": { partOut: (known) => known },
  "a status moves a message back": {
    applyNews: (known, news) => {
      const after = applyNews(known, news);
      const isBack = after && known.parts.of === 1 && known.status === "READ" && news.status === "DELIVERED";
      return isBack ? { ...after, status: "DELIVERED" } : after;
    },
  },
  "a failure that was proven wrong stays": {
    applyNews: (known, news) => (known.status === "FAILED" ? known : applyNews(known, news)),
  },
  "a failure that comes late undoes a delivery": {
    applyNews: (known, news) => {
      const after = applyNews(known, news);
      const isLate = news.status === "FAILED" && known.status === "DELIVERED" && news.isOurs;
      return after && isLate ? { ...after, status: "FAILED", error: news.error } : after;
    },
  },
  "news of another program's message is taken for ours": {
    applyNews: (known, news) => applyNews(known, { ...news, isOurs: true }),
  },
  "news counts for the head of the line, whatever it names": {
    rowOfStatus: (log, news, sending) => log.head() ?? rowOfStatus(log, news, sending),
  },
  "early news is dropped": { applyNews: (known, news) => (news.isOurs ? applyNews(known, news) : known) },
  "the alarm stands a minute too late": { wakeAt: (...given) => wakeAt(...given) + 60_000 },
  "a message waits for its back-off in the alarm alone": {
    nextStep: (row, isMarked, now) => {
      const turn = nextStep(row, isMarked, now);
      return turn.turn === "wait" ? { turn: "ask", reservedAt: null } : turn;
    },
  },
  "a message that waits forever holds its line": {
    nextStep: (row, isMarked, now) => nextStep({ ...row, delivery: { ...row.delivery, firstAt: null } }, isMarked, now),
    wakeAt: (delivery, ...rest) => wakeAt({ ...delivery, firstAt: null }, ...rest),
  },
  "a message is given up after an hour": {
    nextStep: (row, isMarked, now) => {
      const { firstAt } = row.delivery;
      const isOld = firstAt !== null && now - firstAt > 3_600_000;
      return isOld
        ? { turn: "expire", error: { code: "delivery_timeout", message: "" } }
        : nextStep(row, isMarked, now);
    },
  },
  "an attempt that is open expires": {
    mayExpire: (row, _isMarked, now) => mayExpire(row, true, now),
  },
  "the head alone expires": {
    mayExpire: () => false,
  },
  "an attempt begins after the expiry": {
    nextStep: (row, ...rest) => nextStep({ ...row, message: { ...row.message, expiresAt: undefined } }, ...rest),
    mayExpire: () => false,
  },
  "an attempt begins although the message expired while it waited for its permit": {
    isStalePermit: (isBroken, asked, current) => isStalePermit(isBroken, asked, { ...current, isExpired: false }),
  },
  "a message is canceled after its attempt was stored": {
    mayCancel: (row) => mayCancel(row, true),
  },
  "a message is canceled after an attempt without an answer": {
    mayCancel: (row, isMarked) => mayCancel({ ...row, parts: { ...row.parts, lost: [] } }, isMarked),
  },
  "a message can't be canceled while it waits behind another one": {
    mayCancel: (row, isMarked) => row.delivery.attempts > 0 && mayCancel(row, isMarked),
  },
  "the channel waits for a probe that was not made": { attemptUnused: (pace) => pace },
  "an open breaker lets all through": {
    grantPermit: (pace, ...rest) => grantPermit({ ...pace, breaker: null }, ...rest),
  },
  "each probe of a broken channel lets another follow": {
    grantPermit: (pace, ...rest) => {
      const answer = grantPermit(pace, ...rest);
      return { ...answer, pace: { ...answer.pace, breaker: pace.breaker } };
    },
  },
  "a refused channel does not open the breaker": {
    reportsOf: (outcome, attempt) => (outcome.outcome === "channel_broken" ? [] : reportsOf(outcome, attempt)),
  },
  "an answer of before the channel was mended breaks it again": {
    breakChannel: (pace, reason, attempt, now) => breakChannel(pace, reason, { ...attempt, epoch: pace.epoch }, now),
  },
  "a probe without an answer mends the channel": {
    attemptEnded: (pace, attempt, _works, now) => attemptEnded(pace, attempt, true, now),
  },
  "a mended channel stays closed": {
    attemptEnded: (pace, attempt, works, now) => attemptEnded(pace, attempt, works && !attempt.probe, now),
    withCredentials: (pace, version) => ({ ...withCredentials(pace, version), breaker: pace.breaker }),
  },
  "the channel's rest holds reserved starts no longer than a moment": {
    slowDown: (pace, afterMs, now) => ({ ...slowDown(pace, afterMs, now), pausedUntil: 0 }),
  },
  "starts that were waited for count, whatever came meanwhile": { isStillValid: () => true },
  "a burst starts at once": {
    grantPermit: (pace, ask, perSecond, now, random) =>
      grantPermit({ ...pace, clock: 0, nextGrantAt: 0 }, ask, perSecond, now, random),
  },
  "all chats try an unproven channel": {
    grantPermit: (pace, ...rest) => grantPermit({ ...pace, trialUntil: 0 }, ...rest),
  },
  "a message that breaks its channel again and again is never the cause": { judged: (outcome) => outcome },
  "a message is the cause though no other came through": {
    judged: (outcome, { probe }, brokenEpoch) =>
      judged(outcome, { probe, provenEpoch: Number.POSITIVE_INFINITY }, brokenEpoch),
  },
  "a probe's report counts each time that it comes": {
    breakChannel: (pace, reason, attempt, now) => {
      const { breaker } = pace;
      const open = breaker && { ...breaker, isProbing: breaker.isProbing || breaker.probes === attempt.probe };
      return breakChannel({ ...pace, breaker: open }, reason, attempt, now);
    },
  },
  "the breaker is not stored": { mustStore: () => false },
};
