import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { Inspection } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { statusText } from "../network/network-response.ts";
import { errorAnswer, errorText, refusalOf } from "./errors.ts";
import { graphFetch, readJson } from "./graph.ts";

const DEADLINE_MS = 10_000;

const url = z.optional(z.string());
const configuration = z.object({
  webhook_configuration: z.optional(z.object({ phone_number: url, whatsapp_business_account: url, application: url })),
});

/** Asks Meta for the webhook of the phone number: the number's own, else its account's, else the app's; never throws. */
export async function inspectNumber(credentials: Credentials, network: Network): Promise<Inspection> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const { phoneNumberId = "", accessToken } = credentials;
  try {
    const query = { fields: "webhook_configuration" };
    const response = await graphFetch(network, phoneNumberId, credentials, { query, signal });
    const { status } = response;
    const body = await readJson(response, signal);
    const error = errorAnswer.safeParse(body).data?.error;
    if (error) {
      const { outcome } = refusalOf(error, { status, afterMs: null, accessToken });
      const isRefused = status === 401 || outcome === "channel_broken" || outcome === "failed";
      return { answer: isRefused ? "refused" : "none", description: errorText(error, accessToken) };
    }
    const found = configuration.safeParse(body).data;
    if (!response.ok || !found) return { answer: "none", description: statusText(status, `Meta answered ${status}`) };
    const set = found.webhook_configuration ?? {};
    const webhook = set.phone_number || set.whatsapp_business_account || set.application || null;
    return { answer: "accepted", webhook, lastError: null };
  } catch {
    return {
      answer: "none",
      description: signal.aborted ? "Meta did not answer in time" : "The connection to Meta failed",
    };
  }
}
