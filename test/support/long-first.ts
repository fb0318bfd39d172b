import { BaseSequencer, type TestSpecification } from "vitest/node";
import { unitsFirst } from "./units-first.ts";

/** These files take minutes each: first one that only waits, which costs the others nothing, then the longest first. */
const LONG_FILES = [
  "test/deep/service/organizations/lost-alarm.test.ts",
  "test/bench/bench.test.ts",
  "test/simulate/life/life.test.ts",
  "test/deep/cli/deploy.test.ts",
  "test/deep/cli/parley.test.ts",
  "test/deep/storm/storm.test.ts",
  "test/simulate/delivery/delivery.test.ts",
];

/** Begins with what takes long, so that the rest runs beside it. Else the last file would run alone. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longFirst(unitsFirst(await super.sort(files)));
  }
}

/** Moves the long files to the front, and leaves the others in their order. */
export function longFirst(files: TestSpecification[]): TestSpecification[] {
  const longest = LONG_FILES.flatMap((path) => files.filter(({ moduleId }) => moduleId.endsWith(`/${path}`)));
  return [...new Set([...longest, ...files])];
}
