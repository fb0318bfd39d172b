import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longFirst } from "./long-first.ts";
import { Random } from "./random.ts";

/**
 * Runs test files in an order that `ORDER_SEED` determines, to find tests that depend on those before them. Files of a
 * project stay together, because the next file uses the same runtime. Long ones come first, as in `LongFirst`.
 */
export class SeededOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const shuffled = new Random(Number(process.env.ORDER_SEED)).shuffle(files);
    const byProject = Map.groupBy(shuffled, ({ project }) => project.name);
    return longFirst([...byProject.values()].flat());
  }
}
