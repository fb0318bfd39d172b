import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { exitCodeOf, wholeNumber } from "../../support/mistake.ts";

const USAGE = `npm run test:long -- flood [options]

  --requests <n>  how many of each are sent (10000)
`;

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:long -- flood`: the tests of this folder as `npm run test:deep` has them, with many more requests. */
function main(argv: string[]): number {
  const { values } = parseArgs({
    args: argv,
    options: { requests: { type: "string", default: "10000" }, help: { type: "boolean", default: false } },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const env = { ...process.env, REQUESTS: String(wholeNumber("requests", values.requests)) };
  const args = ["run", "--config", "test/vitest.config.ts", "--project", "deep-service", "test/deep/flood"];
  const { status, error } = spawnSync("vitest", args, { stdio: "inherit", env });
  if (error) throw error;
  return status ?? 130;
}
