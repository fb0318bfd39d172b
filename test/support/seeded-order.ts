import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longFirst } from "./long-first.ts";
import { Random } from "./random.ts";
import { unitsFirst } from "./units-first.ts";

/**
 * Runs test files in an order that `ORDER_SEED` determines, to find tests that depend on those before them. Files of a
 * project stay together, because the next file uses the same runtime. Long ones come first, as in `LongFirst`.
 */
export class SeededOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longFirst(unitsFirst(new Random(Number(process.env.ORDER_SEED)).shuffle(files)));
  }
}
