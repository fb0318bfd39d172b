import { CommandError } from "../command-error.ts";
import { answers } from "../wrangler.ts";

/** A call that hangs must not hold the next one for longer. */
const PATIENCE_MS = 10_000;

/** The origin to call among what wrangler lists as deployed: a domain of one's own before a workers.dev name. */
export function addressIn(targets: string[]): string | null {
  const domain = targets.map((target) => /^(\S+) \(custom domain/.exec(target)?.[1]).find(Boolean);
  return domain ? `https://${domain}` : (targets.find((target) => target.startsWith("https://")) ?? null);
}

/**
 * Waits until a service that was just deployed answers: a name that is new takes a while.
 * @throws CommandError when it has not within `withinMs`
 */
export async function awaitAnswer(
  address: string,
  signal: AbortSignal,
  withinMs = 60_000,
  pauseMs = 1_000,
): Promise<void> {
  try {
    await answers(address, AbortSignal.any([signal, AbortSignal.timeout(withinMs)]), PATIENCE_MS, pauseMs);
  } catch {
    signal.throwIfAborted();
    throw new CommandError(
      `The Worker is deployed, but ${address}/healthz has not answered for ${withinMs / 1_000} seconds. ` +
        "A new name can take some minutes. Run npx wrangler tail to see the Worker's log.",
    );
  }
}
