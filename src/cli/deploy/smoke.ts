import { styleText } from "node:util";
import { reasonOf } from "../command-error.ts";
import { findConnection } from "../parley/connection.ts";
import { smoke } from "../parley/smoke/smoke.ts";
import { smokeLine } from "../parley/smoke/smoke-line.ts";
import { log, printWarning } from "../progress.ts";
import { savedSecrets } from "./secrets.ts";

export const SMOKE_LATER = "Later: npx parley doctor --smoke.";

interface DeployedService {
  address: string;
  /** The version that this deploy made; null if wrangler does not say it. */
  build: string | null;
  files: boolean;
  /** The operator's token, if this deploy has set it. */
  token: string | undefined;
}

/**
 * Runs the smoke test at a deployed service.
 * @param secretsPath the file of its secrets
 * @returns whether it found no fault. Without the operator's token nothing is tried, and the output says so
 */
export async function tryDeployed(
  { address, build, files, token }: DeployedService,
  secretsPath: string,
  signal: AbortSignal,
): Promise<boolean> {
  const known = token ?? (await savedSecrets(secretsPath)).ADMIN_TOKEN ?? (await savedToken(address));
  if (!known) {
    printWarning(`The smoke test needs PARLEY_ADMIN_TOKEN or a login. ${SMOKE_LATER}`);
    return true;
  }
  log("Smoke test:");
  return smoke({
    url: address,
    token: { value: known, from: "this deploy" },
    webhook: null,
    plain: address.replace(/^https:/, "http:"),
    build,
    files,
    signal,
    env: process.env,
    onCheck: (check) => log(smokeLine(check, (color, text) => styleText(color, text, { stream: process.stderr }))),
  });
}

/** The token in the environment or in the profile of this address. */
async function savedToken(address: string): Promise<string | undefined> {
  try {
    return (await findConnection(null, { ...process.env, PARLEY_URL: address }, undefined)).adminToken?.value;
  } catch (error) {
    printWarning(reasonOf(error));
    return undefined;
  }
}
