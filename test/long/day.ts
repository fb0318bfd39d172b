import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { exitCodeOf, wholeNumber } from "../support/mistake.ts";

const USAGE = `npm run test:long -- day [options]

  --chats <n>  how many (200)
`;

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:long -- day`: the weekend of three people as `npm run test:deep` has it, with many more chats. */
function main(argv: string[]): number {
  const { values } = parseArgs({
    args: argv,
    options: { chats: { type: "string", default: "200" }, help: { type: "boolean", default: false } },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const env = { ...process.env, CHATS: String(wholeNumber("chats", values.chats)) };
  const file = "test/browser/console-day-of-three.test.ts";
  const run = ["run", "--config", "test/vitest.config.ts", file];
  const { status, error } = spawnSync("vitest", run, { stdio: "inherit", env });
  if (error) throw error;
  return status ?? 130;
}
