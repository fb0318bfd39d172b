import { setTimeout as delay } from "node:timers/promises";
import { CommandError } from "../command-error.ts";
import { frontFault } from "../front.ts";

/** The timeout of each request. */
const TIMEOUT_MS = 10_000;

/** The service's origin among the deployed targets that wrangler lists. A custom domain wins over workers.dev. */
export function addressIn(targets: string[]): string | null {
  const domain = targets.map((target) => /^(\S+) \(custom domain/.exec(target)?.[1]).find(Boolean);
  return domain ? `https://${domain}` : (targets.find((target) => target.startsWith("https://")) ?? null);
}

/**
 * Waits until a newly deployed service responds. A new domain name takes a while, and so does a rollout.
 * @param build the id of the version that was deployed; null if it is not known
 * @returns whether that version responds, and not one before it
 * @throws CommandError if there is no response within `withinMs`, or at once if something in front of the service answers
 */
export async function awaitAnswer(
  address: string,
  build: string | null,
  signal: AbortSignal,
  withinMs = 60_000,
  pauseMs = 1_000,
): Promise<boolean> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  let hasAnswered = false;
  while (!patience.aborted) {
    const answer = await ask(address, patience);
    hasAnswered ||= answer !== null;
    if (answer && (build === null || answer.build === build)) return true;
    await delay(pauseMs, undefined, { signal: patience }).catch(() => {});
  }
  signal.throwIfAborted();
  if (hasAnswered) return false;
  throw new CommandError(
    `The Worker is deployed, but ${address}/healthz has not answered for ${withinMs / 1_000} seconds. ` +
      "A new name can take some minutes. Run npx wrangler tail to see the Worker's log.",
  );
}

/** What `/healthz` answers; null if nothing, or something else than the service. @throws CommandError */
async function ask(address: string, signal: AbortSignal): Promise<{ build?: unknown } | null> {
  let response: Response;
  let text: string;
  try {
    const both = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    response = await fetch(`${address}/healthz`, { redirect: "manual", signal: both });
    text = await response.text();
  } catch {
    return null;
  }
  const fault = frontFault(response, text);
  if (fault && !fault.passes) {
    throw new CommandError(`The Worker is deployed, but ${fault.found}. To do: ${fault.advice}.`);
  }
  try {
    return response.ok ? (JSON.parse(text) as { build?: unknown }) : null;
  } catch {
    return null;
  }
}
