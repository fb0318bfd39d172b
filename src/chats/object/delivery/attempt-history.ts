import type { AttemptHistory, ShownAttempt } from "../../../model/chat-answers.ts";
import type { PastAttempt } from "../log/delivery-column.ts";
import { withoutWords } from "../log/redaction.ts";

/** The attempts that a message had. Pure functions; times are Unix milliseconds. */

/** What this needs of the state of a delivery. */
interface History {
  past?: PastAttempt[];
}

/** How many attempts are kept besides the first one. */
const MAX_LAST = 20;
const MAX_WORDS = 200;
export const INTERRUPTED = { code: "outcome_unknown", message: "The attempt was interrupted" };

/** The delivery after an attempt. Its first attempt and the last 20 are kept. */
export function withPast<D extends History>(delivery: D, attempt: PastAttempt): D {
  const error = attempt.error && {
    code: attempt.error.code,
    message: attempt.error.message.slice(0, MAX_WORDS).toWellFormed(),
  };
  const [first, ...last] = [...(delivery.past ?? []), { ...attempt, error }];
  return { ...delivery, past: first ? [first, ...last.slice(-MAX_LAST)] : [] };
}

/** The delivery of a redacted message: its attempts keep their codes and lose their texts. */
export function withoutPastWords<D extends History>(delivery: D): D {
  const { past } = delivery;
  if (!past) return delivery;
  return {
    ...delivery,
    past: past.map((attempt) => ({ ...attempt, error: attempt.error && withoutWords(attempt.error) })),
  };
}

/**
 * The attempts that have ended.
 * @param isUnderWay whether this instance makes the open attempt, or will. If not, that attempt was lost.
 */
export function historyOf(
  { past = [], attempts, startedAt }: History & { attempts: number; startedAt: number | null },
  isUnderWay: boolean,
): AttemptHistory {
  const lost: PastAttempt[] =
    startedAt === null || isUnderWay
      ? []
      : [{ number: attempts, at: startedAt, ms: null, outcome: "unknown", error: INTERRUPTED }];
  const all = [...past, ...lost];
  return { attempts: all.map(shown), dropped: (all.at(-1)?.number ?? 0) - all.length };
}

function shown({ number, at, ms, outcome, error }: PastAttempt): ShownAttempt {
  return {
    number,
    startedAt: new Date(at).toISOString(),
    durationMs: ms,
    outcome,
    code: error?.code ?? null,
    message: error?.message ?? null,
  };
}
