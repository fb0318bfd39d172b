import { wrongVersions } from "../objects/wrong-versions.ts";

const starting = "if (brokenSince === null) return isMarked ? row.delivery : begin(row.delivery, now);";
const expiring = "return expiresAt !== null && expiresAt <= now && (delivery.startedAt === null || isMarked);";
const strangers = "if (!news.isOurs) return isOutcomeOpen(known) ? withEarly(known, news) : null;";

/** Wrong versions of the service, one for each way in which such a service has gone wrong: each must be found. */
export const COMMON_DELIVERY_SABOTEURS = wrongVersions({
  "src/chats/send-message.ts": {
    "a message whose shared call failed is sent as if no call had it": [
      "isRepeat: as.isRepeat || isRepeat",
      "isRepeat: as.isRepeat",
    ],
  },
  "src/chats/object/delivery/head.ts": {
    "an attempt is not written before the call": [starting, "return row.delivery;"],
    "the first attempt is not written before the call": [
      starting,
      `if (row.delivery.attempts === 0) return row.delivery; ${starting}`,
    ],
    "a lost attempt is made again at once": [
      "  if (delivery.startedAt !== null && !isMarked) {",
      "  if (delivery.startedAt === 0) {",
    ],
    "a lost attempt counts as sent": [
      `{ outcome: "unknown", message: INTERRUPTED.message, parts: parts.ids };`,
      `{ outcome: "sent", parts: ["?"], addresses: [] };`,
    ],
    "an outcome overrules what a status told": [
      "const before: Known = isOut ?",
      `const before: Known = isOut || row.status === "DELIVERED" || row.status === "READ" ?`,
    ],
    "the parts that are out are forgotten with each outcome": [
      `parts: step.state === "waiting" && status === "QUEUED" ? parts :`,
      `parts: step.state === "waiting" && status === "QUEUED" ? { ...parts, ids: [] } :`,
    ],
    "news counts for the head of the line, whatever it names": [
      "const row = messageId === null ?",
      "const row = log.queue.head() ? log.queue.head() : messageId === null ?",
    ],
    "a message waits for its back-off in the alarm alone": [
      `if (delivery.startedAt === null && wakeAt(delivery, now) > now) return { turn: "wait" };`,
      "",
    ],
    "an attempt that is open expires": [expiring, "return expiresAt !== null && expiresAt <= now;"],
    "an attempt begins after the expiry": [expiring, "return false;"],
    "an attempt begins although the message expired while it waited for its permit": ["current.isExpired || ", ""],
    "a message that breaks its channel again and again is never the cause": [
      "provenEpoch <= brokenEpoch)",
      "provenEpoch >= 0)",
    ],
    "a message is the cause though no other came through": [" || provenEpoch <= brokenEpoch)", ")"],
  },
  "src/chats/object/delivery/retry.ts": {
    "an unknown outcome does not wait for a status": ["Math.max(backoff, policy.unknownWaitMs);", "backoff;"],
    "an unknown outcome fails the message": [
      `return waiting({ ...closed, nextAt }, { code: "outcome_unknown", message: outcome.message });`,
      `return { state: "failed", error: { code: "unknown", message: String(nextAt) } };`,
    ],
    "attempts don't back off": ["backoffMs(RETRY, delivery.attempts - 1, random);", "backoffMs(RETRY, 0, random);"],
    "the network's wish to wait is not heard": ["Math.max(backoff, outcome.afterMs ?? 0);", "backoff;"],
    "a status moves a message back": [
      "return RANK[reported] > RANK[current] ?",
      `return RANK[reported] > RANK[current] || (current === "READ" && reported === "DELIVERED") ?`,
    ],
    "a failure that comes late undoes a delivery": [
      `if (reported === "FAILED") return current === "QUEUED" ||`,
      `if (reported === "FAILED") return current === "DELIVERED" || current === "QUEUED" ||`,
    ],
    "a message fails for a reason that nobody gave": [
      `return { state: "failed", error: { code: outcome.code, message: outcome.message } };`,
      `return { state: "failed", error: last ?? { code: outcome.code, message: outcome.message } };`,
    ],
    "a message that waits forever holds its line": [
      "if (delivery.firstAt === null) return false;",
      "if (delivery.firstAt !== 0) return false;",
    ],
    "a message is given up after an hour": ["DEADLINE_MS = 86_400_000;", "DEADLINE_MS = 3_600_000;"],
  },
  "src/chats/object/delivery/attempt.ts": {
    "a part that is out is not written before the next call": [
      "this.#chat.save(current, before, partOut(before, index, id));",
      "this.#chat.save(current, before, before);",
    ],
  },
  "src/chats/object/delivery/parts.ts": {
    "a failure that was proven wrong stays": [
      `if (known.status === "RECEIVED") return known;`,
      `if (known.status === "RECEIVED" || known.status === "FAILED") return known;`,
    ],
    "news of another program's message is taken for ours": [strangers, ""],
  },
  "src/chats/object/delivery/queue.ts": {
    "the alarm stands a minute too late": [
      "return head && wakeAt(head.delivery, now, expiryOf(head.message));",
      "return head && wakeAt(head.delivery, now, expiryOf(head.message)) + 60_000;",
    ],
    "a message that waits wakes its chat every ten seconds": [
      "return head && wakeAt(head.delivery, now, expiryOf(head.message));",
      "return head && Math.min(now + 10_000, wakeAt(head.delivery, now, expiryOf(head.message)));",
    ],
    "the queue is told without what expires": [
      "wakeAt(head.delivery, now, expiryOf(head.message))).toISOString()",
      "wakeAt(head.delivery, now)).toISOString()",
    ],
    "the queue counts what failed": ["depth: waits ? log.queue.depth() : 0,", "depth: waits ? log.newest().seq : 0,"],
  },
  "src/chats/object/delivery/outbox.ts": {
    "the head alone expires": [
      "rows.filter((row) => mayExpire(row, this.#marked === row.seq, now));",
      "rows.filter(() => false);",
    ],
  },
  "src/chats/object/delivery/cancelable.ts": {
    "a message is canceled after its attempt was stored": [
      "const isOpen = delivery.startedAt !== null && !isMarked;",
      "const isOpen = false;",
    ],
    "a message is canceled after an attempt without an answer": [
      "const isUnknown = parts.lost?.some((count) => count > 0) ?? false;",
      "const isUnknown = false;",
    ],
    "a message can't be canceled while it waits behind another one": [
      `return message.status === "QUEUED" && !isOpen &&`,
      `return delivery.attempts > 0 && message.status === "QUEUED" && !isOpen &&`,
    ],
  },
  "src/chats/object/status-change.ts": {
    "a status has the time of the one before": [
      "...(isNew && time && { [time]: updatedAt })",
      "...(isNew && time && { [time]: message.updatedAt })",
    ],
    "a status that was skipped gets a time": [
      "...(isNew && time && { [time]: updatedAt })",
      '...(isNew && time && { [time]: updatedAt }), ...(status === "READ" && { deliveredAt: updatedAt })',
    ],
  },
  "src/channels/object/pace.ts": {
    "the channel waits for a probe that was not made": [
      "if (attempt.probe === null) return endTrial(pace, attempt, false, now);",
      "return pace;",
    ],
    "an open breaker lets all through": ["  if (pace.breaker) {\n", "  if (pace.breaker && now === 0) {\n"],
    "each probe of a broken channel lets another follow": [
      `return { permit: { outcome: "granted", at, probe, trial: null }, pace: { ...pace, breaker } };`,
      `return { permit: { outcome: "granted", at, probe, trial: null }, pace };`,
    ],
    "an answer of before the channel was mended breaks it again": [
      "  if (attempt.epoch !== pace.epoch) return pace;\n",
      "",
    ],
    "a probe without an answer mends the channel": ["if (!works) return rescheduleProbe(pace, attempt, now);", ""],
    "a mended channel stays closed": ["return { ...pace, breaker: null, epoch, ", "return { ...pace, epoch, "],
    "starts that were waited for count, whatever came meanwhile": [
      "return pace.epoch === epoch && pace.pausedUntil <= at && pace.breaker === null;",
      "return true;",
    ],
    "a burst starts at once": [
      "const start = isInTime ? reserved : Math.max(now, pace.clock, pace.nextGrantAt);",
      "const start = now;",
    ],
    "all chats try an unproven channel": ["const isOnTrial = now < pace.trialUntil;", "const isOnTrial = false;"],
    "a probe's report counts each time that it comes": [
      "  if (!isCurrentProbe(breaker, attempt.probe)) return pace;",
      "  if (breaker.probes !== attempt.probe) return pace;",
    ],
    "the breaker is not stored": [
      "  return (\n    breakerChanged(before, pace) ||",
      "  return now === 0 && (\n    breakerChanged(before, pace) ||",
    ],
  },
  "src/chats/object/delivery/channel-reports.ts": {
    "a refused channel does not open the breaker": [
      `return [{ report: "broke", reason: outcome.reason }];`,
      "return [];",
    ],
  },
});

/** These take 100 to 1,000 seeds, so `npm run test:deep` leaves them out. */
const RARE_SABOTEURS = wrongVersions({
  "src/chats/object/delivery/parts.ts": {
    "a copy that failed fails the message": ["if (isOut && known.attempts > 1) return known;", ""],
    "early news is dropped": [strangers, "if (!news.isOurs) return isOutcomeOpen(known) ? known : null;"],
  },
  "src/channels/object/pace.ts": {
    "the channel's rest holds reserved starts no longer than a moment": [
      "pausedUntil: Math.max(pace.pausedUntil, until) };",
      "pausedUntil: 0 };",
    ],
  },
});

export const DELIVERY_SABOTEURS = { ...COMMON_DELIVERY_SABOTEURS, ...RARE_SABOTEURS };
