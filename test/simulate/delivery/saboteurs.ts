import type { Replacement } from "../objects/bundle.ts";

const attempt = "src/chats/object/delivery/attempt.ts";
const cancelable = "src/chats/object/delivery/cancelable.ts";
const head = "src/chats/object/delivery/head.ts";
const outbox = "src/chats/object/delivery/outbox.ts";
const pace = "src/channels/object/pace.ts";
const parts = "src/chats/object/delivery/parts.ts";
const queue = "src/chats/object/delivery/queue.ts";
const reports = "src/chats/object/delivery/channel-reports.ts";
const status = "src/chats/object/message-status.ts";
const retry = "src/chats/object/delivery/retry.ts";
const send = "src/chats/send-message.ts";

const starting = "if (brokenSince === null) return isMarked ? row.delivery : begin(row.delivery, now);";
const expiring = "return expiresAt !== null && expiresAt <= now && (delivery.startedAt === null || isMarked);";
const strangers = "if (!news.isOurs) return isOutcomeOpen(known) ? withEarly(known, news) : null;";

/** Wrong versions of the service, one for each way in which such a service has gone wrong: each must be found. */
export const DELIVERY_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a message whose shared call failed is sent as if no call had it": {
    file: send,
    right: "isRepeat: as.isRepeat || isRepeat",
    wrong: "isRepeat: as.isRepeat",
  },
  "an attempt is not written before the call": {
    file: head,
    right: starting,
    wrong: "return row.delivery;",
  },
  "the first attempt is not written before the call": {
    file: head,
    right: starting,
    wrong: `if (row.delivery.attempts === 0) return row.delivery; ${starting}`,
  },
  "a lost attempt is made again at once": {
    file: head,
    right: "  if (delivery.startedAt !== null && !isMarked) {",
    wrong: "  if (delivery.startedAt === 0) {",
  },
  "a lost attempt counts as sent": {
    file: head,
    right: `{ outcome: "unknown", message: INTERRUPTED.message, parts: parts.ids };`,
    wrong: `{ outcome: "sent", parts: ["?"], addresses: [] };`,
  },
  "an unknown outcome does not wait for a status": {
    file: retry,
    right: "Math.max(backoff, policy.unknownWaitMs);",
    wrong: "backoff;",
  },
  "an unknown outcome fails the message": {
    file: retry,
    right: `return waiting({ ...closed, nextAt }, { code: "outcome_unknown", message: outcome.message });`,
    wrong: `return { state: "failed", error: { code: "unknown", message: String(nextAt) } };`,
  },
  "attempts don't back off": {
    file: retry,
    right: "backoffMs(RETRY, delivery.attempts - 1, random);",
    wrong: "backoffMs(RETRY, 0, random);",
  },
  "the network's wish to wait is not heard": {
    file: retry,
    right: "Math.max(backoff, outcome.afterMs ?? 0);",
    wrong: "backoff;",
  },
  "an outcome overrules what a status told": {
    file: head,
    right: "const before: Known = isOut ?",
    wrong: `const before: Known = isOut || row.status === "DELIVERED" || row.status === "READ" ?`,
  },
  "the parts that are out are forgotten with each outcome": {
    file: head,
    right: `parts: step.state === "waiting" && status === "QUEUED" ? parts :`,
    wrong: `parts: step.state === "waiting" && status === "QUEUED" ? { ...parts, ids: [] } :`,
  },
  "a part that is out is not written before the next call": {
    file: attempt,
    right: "this.#chat.save(current, before, partOut(before, index, id));",
    wrong: "this.#chat.save(current, before, before);",
  },
  "a status moves a message back": {
    file: retry,
    right: "return RANK[reported] > RANK[current] ?",
    wrong: `return RANK[reported] > RANK[current] || (current === "READ" && reported === "DELIVERED") ?`,
  },
  "a failure that was proven wrong stays": {
    file: parts,
    right: `if (known.status === "RECEIVED") return known;`,
    wrong: `if (known.status === "RECEIVED" || known.status === "FAILED") return known;`,
  },
  "a failure that comes late undoes a delivery": {
    file: retry,
    right: `if (reported === "FAILED") return current === "QUEUED" ||`,
    wrong: `if (reported === "FAILED") return current === "DELIVERED" || current === "QUEUED" ||`,
  },
  "news of another program's message is taken for ours": {
    file: parts,
    right: strangers,
    wrong: "",
  },
  "news counts for the head of the line, whatever it names": {
    file: head,
    right: "const row = messageId === null ?",
    wrong: "const row = log.queue.head() ? log.queue.head() : messageId === null ?",
  },
  "early news is dropped": {
    file: parts,
    right: strangers,
    wrong: "if (!news.isOurs) return isOutcomeOpen(known) ? known : null;",
  },
  "the alarm stands a minute too late": {
    file: queue,
    right: "return head && wakeAt(head.delivery, now, expiryOf(head.message));",
    wrong: "return head && wakeAt(head.delivery, now, expiryOf(head.message)) + 60_000;",
  },
  "a message that waits wakes its chat every ten seconds": {
    file: queue,
    right: "return head && wakeAt(head.delivery, now, expiryOf(head.message));",
    wrong: "return head && Math.min(now + 10_000, wakeAt(head.delivery, now, expiryOf(head.message)));",
  },
  "a message fails for a reason that nobody gave": {
    file: retry,
    right: `return { state: "failed", error: { code: outcome.code, message: outcome.message } };`,
    wrong: `return { state: "failed", error: last ?? { code: outcome.code, message: outcome.message } };`,
  },
  "a message waits for its back-off in the alarm alone": {
    file: head,
    right: `if (delivery.startedAt === null && wakeAt(delivery, now) > now) return { turn: "wait" };`,
    wrong: "",
  },
  "a message that waits forever holds its line": {
    file: retry,
    right: "if (delivery.firstAt === null) return false;",
    wrong: "if (delivery.firstAt !== 0) return false;",
  },
  "a message is given up after an hour": {
    file: retry,
    right: "DEADLINE_MS = 86_400_000;",
    wrong: "DEADLINE_MS = 3_600_000;",
  },
  "an attempt that is open expires": {
    file: head,
    right: expiring,
    wrong: "return expiresAt !== null && expiresAt <= now;",
  },
  "the head alone expires": {
    file: outbox,
    right: "rows.filter((row) => mayExpire(row, this.#marked === row.seq, now));",
    wrong: "rows.filter(() => false);",
  },
  "an attempt begins after the expiry": {
    file: head,
    right: expiring,
    wrong: "return false;",
  },
  "an attempt begins although the message expired while it waited for its permit": {
    file: head,
    right: "current.isExpired || ",
    wrong: "",
  },
  "a message is canceled after its attempt was stored": {
    file: cancelable,
    right: "const isOpen = delivery.startedAt !== null && !isMarked;",
    wrong: "const isOpen = false;",
  },
  "a message is canceled after an attempt without an answer": {
    file: cancelable,
    right: "const isUnknown = parts.lost?.some((count) => count > 0) ?? false;",
    wrong: "const isUnknown = false;",
  },
  "a message can't be canceled while it waits behind another one": {
    file: cancelable,
    right: `return message.status === "QUEUED" && !isOpen &&`,
    wrong: `return delivery.attempts > 0 && message.status === "QUEUED" && !isOpen &&`,
  },
  "a copy that failed fails the message": {
    file: parts,
    right: "if (isOut && known.attempts > 1) return known;",
    wrong: "",
  },
  "a status has the time of the one before": {
    file: status,
    right: "...(isNew && time && { [time]: updatedAt })",
    wrong: "...(isNew && time && { [time]: message.updatedAt })",
  },
  "a status that was skipped gets a time": {
    file: status,
    right: "...(isNew && time && { [time]: updatedAt })",
    wrong: '...(isNew && time && { [time]: updatedAt }), ...(status === "READ" && { deliveredAt: updatedAt })',
  },
  "the queue is told without what expires": {
    file: queue,
    right: "wakeAt(head.delivery, now, expiryOf(head.message))).toISOString()",
    wrong: "wakeAt(head.delivery, now)).toISOString()",
  },
  "the queue counts what failed": {
    file: queue,
    right: "depth: waits ? log.queue.depth() : 0,",
    wrong: "depth: waits ? log.newest().seq : 0,",
  },
  "the channel waits for a probe that was not made": {
    file: pace,
    right: "if (attempt.probe === null) return endTrial(pace, attempt, false, now);",
    wrong: "return pace;",
  },
  "an open breaker lets all through": {
    file: pace,
    right: "  if (pace.breaker) {\n",
    wrong: "  if (pace.breaker && now === 0) {\n",
  },
  "each probe of a broken channel lets another follow": {
    file: pace,
    right: `return { permit: { outcome: "granted", at, probe, trial: null }, pace: { ...pace, breaker } };`,
    wrong: `return { permit: { outcome: "granted", at, probe, trial: null }, pace };`,
  },
  "a refused channel does not open the breaker": {
    file: reports,
    right: `return [{ report: "broke", reason: outcome.reason }];`,
    wrong: "return [];",
  },
  "an answer of before the channel was mended breaks it again": {
    file: pace,
    right: "  if (attempt.epoch !== pace.epoch) return pace;\n",
    wrong: "",
  },
  "a probe without an answer mends the channel": {
    file: pace,
    right: "if (!works) return rescheduleProbe(pace, attempt, now);",
    wrong: "",
  },
  "a mended channel stays closed": {
    file: pace,
    right: "return { ...pace, breaker: null, epoch, ",
    wrong: "return { ...pace, epoch, ",
  },
  "the channel's rest holds reserved starts no longer than a moment": {
    file: pace,
    right: "pausedUntil: Math.max(pace.pausedUntil, until) };",
    wrong: "pausedUntil: 0 };",
  },
  "starts that were waited for count, whatever came meanwhile": {
    file: pace,
    right: "return pace.epoch === epoch && pace.pausedUntil <= at && pace.breaker === null;",
    wrong: "return true;",
  },
  "a burst starts at once": {
    file: pace,
    right: "const start = isInTime ? reserved : Math.max(now, pace.clock, pace.nextGrantAt);",
    wrong: "const start = now;",
  },
  "all chats try an unproven channel": {
    file: pace,
    right: "const isOnTrial = now < pace.trialUntil;",
    wrong: "const isOnTrial = false;",
  },
  "a message that breaks its channel again and again is never the cause": {
    file: head,
    right: "provenEpoch <= brokenEpoch)",
    wrong: "provenEpoch >= 0)",
  },
  "a message is the cause though no other came through": {
    file: head,
    right: " || provenEpoch <= brokenEpoch)",
    wrong: ")",
  },
  "a probe's report counts each time that it comes": {
    file: pace,
    right: "  if (!isCurrentProbe(breaker, attempt.probe)) return pace;",
    wrong: "  if (breaker.probes !== attempt.probe) return pace;",
  },
  "the breaker is not stored": {
    file: pace,
    right: "  return (\n    breakerChanged(before, pace) ||",
    wrong: "  return now === 0 && (\n    breakerChanged(before, pace) ||",
  },
};
