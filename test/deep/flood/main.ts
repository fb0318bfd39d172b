import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { exitCodeOf, wholeNumber } from "../../support/mistake.ts";

const USAGE = `npm run test:long -- flood [options] [files]

  --requests <n>  how many of each are sent, and how many changes of keys are made (10000)
  files           parts of the names of the tests to run (all)
`;

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:long -- flood`: the tests of this folder as `npm run test:deep` has them, with many more requests. */
function main(argv: string[]): number {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { requests: { type: "string", default: "10000" }, help: { type: "boolean", default: false } },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const env = { ...process.env, REQUESTS: String(wholeNumber("requests", values.requests)) };
  const files = positionals.length > 0 ? positionals.map((file) => `test/deep/flood/${file}`) : ["test/deep/flood"];
  const args = ["run", "--config", "test/vitest.config.ts", "--project", "deep-service", ...files];
  const { status, error } = spawnSync("vitest", args, { stdio: "inherit", env });
  if (error) throw error;
  return status ?? 130;
}
