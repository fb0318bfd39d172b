import { BaseSequencer, type TestSpecification } from "vitest/node";

/** These files take minutes each, the longest first. */
const LONG = [
  "test/bench/bench.test.ts",
  "test/simulate/life/life.test.ts",
  "test/deep/cli/deploy.test.ts",
  "test/deep/cli/parley.test.ts",
  "test/deep/storm/storm.test.ts",
  "test/simulate/delivery/delivery.test.ts",
];

/** Begins with the files that take minutes, so that the others run beside them. Else the last one would run alone. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const longest = LONG.flatMap((path) => sorted.filter(({ moduleId }) => moduleId.endsWith(`/${path}`)));
    return [...new Set([...longest, ...sorted])];
  }
}
