import * as z from "zod/mini";
import { type Credentials, MEDIA_URL_REQUIRED, type Network, type Outbound, type Outcome } from "../adapter.ts";
import { discard } from "../network-response.ts";
import { errorAnswer, type MetaRefusal, refusalByStatus, refusalOf, retryAfterMs } from "./errors.ts";
import { graphHeaders, graphUrl, readJson } from "./graph.ts";
import { bodiesOf } from "./wire.ts";

const id = z.catch(z.optional(z.string().check(z.minLength(1), z.maxLength(160))), undefined);
const accepted = z.object({
  messages: z.tuple([z.object({ id: z.string().check(z.minLength(1), z.maxLength(512)) })], z.unknown()),
  contacts: z.catch(z.array(z.object({ wa_id: id, user_id: id })), []),
});

/** Sends what of a message is not sent yet, one call for each part; never throws. */
export async function sendToWhatsApp(
  message: Outbound,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
  onPart?: (networkId: string) => void,
): Promise<Outcome> {
  const parts = [...message.partsSent];
  const bodies = bodiesOf(message);
  if (!bodies) {
    return {
      outcome: "failed",
      code: MEDIA_URL_REQUIRED,
      message: "WhatsApp needs an https link to the media",
      parts,
    };
  }
  const addresses = new Set<string>();
  for (const body of bodies.slice(parts.length)) {
    const result = await post(body, credentials, network, signal);
    if ("outcome" in result) return { ...result, parts };
    parts.push(result.id);
    onPart?.(result.id);
    for (const address of result.addresses) addresses.add(address);
  }
  addresses.delete(message.address);
  return { outcome: "sent", parts, addresses: [...addresses] };
}

/** How many calls a message takes. */
export function countWhatsAppParts(message: Outbound): number {
  return bodiesOf(message)?.length ?? 1;
}

async function post(
  body: Record<string, unknown>,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<{ id: string; addresses: string[] } | MetaRefusal> {
  const headers = graphHeaders(credentials);
  if (!headers) return { outcome: "channel_broken", reason: "The access token fits into no header" };
  headers.set("Content-Type", "application/json");
  if (signal.aborted) return nothingTaken("deadline", "The time for the attempt was over before the call");
  let response: Response;
  try {
    response = await fetch(graphUrl(network, `${credentials.phoneNumberId}/messages`), {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      redirect: "manual",
      signal,
    });
  } catch {
    return refusalOfThrow(signal);
  }
  if (response.status >= 300 && response.status < 400) {
    discard(response);
    return nothingTaken("redirected", `The network answered ${response.status}, a redirect`);
  }
  const answer = await readJson(response, signal);
  const { status } = response;
  const afterMs = retryAfterMs(response.headers, Date.now());
  const refused = errorAnswer.safeParse(answer);
  if (refused.success) {
    return refusalOf(refused.data.error, { status, afterMs, accessToken: credentials.accessToken });
  }
  const taken = accepted.safeParse(answer);
  if (!response.ok || !taken.success) return refusalByStatus(status, afterMs);
  const { messages, contacts } = taken.data;
  return {
    id: messages[0].id,
    addresses: contacts
      .flatMap((contact) => [contact.wa_id, contact.user_id])
      .filter((address) => address !== undefined),
  };
}

function nothingTaken(code: string, message: string): MetaRefusal {
  return { outcome: "retry", code, message, afterMs: null, wholeChannel: false };
}

/**
 * The runtime throws the same `Network connection lost.` for a refused connection and for a lost one, and `internal
 * error` for a name without an address. So a thrown error never proves that Meta took nothing. Deployed, a refused
 * connection is mostly an answer: 521, 522, 523 or 530.
 */
function refusalOfThrow(signal: AbortSignal): MetaRefusal {
  const message = signal.aborted ? "The network did not answer in time" : "The connection was lost before an answer";
  return { outcome: "unknown", message };
}
