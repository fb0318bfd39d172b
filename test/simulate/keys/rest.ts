import type { SimulatedObject } from "../objects/object.ts";
import type { KeyBook } from "./book.ts";
import type { Judge } from "./judge.ts";
import type { KeyWorld } from "./rules.ts";

interface StoredCounters {
  windowStart: number;
  windowCount: number;
  month: string;
  monthCount: number;
}

interface Keys {
  world: KeyWorld;
  objects: ReadonlyMap<string, SimulatedObject>;
  books: ReadonlyMap<string, KeyBook>;
  reported: ReadonlyMap<string, number>;
  judge: Judge;
}

/** More than the clock of an object is set. */
const APART_MS = 20_000;

/** Compares what keys have counted with what they admitted, when faults have stopped and all alarms have ended. */
export function checkRest({ world, objects, books, reported, judge }: Keys): void {
  for (const [id, book] of books) {
    if (judge.isDeleted || book.versions.row === null) continue;
    const counters = objects.get(id)?.storage.get<StoredCounters>("counters");
    if (!counters || counters.month === "") continue;
    const { windowStart, windowCount, month, monthCount } = counters;
    const all = [...book.decisions.values()];
    const compare = (kind: string, counted: number, used: number, most: number) => {
      const isRight = judge.isLossless ? counted === used : counted >= used && counted <= used + most;
      const expected = judge.isLossless ? `${used}` : `from ${used} to ${used + most}`;
      const invariant = kind === "reported" ? "statistics" : "counted";
      world.check(invariant, isRight, () => `${id} has ${kind} ${counted}, not ${expected}`);
      if (judge.isLossless) world.count(`${kind} exactly`);
    };
    const ofWindow = all.filter((decision) => decision.windowStart === windowStart);
    if (windowStart > 0) {
      // A call that nobody got the answer of may have begun it, and the object's clock may have been set since.
      const begunAt = Math.min(...ofWindow.map(({ at, objectNow }) => at - objectNow + windowStart));
      const lost = book.mostLost(ofWindow, Number.isFinite(begunAt) ? begunAt - APART_MS : 0);
      compare("counted in its window", windowCount, book.usedInWindow(windowStart), lost);
    }
    const ofMonth = all.filter((decision) => decision.month === month);
    compare("counted in its month", monthCount, book.usedInMonth(month), book.mostLost(ofMonth, 0));
    const told = reported.get(id) ?? 0;
    if (judge.isLossless) compare("reported", told, book.used, 0);
    else world.check("statistics", told <= book.used + book.mostLost(all, 0), () => `${id} reported ${told}`);
  }
}
