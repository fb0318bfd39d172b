import { PURE } from "./modules.ts";

/** How Stryker runs, in the copy of the project that `main.ts` makes. */
export default {
  mutate: PURE,
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner", "./test/mutation/properties-of-strings.ts"],
  ignorers: ["properties-of-strings"],
  vitest: { configFile: "test/mutation/vitest.config.ts" },
  // Node's own base64 and hex of `Uint8Array`, which Workers have without asking.
  testRunnerNodeArgs: ["--js-base-64"],
  // In a sandbox of its own it would need TypeScript's compiler API, which TypeScript 7 has not.
  inPlace: true,
  coverageAnalysis: "perTest",
  concurrency: 2,
  timeoutMS: 30_000,
  // The first run has all unit tests, on a machine that may be busy.
  dryRunTimeoutMinutes: 30,
  reporters: ["clear-text", "json", "html", "progress-append-only"],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: "coverage/mutation/report.json" },
  htmlReporter: { fileName: "coverage/mutation/report.html" },
  incrementalFile: "coverage/mutation/incremental.json",
  thresholds: { high: 98, low: 95, break: 95 },
  allowEmpty: true,
  warnings: { slow: false },
  disableTypeChecks: false,
  checkers: [],
};
