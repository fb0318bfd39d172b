import { platformError, type SimulatedObject } from "./object.ts";
import type { Party, PlatformWorld, Reply, Result } from "./party.ts";
import type { Database } from "./storage.ts";

/** The longest time that a call or its answer is under way. Ten minutes of a tombstone outlast any chain of calls. */
const LONGEST_MS = 100_000;

/** What crosses between places: calls of objects, and statements of D1. Each may be late, lost or repeated. */
export class Calls {
  readonly #world: PlatformWorld;
  readonly #longestOfD1: number;

  /** @param longestOfD1 the longest time that a statement is under way to D1, in milliseconds */
  constructor(world: PlatformWorld, longestOfD1 = LONGEST_MS) {
    this.#world = world;
    this.#longestOfD1 = longestOfD1;
  }

  /**
   * The binding of a namespace, as `from` has it.
   * @param watch is told of each call as it leaves, and returns what is told of its result
   */
  namespace(
    from: Party,
    object: (name: string) => SimulatedObject,
    watch?: (to: SimulatedObject, method: string) => Reply | undefined,
  ): unknown {
    const getByName = (name: string) =>
      new Proxy(
        {},
        {
          get:
            (_, method) =>
            (...given: unknown[]) =>
              this.#call(from, object(name), String(method), given, watch),
        },
      );
    return { getByName };
  }

  /** A call to something that is never lost, as a channel's object here. */
  stub(from: Party, answers: Record<string, (...given: never[]) => unknown>): unknown {
    const ask = (method: string, given: unknown[]) =>
      from.request((reply) => {
        const value = answers[method]?.(...(given as never[]));
        this.#answer(reply, value instanceof Error ? { error: value } : { value });
      });
    return {
      getByName: () =>
        new Proxy(
          {},
          {
            get:
              (_, method) =>
              (...given: unknown[]) =>
                ask(String(method), given),
          },
        ),
    };
  }

  #call(
    from: Party,
    to: SimulatedObject,
    method: string,
    given: unknown[],
    watch?: (to: SimulatedObject, method: string) => Reply | undefined,
  ): Promise<unknown> {
    const world = this.#world;
    const sent = structuredClone(given);
    return from.request((answer) => {
      const watched = watch?.(to, method);
      const reply: Reply = (result) => {
        watched?.(result);
        answer(result);
      };
      const arrive = (answer: Reply) => world.after(this.#ms("call late"), () => to.receive(method, sent, answer));
      const lost = () => this.#answer(reply, { error: platformError(world.random() < 0.5) });
      if (world.fault("call twice", 0.1)) {
        const ms = world.between(1, world.pick([50, 5_000, LONGEST_MS]));
        world.after(ms, () => to.receive(method, sent, () => {}));
      }
      if (world.fault("call lost", 0.03)) return lost();
      arrive((result) => {
        if (world.fault("answer lost", 0.03)) lost();
        else this.#answer(reply, result);
      });
    });
  }

  #answer(reply: Reply, result: Result): void {
    this.#world.after(this.#ms("answer late"), () => reply(result));
  }

  #ms(fault: "call late" | "answer late" | "D1 late"): number {
    const world = this.#world;
    if (!world.fault(fault, 0.1)) return world.between(1, 20);
    const longest = fault === "D1 late" ? this.#longestOfD1 : LONGEST_MS;
    return world.between(20, Math.min(longest, world.pick([500, 5_000, 30_000, LONGEST_MS])));
  }

  /** D1, as `from` has it. */
  d1(from: Party, directory: Directory): unknown {
    const ask = (work: () => unknown) =>
      from.request((reply) => {
        this.#world.after(this.#ms("D1 late"), () => {
          if (directory.isDown) return this.#answer(reply, { error: new Error("D1_ERROR: Network connection lost.") });
          try {
            this.#answer(reply, { value: work() });
          } catch (error) {
            this.#answer(reply, { error });
          }
        });
      });
    return {
      prepare: (sql: string) => new Statement(directory, ask, sql, []),
      batch: (statements: Statement[]) =>
        ask(() => directory.transaction(() => statements.map((each) => each.result()))),
    };
  }
}

/** The tables of D1. */
export class Directory {
  isDown = false;
  readonly database: Database;

  /** @param database has the tables; its rows are deleted */
  constructor(database: Database) {
    this.database = database;
    database.run(
      "delete from webhooks; delete from channels; delete from api_keys; delete from members; delete from templates; delete from waiting_acts; delete from organizations",
    );
  }

  transaction<T>(work: () => T): T {
    this.database.run("begin");
    try {
      const result = work();
      this.database.run("commit");
      return result;
    } catch (error) {
      this.database.run("rollback");
      throw error;
    }
  }
}

class Statement {
  readonly #directory: Directory;
  readonly #ask: (work: () => unknown) => Promise<unknown>;
  readonly #sql: string;
  readonly #values: unknown[];

  constructor(directory: Directory, ask: (work: () => unknown) => Promise<unknown>, sql: string, values: unknown[]) {
    this.#directory = directory;
    this.#ask = ask;
    this.#sql = sql;
    this.#values = values;
  }

  bind(...values: unknown[]): Statement {
    return new Statement(this.#directory, this.#ask, this.#sql, values);
  }

  all(): Promise<unknown> {
    return this.#ask(() => this.result());
  }

  run(): Promise<unknown> {
    return this.#ask(() => this.result());
  }

  raw(): Promise<unknown> {
    return this.#ask(() => this.#directory.database.arrays(this.#sql, this.#values));
  }

  result() {
    return { success: true, results: this.#directory.database.query(this.#sql, this.#values).rows, meta: {} };
  }
}
