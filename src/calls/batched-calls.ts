/**
 * For how long a request waits for the running call to end. Then it makes its own: a slow call delays it no further.
 */
const PATIENCE_MS = 3;
const MAX_BATCH = 100;
/** A call that takes longer is lost, with the request that made it. */
const LOST_AFTER_MS = 10_000;

/** What a waiting request gets: its answer, or the task to make the next call. */
type Turn<Item, Answer> = { answer: Answer } | Lead<Item, Answer>;

/** A call that a request makes for itself and `others`. */
interface Lead<Item, Answer> {
  others: Waiting<Item, Answer>[];
  /** Its item was in an earlier call, which failed or is lost, and may have reached the object. */
  isRepeat: boolean;
}

interface Waiting<Item, Answer> {
  item: Item;
  /** @returns false if it has its turn already */
  resume(turn: Turn<Item, Answer>): boolean;
}

/** Makes a call for items, see `Lead`. @returns one answer for each item, in the same order */
type Call<Item, Answer> = (items: Item[], isRepeat: boolean) => Promise<Answer[]>;

interface Line<Item, Answer> {
  underWay: number;
  startedAt: number;
  waiting: Waiting<Item, Answer>[];
}

/**
 * Combines concurrent calls of the same object into one, because an object answers about a thousand calls per second
 * and each is billed. A request only joins a call that has not started, so its answer is never older than the request.
 * One of the requests makes the call, which completes even if that client disconnects. If a shared call fails, each of
 * the other requests makes its own call.
 */
export class BatchedCalls<Item, Answer> {
  readonly #lines = new Map<string, Line<Item, Answer>>();
  readonly #joins: boolean;

  /**
   * @param joins false if the runtime doesn't let a request await another's promise: then each request makes its own
   * call
   */
  constructor(joins = Cloudflare.compatibilityFlags.handle_cross_request_promise_resolution ?? true) {
    this.#joins = joins;
  }

  /** The answer to `item`. Items with the same `name` can share a call. */
  ask(ctx: Pick<ExecutionContext, "waitUntil">, name: string, item: Item, call: Call<Item, Answer>): Promise<Answer> {
    const asked = this.#joins ? this.#ask(name, item, call) : alone(item, call);
    ctx.waitUntil(asked.catch(() => {}));
    return asked;
  }

  async #ask(name: string, item: Item, call: Call<Item, Answer>): Promise<Answer> {
    let line = this.#lines.get(name);
    if (!line || isLost(line)) this.#lines.set(name, (line = { underWay: 0, startedAt: 0, waiting: [] }));
    let turn: Turn<Item, Answer> = { others: [], isRepeat: false };
    if (line.underWay > 0) turn = await waitIn(line, item);
    else line.underWay++;
    return "answer" in turn ? turn.answer : this.#make(name, line, item, turn, call);
  }

  /** Makes a call that `line.underWay` already includes. */
  async #make(
    name: string,
    line: Line<Item, Answer>,
    item: Item,
    { others, isRepeat }: Lead<Item, Answer>,
    call: Call<Item, Answer>,
  ): Promise<Answer> {
    line.startedAt = Date.now();
    try {
      const [own, ...answers] = await call([item, ...others.map((other) => other.item)], isRepeat);
      for (const [index, other] of others.entries()) other.resume({ answer: answers[index] as Answer });
      return own as Answer;
    } catch (error) {
      // A request that waited too long is already making its own call.
      for (const other of others) if (other.resume({ others: [], isRepeat: true })) line.underWay++;
      throw error;
    } finally {
      const [next, ...following] = line.waiting.splice(0, MAX_BATCH);
      if (next) next.resume({ others: following, isRepeat: false });
      else if (--line.underWay === 0 && this.#lines.get(name) === line) this.#lines.delete(name);
    }
  }
}

/** Like `BatchedCalls`, for requests without items: all get the same answer. */
export class SingleFlight<Answer> {
  readonly #calls = new BatchedCalls<null, Answer>();

  ask(ctx: Pick<ExecutionContext, "waitUntil">, name: string, call: () => Promise<Answer>): Promise<Answer> {
    return this.#calls.ask(ctx, name, null, async (all) => {
      const answer = await call();
      return all.map(() => answer);
    });
  }
}

async function alone<Item, Answer>(item: Item, call: Call<Item, Answer>): Promise<Answer> {
  const [answer] = await call([item], false);
  return answer as Answer;
}

/** Waits for an answer, or for the turn to make a call: when the running call ends, or after `PATIENCE_MS`. */
async function waitIn<Item, Answer>(line: Line<Item, Answer>, item: Item): Promise<Turn<Item, Answer>> {
  const { promise, resolve } = Promise.withResolvers<Turn<Item, Answer>>();
  let hasTurn = false;
  const resume = (turn: Turn<Item, Answer>) => {
    if (hasTurn) return false;
    resolve(turn);
    return (hasTurn = true);
  };
  const own = { item, resume };
  const lead = (others: Waiting<Item, Answer>[], isRepeat: boolean) => {
    if (resume({ others, isRepeat })) line.underWay++;
  };
  line.waiting.push(own);
  // A timer must always run: the platform cancels a request that waits for nothing of its own as hung.
  let timer = setTimeout(() => {
    const at = line.waiting.indexOf(own);
    if (at >= 0) lead(line.waiting.splice(at, MAX_BATCH).slice(1), false);
    else timer = setTimeout(lead, LOST_AFTER_MS, [], true);
  }, PATIENCE_MS);
  const turn = await promise;
  clearTimeout(timer);
  return turn;
}

/** A lost call never decrements `underWay`. */
function isLost({ underWay, startedAt }: Pick<Line<unknown, unknown>, "underWay" | "startedAt">): boolean {
  return underWay > 0 && Date.now() - startedAt > LOST_AFTER_MS;
}
