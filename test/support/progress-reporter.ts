import { DefaultReporter, type TestModule, type TestSpecification } from "vitest/node";
import { watchSteps } from "./clock-steps.ts";

/** The time of a file is printed if it took longer, in milliseconds. */
const SLOW_MS = 5_000;

/**
 * Prints one line for each test file with the progress of the run, and then the failures like Vitest's own reporters.
 */
export default class ProgressReporter extends DefaultReporter {
  #files = 0;
  #ended = 0;
  readonly #stepsOfTheClock = watchSteps();

  constructor() {
    super({ summary: false });
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    this.#ended = 0;
    const seed = process.env.ORDER_SEED;
    this.log(`${this.#files} test files${seed ? ` in the order of ORDER_SEED=${seed}` : ""}`);
  }

  override onTestModuleEnd(testModule: TestModule): void {
    super.onTestModuleEnd(testModule);
    const tests = [...testModule.children.allTests()];
    const failed = tests.filter((test) => test.result().state === "failed");
    const { duration } = testModule.diagnostic();
    const time = duration < SLOW_MS ? "" : `, ${Math.round(duration / 1_000)} s`;
    const verdict = testModule.ok() ? "" : `: ${failed.length} failed`;
    const place = `${++this.#ended}`.padStart(`${this.#files}`.length);
    this.log(`${place}/${this.#files} ${this.relative(testModule.moduleId)} (${tests.length} tests${time})${verdict}`);
    for (const test of failed) this.log(`    failed: ${test.fullName}`);
  }

  override onTestRunEnd(...ended: Parameters<DefaultReporter["onTestRunEnd"]>): void {
    super.onTestRunEnd(...ended);
    const warning = this.#stepsOfTheClock();
    if (warning !== null) this.log(warning);
  }

  /** The file's line is printed above. */
  protected override printTestModule(): void {}
}
