import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { ChannelNews } from "../../model/channel-warning.ts";
import type { Inspection } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { lenient, textField } from "../network/lenient.ts";
import { statusText } from "../network/network-response.ts";
import { errorAnswer, errorText, refusalOf } from "./errors.ts";
import { graphFetch, readJson } from "./graph.ts";
import { isAccountSubscribed, missingFields, ownersIn } from "./subscriptions.ts";

const DEADLINE_MS = 10_000;
const SUBSCRIBE = "In your app at Meta, open WhatsApp → Configuration → Webhook fields and subscribe to them";
const FIELDS = "webhook_configuration,health_status,quality_rating,name_status";

const url = z.optional(z.string());
const words = z.catch(z.array(z.unknown()), []);
/** A number, its account, its business and the app. Meta says why one of them is limited or blocked. */
const entity = z.object({
  entity_type: z.string(),
  can_send_message: z.string(),
  errors: words,
  additional_info: words,
});
const number = z.object({
  webhook_configuration: z.optional(z.object({ phone_number: url, whatsapp_business_account: url, application: url })),
  health_status: lenient(z.object({ can_send_message: z.string(), entities: words })),
  quality_rating: textField,
  name_status: textField,
});
type FoundNumber = z.output<typeof number>;

/**
 * Asks Meta how the phone number is, and for its webhook: the number's own, else its account's, else the app's; never
 * throws.
 */
export async function inspectNumber(credentials: Credentials, network: Network): Promise<Inspection> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const { phoneNumberId = "", accessToken } = credentials;
  try {
    const response = await graphFetch(network, phoneNumberId, credentials, { query: { fields: FIELDS }, signal });
    const { status } = response;
    const body = await readJson(response, signal);
    const error = errorAnswer.safeParse(body).data?.error;
    if (error) {
      const { outcome } = refusalOf(error, { status, afterMs: null, accessToken });
      const isRefused = status === 401 || outcome === "channel_broken" || outcome === "failed";
      return { answer: isRefused ? "refused" : "none", description: errorText(error, accessToken) };
    }
    const found = number.safeParse(body).data;
    if (!response.ok || !found) return { answer: "none", description: statusText(status, `Meta answered ${status}`) };
    const set = found.webhook_configuration ?? {};
    const webhook = set.phone_number || set.whatsapp_business_account || set.application || null;
    const owners = ownersIn(body);
    const [unsent, isSubscribed] = await Promise.all([
      missingFields(owners, credentials, network, signal).catch(() => undefined),
      isAccountSubscribed(owners, credentials, network, signal).catch(() => undefined),
    ]);
    return {
      answer: "accepted",
      webhook,
      lastError: null,
      ...(unsent && { unsent }),
      ...(isSubscribed === false && { silence: "the WhatsApp Business account is not subscribed to the app" }),
      subscribe: SUBSCRIBE,
      news: newsOf(found),
    };
  } catch {
    return {
      answer: "none",
      description: signal.aborted ? "Meta did not answer in time" : "The connection to Meta failed",
    };
  }
}

function newsOf({
  health_status: health,
  quality_rating: quality = "",
  name_status: name = "",
}: FoundNumber): ChannelNews {
  const state = health?.can_send_message;
  const found = {
    limited: state === "LIMITED" && `Meta limits what the number can send: ${reasonsOf(health, state)}`,
    quality: /^(?:YELLOW|RED)$/.test(quality) && `Meta rates the number's quality as ${quality}`,
    name: /^(?:DECLINED|EXPIRED|REJECTED)$/.test(name) && `Meta says of the number's name: ${name}`,
  };
  const codes = ["limited", "quality", "name"] as const;
  const warnings = codes.flatMap((code) => (found[code] ? [{ code, text: found[code] }] : []));
  const isTold = { limited: state !== undefined, quality: quality !== "", name: name !== "" };
  const news: ChannelNews = { warnings, ended: codes.filter((code) => isTold[code] && !found[code]) };
  if (state === "AVAILABLE" || state === "LIMITED") return { ...news, state: "available" };
  if (state !== "BLOCKED") return news;
  return { ...news, state: { broken: `Meta blocks the number: ${reasonsOf(health, state)}` } };
}

/** What Meta says of those that are limited or blocked. */
function reasonsOf(health: FoundNumber["health_status"], state: string): string {
  const entities = (health?.entities ?? []).map((each) => entity.safeParse(each).data);
  const reasons = entities.flatMap((each) => {
    if (each?.can_send_message !== state) return [];
    const texts = [...each.errors.map((error) => Object(error).error_description), ...each.additional_info];
    return texts.filter((text) => typeof text === "string").map((text) => `${each.entity_type}: ${text}`);
  });
  return reasons.join(" ") || "it gives no reason";
}
