/** With one call at a time a request may wait for a whole round trip before its own; with four, for a quarter of one. */
const UNDER_WAY = 4;
const MAX_JOINED = 100;
/** Calls that have all been under way for this long are lost, with the requests that made them. */
const STUCK_MS = 2_000;

/** What a waiting request is told: its answer; or to make the call, alone or for all that wait. */
type Told<Answer> = { answer: Answer } | "lead" | "alone";

interface Waiting<Item, Answer> {
  item: Item;
  tell(told: Told<Answer>): void;
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
export class JoinedCalls<Item, Answer> {
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
    if (!line || isStuck(line)) this.#lines.set(name, (line = { underWay: 0, startedAt: 0, waiting: [] }));
    const told = line.underWay < UNDER_WAY ? "lead" : await waitIn(line, item);
    if (typeof told === "object") return told.answer;
    const others = told === "lead" ? line.waiting.splice(0, MAX_JOINED - 1) : [];
    line.underWay++;
    line.startedAt = Date.now();
    try {
      const [own, ...answers] = await call([item, ...others.map((other) => other.item)]);
      for (const [index, other] of others.entries()) other.tell({ answer: answers[index] as Answer });
      return own as Answer;
    } catch (error) {
      for (const other of others) other.tell("alone");
      throw error;
    } finally {
      line.underWay--;
      line.waiting.shift()?.tell("lead");
      if (line.underWay === 0 && line.waiting.length === 0 && this.#lines.get(name) === line) this.#lines.delete(name);
    }
  }
}

async function alone<Item, Answer>(item: Item, call: (items: Item[]) => Promise<Answer[]>): Promise<Answer> {
  const [answer] = await call([item]);
  return answer as Answer;
}

/** Waits for an answer or for a turn. */
async function waitIn<Item, Answer>(line: Line<Item, Answer>, item: Item): Promise<Told<Answer>> {
  const { promise, resolve } = Promise.withResolvers<Told<Answer>>();
  const own = { item, tell: resolve };
  line.waiting.push(own);
  // The platform cancels, as hung, a request that waits for nothing of its own: this is also what it waits for.
  const timer = setTimeout(() => {
    line.waiting = line.waiting.filter((other) => other !== own);
    resolve("alone");
  }, STUCK_MS);
  const told = await promise;
  clearTimeout(timer);
  return told;
}

/** Lost calls are never counted down. */
function isStuck({ underWay, startedAt }: Pick<Line<unknown, unknown>, "underWay" | "startedAt">): boolean {
  return underWay >= UNDER_WAY && Date.now() - startedAt > STUCK_MS;
}
