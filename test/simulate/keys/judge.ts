import { fromText } from "../../../src/platform/answer-text.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { Admitted, AskedOfObject, Decision, KeyBook, ObjectAnswer } from "./book.ts";
import { CLOCK_FAULTS, type KeyWorld, LOSSY_FAULTS } from "./rules.ts";
import { type KeyRow, type Query, whyRefused } from "./versions.ts";

/** How a request ended. */
export type Outcome = Admitted | { outcome: "refused"; reason: string };

/** A request of a client. */
export interface ClientRequest {
  query: Query;
  isolate: string;
  begunAt: number;
}

const GRANT_MS = 500;
/** The longest use of a grant, by an isolate whose clock was set back. */
const LONGEST_GRANT_MS = 1_000;
const AWAKE_FOR_MS = 1_000;
/** More than the clocks of objects are apart, so that a key may have ended for its object. */
const APART_MS = 20_000;
/** After this time without a grant no change waits. */
const SETTLED_AFTER_MS = 150_000;

/** Checks each answer, of a key's object and of an isolate. */
export class Judge {
  readonly #world: KeyWorld;
  readonly #books: ReadonlyMap<string, KeyBook>;
  /** The deletion of the organization was answered. */
  isDeleted = false;
  /** One client asks one request after the other. */
  isSolo = false;

  constructor(world: KeyWorld, books: ReadonlyMap<string, KeyBook>) {
    this.#world = world;
    this.#books = books;
  }

  /** Each unit that was granted has been used, or returned in time. */
  get isLossless(): boolean {
    return LOSSY_FAULTS.every((fault) => !this.#world.counts.has(fault));
  }

  get #areClocksRight(): boolean {
    return CLOCK_FAULTS.every((fault) => !this.#world.counts.has(fault));
  }

  /** A call of a key's object has arrived. @returns what to do with its answer */
  called(object: SimulatedObject, method: string, given: unknown[]): ((value: unknown) => void) | undefined {
    const book = this.#bookOf(object.name);
    if (method === "beginChange") return (value) => this.#mustWait(book, (value as number | undefined) ?? 0);
    if (method === "giveBack") book.returned(given[1] as { id: string }[]);
    if (method !== "admit") return undefined;
    const asked = given[1] as AskedOfObject;
    book.returned(asked.returned ?? []);
    const arrival = book.arrived(asked);
    return (value) => {
      arrival.isAnswered = true;
      const answer = fromText(value as ObjectAnswer);
      if (answer.outcome === "refused") book.refusedAt(asked, this.#world.now);
      else if (!book.decisions.has(answer.decision.id)) this.#decided(object, book, asked, answer);
    };
  }

  /** A client has its answer. */
  ended({ query, isolate, begunAt }: ClientRequest, outcome: Outcome): void {
    const world = this.#world;
    const book = this.#bookOf(query.id);
    const rows = book.versions.during(begunAt, world.now);
    world.count(outcome.outcome === "refused" ? outcome.reason : outcome.isAhead ? "admitted ahead" : "admitted");
    if (outcome.outcome === "refused") this.#refused(book, rows, { query, isolate, begunAt }, outcome.reason);
    else this.#admitted(book, rows, { query, isolate, begunAt }, outcome);
  }

  #decided(
    object: SimulatedObject,
    book: KeyBook,
    asked: AskedOfObject,
    answer: ObjectAnswer & { outcome: "admitted" },
  ): void {
    const world = this.#world;
    const { window, granted, grant } = answer;
    const { id, windowStart, month } = answer.decision;
    const windowMs = window.windowSeconds * 1_000;
    const ahead = grant?.units ?? 0;
    const decision: Decision = {
      ...{ id, asked, windowStart, windowMs, month, granted, ahead },
      endsInMs: grant?.endsInMs ?? 0,
      limit: window.limit,
      at: world.now,
      objectNow: object.now,
      used: 0,
    };
    const before = book.newestWindow;
    // The first decision of a window may be unknown, and a change may have made the window longer since.
    const isInOrder = windowStart === before || windowStart >= before + book.shortestWindowMs();
    world.check("limit", isInOrder, () => `a window begins at ${windowStart}, after one that began at ${before}`);
    if (ahead > 0) this.#grantedAhead(object, book, decision, window.remaining);
    book.decided(decision);
  }

  #grantedAhead(object: SimulatedObject, book: KeyBook, decision: Decision, remaining: number): void {
    const world = this.#world;
    const { ahead, limit, windowStart, windowMs, endsInMs, objectNow, month, asked } = decision;
    world.count("units ahead");
    book.grantedAt = world.now;
    const [year, number] = month.split("-").map(Number) as [number, number];
    const ends = Math.min(objectNow + GRANT_MS, windowStart + windowMs, Date.UTC(year, number));
    const isInTime = endsInMs > 0 && objectNow + endsInMs <= ends;
    world.check("over", isInTime, () => `a grant lasts until ${objectNow + endsInMs}, not ${ends}`);
    const open = book.openUnits(world.now, object.now, windowStart);
    const most = Math.floor(limit * 0.05);
    world.check("ahead", open + ahead <= most, () => `${open} and ${ahead} units are ahead, ${most} may be`);
    const quota = book.quota();
    const left = quota - book.usedInMonth(month);
    const isInQuota = open + ahead <= left * 0.01;
    world.check("ahead", isInQuota, () => `${open} and ${ahead} units are ahead, ${left} of the quota are left`);
    const awakeMs = world.now - book.awakeAt;
    const isAwake = awakeMs >= AWAKE_FOR_MS || object.clockChanges > book.clockChanges;
    world.check("pace", isAwake, () => `units ahead from an object that is awake for ${awakeMs} ms`);
    const leftBefore = remaining + ahead;
    world.check("pace", leftBefore >= limit * 0.2, () => `units ahead with ${leftBefore} of ${limit} left`);
    const { pace = 0 } = asked;
    world.check("pace", pace > 2 && ahead <= pace, () => `${ahead} units ahead at a pace of ${pace}`);
  }

  #mustWait(book: KeyBook, ms: number): void {
    const world = this.#world;
    world.count(ms > 0 ? "change waits" : "change does not wait");
    world.check("wait", ms <= LONGEST_GRANT_MS, () => `a change waits ${ms} ms`);
    world.check("wait", ms === 0 || book.mayBeAhead, () => `a change waits ${ms} ms, and nothing was ever granted`);
    const isSettled = this.isLossless && world.now - book.grantedAt > SETTLED_AFTER_MS;
    world.check("wait", ms === 0 || !isSettled, () => `a change waits ${ms} ms long after the last grant`);
  }

  #admitted(book: KeyBook, rows: (KeyRow | null)[], { query, begunAt }: ClientRequest, answer: Admitted): void {
    const world = this.#world;
    const decision = book.decisions.get(answer.decision);
    if (!decision) throw new Error(`The object did not decide ${answer.decision}`);
    const { id } = query;
    const isLate = this.isDeleted && begunAt > book.deletedAt;
    world.check("deleted", !isLate, () => `${id} admits a request after its organization's deletion`);
    // The time of the object at which the unit was used.
    const sinceMs = Math.max(0, begunAt - decision.at);
    const usedAt = decision.objectNow + sinceMs;
    const slackMs = answer.isAhead && !this.#areClocksRight ? LONGEST_GRANT_MS - GRANT_MS : 0;
    const allows = (row: KeyRow | null, now: number) => row !== null && whyRefused(row, query, now) === null;
    const isChanged = !rows.some((row) => allows(row, 0) && row && isJudgedBy(row, answer));
    world.check("change", !isChanged, () => `${id} admits ${JSON.stringify(query)} by an old key`);
    const isOver = !rows.some((row) => allows(row, usedAt - slackMs));
    world.check("ended", !isOver, () => `${id} admits ${JSON.stringify(query)} at ${usedAt}`);
    decision.used++;
    const admitted = book.admittedIn(decision);
    const { limit } = admitted;
    world.check("limit", admitted.inWindow <= limit, () => `${id} admits request ${admitted.inWindow} of ${limit}`);
    const quota = book.quota();
    world.check("quota", admitted.inMonth <= quota, () => `${id} admits request ${admitted.inMonth} of ${quota}`);
    if (answer.isAhead) this.#usedAhead(decision, query, sinceMs);
    if (this.isSolo && this.isLossless) this.#checkRemaining(book, answer);
  }

  #usedAhead({ asked, endsInMs, ahead, used, granted }: Decision, query: Query, sinceMs: number): void {
    const world = this.#world;
    const longestMs = this.#areClocksRight ? endsInMs : LONGEST_GRANT_MS;
    world.check("over", sinceMs < longestMs, () => `a unit of a grant of ${endsInMs} ms is used after ${sinceMs} ms`);
    const isSame =
      asked.hash === query.hash && asked.address === query.address && asked.permission === query.permission;
    world.check("over", isSame, () => `${JSON.stringify(query)} uses a grant to ${JSON.stringify(asked)}`);
    world.check("over", used <= granted + ahead, () => `${used} requests use ${granted} and ${ahead} units`);
  }

  #checkRemaining(book: KeyBook, { window }: Admitted): void {
    const { remaining, reset } = window;
    const before = book.lastWindow;
    book.lastWindow = window;
    if (before?.reset !== reset || before.limit !== window.limit) return;
    const isNext = remaining === before.remaining - 1;
    this.#world.check("remaining", isNext, () => `Remaining goes from ${before.remaining} to ${remaining}`);
  }

  #refused(book: KeyBook, rows: (KeyRow | null)[], request: ClientRequest, reason: string): void {
    const world = this.#world;
    const { query, begunAt } = request;
    if (reason === "rate_limited" || reason === "quota_exceeded") {
      this.#spent(book, request, reason);
      return;
    }
    const isRight = rows.some((row) =>
      [begunAt - APART_MS, world.now, world.now + APART_MS].some((now) => whyRefused(row, query, now) === reason),
    );
    const isErased = reason === "invalid_api_key" && book.versions.row === null;
    world.check("refused", isRight || isErased, () => `${JSON.stringify(query)} is refused as ${reason}`);
  }

  /** A refusal because all is used is the object's, or repeats one for a second. */
  #spent(book: KeyBook, { query, begunAt }: ClientRequest, reason: string): void {
    if (!this.isLossless) return;
    const world = this.#world;
    const at = book.lastRefusal(query);
    const repeatedMs = reason === "rate_limited" ? 1_020 : 0;
    const isRecent = at !== undefined && begunAt - at <= repeatedMs;
    world.check("refused", isRecent, () => `${reason} at ${begunAt}, and the object refused at ${at}`);
  }

  #bookOf(id: string): KeyBook {
    const book = this.#books.get(id);
    if (!book) throw new Error(`No key ${id}`);
    return book;
  }
}

/** Whether an answer is that of a key with this row. */
function isJudgedBy(row: KeyRow, { window, caller }: Admitted): boolean {
  return (
    row.limit === window.limit &&
    row.windowSeconds === window.windowSeconds &&
    JSON.stringify(row.permissions) === JSON.stringify(caller.permissions)
  );
}
