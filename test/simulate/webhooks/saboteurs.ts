import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service, each with one wrong place, which the simulation finds within a few dozen seeds. */
export const PLAIN_SABOTEURS = wrongVersions({
  "src/webhooks/subscription/sender.ts": {
    "the cursor moves before the answer": [
      "    const result = await callWebhook(this.#host, call, mayStart);",
      `    if (replayId === null) this.#stored.save({ ...this.#stored.subscription, cursor: fact.number, previous: fact.number });
    const result = await callWebhook(this.#host, call, () => this.#stored.exists);`,
    ],
    "a report sets no alarm": [
      "    if (hasReport || (this.#faults > 0 && this.#askAt > now)) return Math.max(now, this.#askAt);\n",
      "    if (hasReport) return null;\n",
    ],
    "`previous` is set at the attempt": [
      "    const previous = replayId === null ? this.#stored.subscription.previous : null;\n",
      "    const previous = replayId === null ? this.#stored.subscription.previous : null;\n    if (replayId === null) this.#stored.save({ ...this.#stored.subscription, previous: fact.number });\n",
    ],
  },
  "src/webhooks/subscription/subscription.ts": {
    "what a subscription gave up is not stored until it is reported": [
      "return { ...subscription, unreported: [...subscription.unreported, attempt], hasGivenUp: true };",
      "return subscription;",
    ],
    "a retry goes to the tail": ['const isOver = outcome !== "retry";', "const isOver = true;"],
    "a new filter moves the cursor past events that wait": [
      "cursor: Math.max(subscription.cursor, first - 1) };",
      "cursor: Math.max(subscription.cursor, next === null ? first - 1 : first) };",
    ],
    "old events are never too old": ["return now - at > MAX_AGE_MS;", "return now - at > 2 * MAX_AGE_MS;"],
    "events are too old after a week": ["return now - at > MAX_AGE_MS;", "return now - at > MAX_AGE_MS / 4;"],
    "Retry-After is ignored by the subscription": [
      "nextAt: now + Math.max(wait, retryAfterMs ?? 0) };",
      "nextAt: now + wait };",
    ],
    "a repeated call of a replay sends its events again": [
      "subscription.replayed?.id === id ? subscription.replayed.upTo : 0);",
      "0);",
    ],
  },
  "src/webhooks/object/probes.ts": {
    "the same chat makes each probe": [
      "return now >= probeAt && (subscriptionId !== lastLine || !othersWait);",
      "return now >= probeAt;",
    ],
    "probes come every five seconds": [
      "const failures = plan.failures + (onlyLine === null ? 1 : 0);",
      "const failures = plan.failures + (onlyLine === null ? 0 : 0);",
    ],
  },
  "src/model/event.ts": {
    "an event's id has no life": [
      "export function eventId(ownerId: string, life: string, number: number): string {",
      `export function eventId(ownerId: string, itsLife: string, number: number): string {
  const life = "0".repeat(itsLife.length);`,
    ],
  },
  "src/webhooks/object/pace.ts": {
    "a subscription gets two permits": [
      "if (heldUntil !== null && heldUntil > now) return decided(",
      "if (heldUntil !== null && heldUntil < now) return decided(",
    ],
    "a disabled webhook still has slots": [`  if (name === "disabled") return 0;\n`, ""],
    "starts are not spaced": ["const next = start + 1_000 / perSecond;", "const next = start + 0 / perSecond;"],
    "a webhook on trial gets all its slots": [`return name === "trial" ? 1 : concurrency;`, "return concurrency;"],
    "a subscription that asks during a pause comes back at its end, whoever ends it before": [
      `  if (state.pausedUntil - now > MAX_HOLD_MS) return decided({ outcome: "blocked" });\n`,
      "",
    ],
  },
  "src/webhooks/subscription/call-webhook.ts": {
    "an answer is kept that quotes a text redacted during the call": [
      "response: host.redactions() === redactions ? response : null,",
      "response,",
    ],
  },
  "src/webhooks/subscription/subscriptions.ts": {
    "answers are kept after a redaction": ["sender.forgetResponses();", "void sender;"],
    "a chat makes four calls at a time": ["const MAX_BUSY = 3;", "const MAX_BUSY = 4;"],
  },
  "src/webhooks/object/state.ts": {
    "Retry-After is ignored by the webhook's object": [
      "counts && retryAfterMs ? paused(state, subscriptionId, retryAfterMs, now) : state;",
      "state;",
    ],
    "five failures do not open the breaker": [
      "counted.failures >= FAILURES_IN_A_ROW",
      "counted.failures >= 2 * FAILURES_IN_A_ROW",
    ],
    "enabling does not end a pause": [
      "return state.pausedUntil <= now ? { state, tally, notices: [] } : freshStart(webhook, now);",
      "return { state, tally, notices: [] };",
    ],
    "a retry of the webhook leaves events that wait for their next try": [
      `return webhook.state.name === "failing" ? startTrial(webhook, now) : freshStart(webhook, now);`,
      'return enable(webhook, "pending", now);',
    ],
    "a retry of the webhook leaves the breaker open": [
      `return webhook.state.name === "failing" ? startTrial(webhook, now) : freshStart(webhook, now);`,
      "return freshStart(webhook, now);",
    ],
  },
  "src/webhooks/object/permits.ts": {
    "the alarm of waiting subscriptions is forgotten": [
      "nextChangeAt(this.#webhook.state), ...organizationAt, wakeAt]",
      "nextChangeAt(this.#webhook.state), ...organizationAt, wakeAt && null]",
    ],
  },
  "src/webhooks/object/attempt-log.ts": {
    "the tally of a log leaves a cursor open": [
      "      rows.unshift(...found);",
      `      rows.unshift(...found);
      this.#sql.exec("select seq from attempts_0 union all select seq from attempts_1").next();`,
    ],
  },
  "src/webhooks/object/ended-attempts.ts": {
    "an attempt is known before it is stored": [
      "    if (this.#reported.has(name)) return;\n",
      "    if (this.#reported.has(name)) return;\n    this.#reported.set(name, true);\n",
    ],
  },
  "src/webhooks/object/replay-run.ts": {
    "a replay repeats a step as long as one of its chats does not answer": [
      "for (const { subscriptionId, ranges: of } of missed) unreached.add(subscriptionId, of);",
      `if (missed.length > 0) throw new Error("A chat did not answer");`,
    ],
    "a replay waits for a chat that never answers": [
      "const answer = await inTime(clock, CALL_MS, work);",
      "const answer = await work;",
    ],
    "what a chat did not take of a replay is forgotten": [
      "for (const { subscriptionId, ranges: of } of missed) unreached.add(subscriptionId, of);",
      "void missed;",
    ],
    "a chat that does not answer gets the later events of a replay first": [
      "const count = unreached.has(subscription.subscriptionId) ? null : await this.#handOut(id, subscription);",
      "const count = await this.#handOut(id, subscription);",
    ],
  },
  "src/webhooks/subscription/pending-events.ts": {
    "a search ends after its first step": [
      "this.#searchedTo = this.#found ? this.#found.number - 1 : range[1];",
      "this.#searchedTo = this.#found ? this.#found.number - 1 : this.#host.newest();",
    ],
    "a replay ends after the first step of its search": [
      "return this.#firstOf(replay) ? subscription : withReplaySearched(subscription, replay, searchedTo);",
      "return this.#firstOf(replay) ? subscription : withReplaySearched(subscription, replay, searchedTo + 1_000);",
    ],
  },
  "src/chats/object/chat-report.ts": {
    "a webhook begins in a chat after its newest event": [
      "subscriptions.configure(answer.webhooks, answer.webhooks.startAfter);",
      "subscriptions.configure(answer.webhooks, this.#parts.log.events.newest);",
    ],
  },
});

/** These take up to 1,000 seeds, so `npm run test:deep` leaves them out. */
const RARE_SABOTEURS = wrongVersions({
  "src/webhooks/object/waker.ts": {
    "a wake-up waits for a chat that never answers": ["await withDeadline(clock, CALL_MS, wake);", "await wake();"],
    "a waiting row is deleted whatever its number": [
      "if (webhook.config) waiting.remove(subscriptionId, number);",
      "if (webhook.config) waiting.remove(subscriptionId);",
    ],
  },
  "src/webhooks/object/waiting-subscriptions.ts": {
    "the number of a subscription that waits can fall": [
      "number = max(number + 1, excluded.number)",
      "number = excluded.number",
    ],
  },
  "src/webhooks/object/permits.ts": {
    "a waiting row is deleted when a permit is granted": [
      "    return permit;\n",
      "    waiting.remove(subscriptionId);\n    return permit;\n",
    ],
  },
  "src/webhooks/subscription/sender.ts": {
    "a call starts although its chat was deleted": [
      "this.#stored.exists && this.#isCurrent(next) && isPermitFresh(",
      "isPermitFresh(",
    ],
  },
  "src/webhooks/subscription/call-webhook.ts": {
    "redactions are not compared after signing": ["    if (host.redactions() !== redactions) continue;\n", ""],
  },
  "src/webhooks/subscription/subscription.ts": {
    "a permit is good forever": ["return now - askedAt < PERMIT_MS;", "return now >= askedAt;"],
    "tries are not counted": [
      "const tries = { number: work.number, tries: work.tries + 1, nextAt };",
      "const tries = { number: work.number, tries: work.tries, nextAt };",
    ],
  },
  "src/webhooks/object/pace.ts": {
    "a start is valid whatever happened while it was waited for": [
      "return state.epoch === granted.epoch && ",
      "return state.epoch >= 0 || ",
    ],
  },
});

export const WEBHOOK_SABOTEURS = { ...PLAIN_SABOTEURS, ...RARE_SABOTEURS };
