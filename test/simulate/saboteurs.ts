import { DECISIONS, type Decisions } from "./decisions.ts";

const {
  attemptEnded,
  breakChannel,
  first,
  judged,
  mendChannel,
  reportsOf,
  rowOf,
  settled,
  slowDown,
  started,
  takeLeave,
  takeNews,
  turnOf,
  wakeAt,
} = DECISIONS;

/** Wrong versions of the service's decisions, one for each way in which such a service has gone wrong: each must be found. */
export const SABOTEURS: Record<string, Partial<Decisions>> = {
  "an attempt is not written before the call": { started: (row) => row.delivery },
  "the first attempt is not marked in the insert, but taken as if it were": {
    first: (_startsNow, now) => first(false, now),
    started: (row, since, isMarked, now) => (isMarked ? row.delivery : started(row, since, isMarked, now)),
  },
  "a lost attempt is made again at once": {
    turnOf: (row, _isMarked, now) => turnOf(row, true, now),
  },
  "a lost attempt counts as sent": {
    settled: (row, known, outcome, policy, now, random, attempt) =>
      settled(
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
    settled: (row, known, outcome, _policy, now, random, attempt) =>
      settled(row, known, outcome, { unknownWaitMs: 0 }, now, random, attempt),
  },
  "an unknown outcome fails the message": {
    settled: (row, known, outcome, ...rest) =>
      settled(
        row,
        known,
        outcome.outcome === "unknown" ? { ...outcome, outcome: "failed", code: "unknown" } : outcome,
        ...rest,
      ),
  },
  "attempts don't back off": {
    settled: (row, known, outcome, policy, now, random, attempt) => {
      const early = { ...row, delivery: { ...row.delivery, attempts: 1 } };
      const after = settled(early, known, outcome, policy, now, random, attempt);
      return { ...after, delivery: { ...after.delivery, attempts: row.delivery.attempts } };
    },
  },
  "the network's wish to wait is not heard": {
    settled: (row, known, outcome, ...rest) =>
      settled(row, known, outcome.outcome === "retry" ? { ...outcome, afterMs: null } : outcome, ...rest),
  },
  "an outcome overrules what a status told": {
    settled: (row, known, outcome, policy, now, random, attempt) =>
      settled(
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
    settled: (...given) => {
      const after = settled(...given);
      return after.status === "QUEUED" ? { ...after, parts: { ...after.parts, ids: [] } } : after;
    },
  },
  "a part that is out is not written before the next call": { partOut: (known) => known },
  "a status moves a message back": {
    takeNews: (known, news) => {
      const after = takeNews(known, news);
      const isBack = after && known.parts.of === 1 && known.status === "READ" && news.status === "DELIVERED";
      return isBack ? { ...after, status: "DELIVERED" } : after;
    },
  },
  "a failure that was proven wrong stays": {
    takeNews: (known, news) => (known.status === "FAILED" ? known : takeNews(known, news)),
  },
  "a failure that comes late undoes a delivery": {
    takeNews: (known, news) => {
      const after = takeNews(known, news);
      const isLate = news.status === "FAILED" && known.status === "DELIVERED" && news.isOurs;
      return after && isLate ? { ...after, status: "FAILED", error: news.error } : after;
    },
  },
  "news of another program's message is taken for ours": {
    takeNews: (known, news) => takeNews(known, { ...news, isOurs: true }),
  },
  "news counts for the head of the line, whatever it names": {
    rowOf: (log, news, sending) => log.head() ?? rowOf(log, news, sending),
  },
  "early news is dropped": { takeNews: (known, news) => (news.isOurs ? takeNews(known, news) : known) },
  "the alarm stands a minute too late": { wakeAt: (delivery, now) => wakeAt(delivery, now) + 60_000 },
  "a message waits for its back-off in the alarm alone": {
    turnOf: (row, isMarked, now) => {
      const turn = turnOf(row, isMarked, now);
      return turn.turn === "wait" ? { turn: "ask", reservedAt: null } : turn;
    },
  },
  "a message that waits forever holds its line": {
    turnOf: (row, isMarked, now) => turnOf({ ...row, delivery: { ...row.delivery, firstAt: null } }, isMarked, now),
    wakeAt: (delivery, now) => wakeAt({ ...delivery, firstAt: null }, now),
  },
  "a message is given up after an hour": {
    turnOf: (row, isMarked, now) => {
      const { firstAt } = row.delivery;
      const isOld = firstAt !== null && now - firstAt > 3_600_000;
      return isOld ? { turn: "expire", error: { code: "delivery_timeout", message: "" } } : turnOf(row, isMarked, now);
    },
  },
  "an open breaker lets all through": {
    takeLeave: (pace, ...rest) => takeLeave({ ...pace, breaker: null }, ...rest),
  },
  "each probe of a broken channel lets another follow": {
    takeLeave: (pace, ...rest) => {
      const answer = takeLeave(pace, ...rest);
      return { ...answer, pace: { ...answer.pace, breaker: pace.breaker } };
    },
  },
  "a refused channel does not open the breaker": {
    reportsOf: (outcome, attempt) => (outcome.outcome === "channel_broken" ? [] : reportsOf(outcome, attempt)),
  },
  "an answer of before the channel was mended breaks it again": {
    breakChannel: (pace, reason, attempt, now) => breakChannel(pace, reason, { ...attempt, mended: pace.mended }, now),
  },
  "a probe without an answer mends the channel": {
    attemptEnded: (pace, attempt, _works, now) => attemptEnded(pace, attempt, true, now),
  },
  "a mended channel stays closed": {
    attemptEnded: (pace, attempt, works, now) => attemptEnded(pace, attempt, works && !attempt.probe, now),
    mendChannel: (pace, provenAt) => ({ ...mendChannel(pace, provenAt), breaker: pace.breaker }),
  },
  "the channel's rest holds reserved starts no longer than a moment": {
    slowDown: (pace, afterMs, now) => ({ ...slowDown(pace, afterMs, now), pausedUntil: 0 }),
  },
  "starts that were waited for count, whatever came meanwhile": { isStillGood: () => true },
  "a burst starts at once": {
    takeLeave: (pace, ask, perSecond, now, random) =>
      takeLeave({ ...pace, clock: 0, line: 0 }, ask, perSecond, now, random),
  },
  "all chats try an unproven channel": {
    takeLeave: (pace, ...rest) => takeLeave({ ...pace, trialUntil: 0 }, ...rest),
  },
  "a message that breaks its channel again and again is never the cause": { judged: (outcome) => outcome },
  "a message is the cause though no other came through": {
    judged: (outcome, { probe }, brokeIn) => judged(outcome, { probe, provenIn: Number.POSITIVE_INFINITY }, brokeIn),
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
