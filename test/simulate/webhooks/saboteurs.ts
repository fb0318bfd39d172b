import type { Replacement } from "../objects/bundle.ts";

const line = "src/webhooks/line/line.ts";
const sender = "src/webhooks/line/sender.ts";
const call = "src/webhooks/line/call-webhook.ts";
const lines = "src/webhooks/line/lines.ts";
const permits = "src/webhooks/object/permits.ts";
const ended = "src/webhooks/object/ended-attempts.ts";
const pace = "src/webhooks/object/pace.ts";
const probes = "src/webhooks/object/probes.ts";
const state = "src/webhooks/object/state.ts";
const waker = "src/webhooks/object/waker.ts";
const log = "src/webhooks/object/attempt-log.ts";
const replays = "src/webhooks/object/replay-run.ts";
const pending = "src/webhooks/line/pending-events.ts";

/** Wrong versions of the service, each with one wrong place, which the simulation finds within a few dozen seeds. */
export const PLAIN_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "the cursor moves before the answer": {
    file: sender,
    right: "    const result = await callWebhook(this.#host, call, mayStart);",
    wrong: `    if (replayId === null) this.#kept.save({ ...this.#kept.line, cursor: fact.number, previous: fact.number });
    const result = await callWebhook(this.#host, call, () => this.#kept.exists);`,
  },
  "a report sets no alarm": {
    file: sender,
    right: "    if (hasReport || (this.#faults > 0 && this.#askAt > now)) return Math.max(now, this.#askAt);\n",
    wrong: "    if (hasReport) return null;\n",
  },
  "what a line gave up is not stored until it is reported": {
    file: line,
    right: "return { ...line, unreported: [...line.unreported, attempt], hasGivenUp: true };",
    wrong: "return line;",
  },
  "a retry goes to the tail": {
    file: line,
    right: 'const isOver = outcome !== "retry";',
    wrong: "const isOver = true;",
  },
  "the same chat makes each probe": {
    file: probes,
    right: "return now >= probeAt && (lineId !== lastLine || !othersWait);",
    wrong: "return now >= probeAt;",
  },
  "an event's id has no life": {
    file: "src/model/event.ts",
    right: "export function eventId(ownerId: string, life: string, number: number): string {",
    wrong: `export function eventId(ownerId: string, itsLife: string, number: number): string {
  const life = "0".repeat(itsLife.length);`,
  },
  "`previous` is set at the attempt": {
    file: sender,
    right: "    const previous = replayId === null ? this.#kept.line.previous : null;\n",
    wrong:
      "    const previous = replayId === null ? this.#kept.line.previous : null;\n    if (replayId === null) this.#kept.save({ ...this.#kept.line, previous: fact.number });\n",
  },
  "a line gets two permits": {
    file: pace,
    right: "if (heldUntil !== null && heldUntil > now) return decided(",
    wrong: "if (heldUntil !== null && heldUntil < now) return decided(",
  },
  "a new filter moves the cursor past events that wait": {
    file: line,
    right: "cursor: Math.max(line.cursor, first - 1) };",
    wrong: "cursor: Math.max(line.cursor, next === null ? first - 1 : first) };",
  },
  "an answer is kept that quotes a text redacted during the call": {
    file: call,
    right: "response: host.redactions() === redactions ? response : null,",
    wrong: "response,",
  },
  "answers are kept after a redaction": {
    file: lines,
    right: "sender.forgetResponses();",
    wrong: "void sender;",
  },
  "old events are never too old": {
    file: line,
    right: "return now - at > MAX_AGE_MS;",
    wrong: "return now - at > 2 * MAX_AGE_MS;",
  },
  "events are too old after a week": {
    file: line,
    right: "return now - at > MAX_AGE_MS;",
    wrong: "return now - at > MAX_AGE_MS / 4;",
  },
  "Retry-After is ignored by the line": {
    file: line,
    right: "nextAt: now + Math.max(wait, retryAfterMs ?? 0) };",
    wrong: "nextAt: now + wait };",
  },
  "Retry-After is ignored by the webhook's object": {
    file: state,
    right: "counts && retryAfterMs ? paused(state, lineId, retryAfterMs, now) : state;",
    wrong: "state;",
  },
  "a disabled webhook still has slots": {
    file: pace,
    right: `  if (name === "disabled") return 0;\n`,
    wrong: "",
  },
  "five failures do not open the breaker": {
    file: state,
    right: "counted.failures >= FAILURES_IN_A_ROW",
    wrong: "counted.failures >= 2 * FAILURES_IN_A_ROW",
  },
  "probes come every five seconds": {
    file: probes,
    right: "const failures = plan.failures + (onlyLine === null ? 1 : 0);",
    wrong: "const failures = plan.failures + (onlyLine === null ? 0 : 0);",
  },
  "starts are not spaced": {
    file: pace,
    right: "const next = start + 1_000 / perSecond;",
    wrong: "const next = start + 0 / perSecond;",
  },
  "a webhook on trial gets all its slots": {
    file: pace,
    right: `return name === "trial" ? 1 : concurrency;`,
    wrong: "return concurrency;",
  },
  "a chat makes four calls at a time": {
    file: lines,
    right: "const MAX_BUSY = 3;",
    wrong: "const MAX_BUSY = 4;",
  },
  "the alarm of waiting lines is forgotten": {
    file: permits,
    right: "nextChangeAt(this.#webhook.state), this.#notices.dueAt(), wakeLinesAt]",
    wrong: "nextChangeAt(this.#webhook.state), this.#notices.dueAt(), wakeLinesAt && null]",
  },
  "the tally of a log leaves a cursor open": {
    file: log,
    right: "      rows.unshift(...found);",
    wrong: `      rows.unshift(...found);
      this.#sql.exec("select seq from attempts_0 union all select seq from attempts_1").next();`,
  },
  "an attempt is known before it is stored": {
    file: ended,
    right: "    if (this.#reported.has(name)) return;\n",
    wrong: "    if (this.#reported.has(name)) return;\n    this.#reported.set(name, true);\n",
  },
  "a replay repeats a step as long as one of its chats does not answer": {
    file: replays,
    right: "for (const { lineId, ranges: of } of missed) unreached.add(lineId, of);",
    wrong: `if (missed.length > 0) throw new Error("A chat did not answer");`,
  },
  "a replay waits for a chat that never answers": {
    file: replays,
    right: "const answer = await inTime(clock, CALL_MS, work);",
    wrong: "const answer = await work;",
  },
  "what a chat did not take of a replay is forgotten": {
    file: replays,
    right: "for (const { lineId, ranges: of } of missed) unreached.add(lineId, of);",
    wrong: "void missed;",
  },
  "a chat that does not answer gets the later events of a replay first": {
    file: replays,
    right: "const count = unreached.has(line.lineId) ? null : await this.#handOut(id, line);",
    wrong: "const count = await this.#handOut(id, line);",
  },
  "a repeated call of a replay sends its events again": {
    file: line,
    right: "line.replayed?.id === id ? line.replayed.upTo : 0);",
    wrong: "0);",
  },
  "a search ends after its first step": {
    file: pending,
    right: "this.#searchedTo = this.#found ? this.#found.number - 1 : range[1];",
    wrong: "this.#searchedTo = this.#found ? this.#found.number - 1 : this.#host.newest();",
  },
  "a replay ends after the first step of its search": {
    file: pending,
    right: "return this.#firstOf(replay) ? line : withReplaySearched(line, replay, searchedTo);",
    wrong: "return this.#firstOf(replay) ? line : withReplaySearched(line, replay, searchedTo + 1_000);",
  },
  "a line that asks during a pause comes back at its end, whoever ends it before": {
    file: pace,
    right: `  if (state.pausedUntil - now > MAX_HOLD_MS) return decided({ outcome: "blocked" });\n`,
    wrong: "",
  },
  "enabling does not end a pause": {
    file: state,
    right: "return state.pausedUntil <= now ? { state, tally, notices: [] } : freshStart(webhook, now);",
    wrong: "return { state, tally, notices: [] };",
  },
  "a retry of the webhook leaves events that wait for their next try": {
    file: state,
    right: `return webhook.state.name === "failing" ? startTrial(webhook, now) : freshStart(webhook, now);`,
    wrong: 'return enable(webhook, "pending", now);',
  },
  "a retry of the webhook leaves the breaker open": {
    file: state,
    right: `return webhook.state.name === "failing" ? startTrial(webhook, now) : freshStart(webhook, now);`,
    wrong: "return freshStart(webhook, now);",
  },
  "a webhook begins in a chat after its newest event": {
    file: "src/chats/object/chat-report.ts",
    right: "lines.configure(answer.webhooks, answer.webhooks.startAfter);",
    wrong: "lines.configure(answer.webhooks, this.#parts.log.events.newest);",
  },
};

/** These take up to 1,000 seeds, so `npm test` leaves them out. */
const RARE_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a wake-up waits for a chat that never answers": {
    file: waker,
    right: "await withDeadline(clock, CALL_MS, () => this.#ports.wakeLine(lineId, number));",
    wrong: "await this.#ports.wakeLine(lineId, number);",
  },
  "the number of a line that waits can fall": {
    file: "src/webhooks/object/waiting-lines.ts",
    right: "number = max(number + 1, excluded.number)",
    wrong: "number = excluded.number",
  },
  "a waiting row is deleted whatever its number": {
    file: waker,
    right: "if (this.#ports.limits()) waiting.remove(lineId, number);",
    wrong: "if (this.#ports.limits()) waiting.remove(lineId);",
  },
  "a waiting row is deleted when a permit is granted": {
    file: permits,
    right: "    return permit;\n",
    wrong: "    waiting.remove(lineId);\n    return permit;\n",
  },
  "a call starts although its chat was deleted": {
    file: sender,
    right: "this.#kept.exists && this.#isCurrent(next) && isPermitFresh(",
    wrong: "isPermitFresh(",
  },
  "redactions are not compared after signing": {
    file: call,
    right: "    if (host.redactions() !== redactions) continue;\n",
    wrong: "",
  },
  "a permit is good forever": {
    file: line,
    right: "return now - askedAt < PERMIT_MS;",
    wrong: "return now >= askedAt;",
  },
  "a start is valid whatever happened while it was waited for": {
    file: pace,
    right: "return state.epoch === granted.epoch && ",
    wrong: "return state.epoch >= 0 || ",
  },
  "tries are not counted": {
    file: line,
    right: "const tries = { number: work.number, tries: work.tries + 1, nextAt };",
    wrong: "const tries = { number: work.number, tries: work.tries, nextAt };",
  },
};

export const WEBHOOK_SABOTEURS = { ...PLAIN_SABOTEURS, ...RARE_SABOTEURS };
