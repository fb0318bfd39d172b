/** How long a request waits for a call that it can't join to end: a slow hop adds no round trip, a fast one joins all. */
const PATIENCE_MS = 3;
const MAX_JOINED = 100;
/** A call that is under way for this long is lost, with the request that made it. */
const LOST_AFTER_MS = 10_000;

/** What a waiting request is told: its answer, or to make the next call, for these others too. */
type Told<Item, Answer> = { answer: Answer } | { others: Waiting<Item, Answer>[] };

interface Waiting<Item, Answer> {
  item: Item;
  tell(told: Told<Item, Answer>): void;
}

interface Line<Item, Answer> {
  underWay: number;
  startedAt: number;
  waiting: Waiting<Item, Answer>[];
}

/**
 * Requests that wait for the same object at the same time share one call: an object answers about a thousand calls a
 * second, and each is billed. A request joins only a call that has not been made yet, so nothing that it is answered is
 * older than itself. Each call is made by a request that waits for its answer, and ends though that request's client
 * goes away. Where a joint call fails, each of the others makes its own.
 */
export class BatchedCalls<Item, Answer> {
  readonly #lines = new Map<string, Line<Item, Answer>>();
  readonly #joins: boolean;

  /** @param joins false where the runtime lets no request wait for another's promise: then each makes its own call */
  constructor(joins = Cloudflare.compatibilityFlags.handle_cross_request_promise_resolution ?? true) {
    this.#joins = joins;
  }

  /**
   * The answer to `item` in the line `name`.
   * @param call answers each of its items, in their order
   */
  ask(
    ctx: Pick<ExecutionContext, "waitUntil">,
    name: string,
    item: Item,
    call: (items: Item[]) => Promise<Answer[]>,
  ): Promise<Answer> {
    const asked = this.#joins ? this.#ask(name, item, call) : alone(item, call);
    ctx.waitUntil(asked.catch(() => {}));
    return asked;
  }

  async #ask(name: string, item: Item, call: (items: Item[]) => Promise<Answer[]>): Promise<Answer> {
    let line = this.#lines.get(name);
    if (!line || isLost(line)) this.#lines.set(name, (line = { underWay: 0, startedAt: 0, waiting: [] }));
    if (line.underWay > 0) {
      const told = await waitIn(line, item);
      if ("answer" in told) return told.answer;
      return this.#make(name, line, item, told.others, call);
    }
    line.underWay++;
    return this.#make(name, line, item, [], call);
  }

  /** Makes a call that the line counts as under way already. */
  async #make(
    name: string,
    line: Line<Item, Answer>,
    item: Item,
    others: Waiting<Item, Answer>[],
    call: (items: Item[]) => Promise<Answer[]>,
  ): Promise<Answer> {
    line.startedAt = Date.now();
    try {
      const [own, ...answers] = await call([item, ...others.map((other) => other.item)]);
      for (const [index, other] of others.entries()) other.tell({ answer: answers[index] as Answer });
      return own as Answer;
    } catch (error) {
      line.underWay += others.length;
      for (const other of others) other.tell({ others: [] });
      throw error;
    } finally {
      const [next, ...following] = line.waiting.splice(0, MAX_JOINED);
      if (next) next.tell({ others: following });
      else if (--line.underWay === 0 && this.#lines.get(name) === line) this.#lines.delete(name);
    }
  }
}

/** Requests that wait for the same answer at the same time: one call, as with `JoinedCalls`, and all get what it gave. */
export class SingleFlight<Answer> {
  readonly #calls = new BatchedCalls<null, Answer>();

  ask(ctx: Pick<ExecutionContext, "waitUntil">, name: string, call: () => Promise<Answer>): Promise<Answer> {
    return this.#calls.ask(ctx, name, null, async (all) => {
      const answer = await call();
      return all.map(() => answer);
    });
  }
}

async function alone<Item, Answer>(item: Item, call: (items: Item[]) => Promise<Answer[]>): Promise<Answer> {
  const [answer] = await call([item]);
  return answer as Answer;
}

/** Waits for an answer or for a turn, which comes with the end of a call or of the request's patience. */
async function waitIn<Item, Answer>(line: Line<Item, Answer>, item: Item): Promise<Told<Item, Answer>> {
  const { promise, resolve } = Promise.withResolvers<Told<Item, Answer>>();
  const own = { item, tell: resolve };
  const lead = (others: Waiting<Item, Answer>[]) => {
    line.underWay++;
    resolve({ others });
  };
  line.waiting.push(own);
  // The platform cancels, as hung, a request that waits for nothing of its own: a timer always runs.
  let timer = setTimeout(() => {
    const at = line.waiting.indexOf(own);
    if (at >= 0) lead(line.waiting.splice(at, MAX_JOINED).slice(1));
    else timer = setTimeout(lead, LOST_AFTER_MS, []);
  }, PATIENCE_MS);
  const told = await promise;
  clearTimeout(timer);
  return told;
}

/** Lost calls are never counted down. */
function isLost({ underWay, startedAt }: Pick<Line<unknown, unknown>, "underWay" | "startedAt">): boolean {
  return underWay > 0 && Date.now() - startedAt > LOST_AFTER_MS;
}
