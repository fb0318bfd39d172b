import { spawnSync } from "node:child_process";
import type { Check } from "./checks.ts";

/**
 * Runs checks up to the first command that fails.
 * @param log takes each command before it runs, and at the end what failed
 * @returns the exit code of the command that failed, or 0
 */
export function runChecks(checks: readonly Check[], log: (line: string) => void): number {
  for (const { name, commands } of checks) {
    for (const command of commands) {
      log(`${name}: ${command}`);
      const [program = "", ...args] = command.split(" ");
      const { status, error } = spawnSync(program, args, { stdio: "inherit" });
      if (status === 0) continue;
      log(`✗ The check ${name} failed: ${error?.message ?? command}`);
      return status ?? (error ? 1 : 130);
    }
  }
  return 0;
}
