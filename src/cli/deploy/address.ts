import { CommandError } from "../command-error.ts";
import { awaitHealthy } from "../wrangler.ts";

/** The timeout of each request. */
const TIMEOUT_MS = 10_000;

/** The service's origin among the deployed targets that wrangler lists. A custom domain wins over workers.dev. */
export function addressIn(targets: string[]): string | null {
  const domain = targets.map((target) => /^(\S+) \(custom domain/.exec(target)?.[1]).find(Boolean);
  return domain ? `https://${domain}` : (targets.find((target) => target.startsWith("https://")) ?? null);
}

/**
 * Waits until a newly deployed service responds. A new domain name takes a while.
 * @throws CommandError if there is no response within `withinMs`
 */
export async function awaitAnswer(
  address: string,
  signal: AbortSignal,
  withinMs = 60_000,
  pauseMs = 1_000,
): Promise<void> {
  try {
    await awaitHealthy(address, AbortSignal.any([signal, AbortSignal.timeout(withinMs)]), TIMEOUT_MS, pauseMs);
  } catch {
    signal.throwIfAborted();
    throw new CommandError(
      `The Worker is deployed, but ${address}/healthz has not answered for ${withinMs / 1_000} seconds. ` +
        "A new name can take some minutes. Run npx wrangler tail to see the Worker's log.",
    );
  }
}
