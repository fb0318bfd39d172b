import * as z from "zod/mini";
import { retryAfterMs } from "../../http/retry-after.ts";
import type { Credentials, Network, PartOutcome, PartRefusal } from "../adapter.ts";
import { lenient } from "../lenient.ts";
import { discard } from "../network-response.ts";
import { errorAnswer, refusalByStatus, refusalOf } from "./errors.ts";
import { graphHeaders, graphUrl, readJson } from "./graph.ts";
import type { WhatsAppPart } from "./render.ts";

const id = lenient(z.string().check(z.minLength(1), z.maxLength(160)));
const accepted = z.object({
  messages: z.tuple([z.object({ id: z.string().check(z.minLength(1), z.maxLength(512)) })], z.unknown()),
  contacts: z.catch(z.array(z.object({ wa_id: id, user_id: id })), []),
});

/** Makes the call for a part; never throws. */
export async function postToWhatsApp(
  body: WhatsAppPart,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const answer = await askWhatsApp(body, credentials, network, signal);
  if (answer.outcome !== "answered") return answer;
  const result = accepted.safeParse(answer.body);
  if (!result.success) return refusalByStatus(answer.status, answer.afterMs);
  const { messages, contacts } = result.data;
  return {
    outcome: "sent",
    id: messages[0].id,
    addresses: contacts
      .flatMap((contact) => [contact.wa_id, contact.user_id])
      .filter((address) => address !== undefined),
  };
}

/** Calls `/messages`; never throws. `answered`: Meta accepted the request, and answered `body`. */
export async function askWhatsApp(
  body: WhatsAppPart,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<{ outcome: "answered"; body: unknown; status: number; afterMs: number | null } | PartRefusal> {
  const headers = graphHeaders(credentials);
  headers.set("Content-Type", "application/json");
  if (signal.aborted) return notAccepted("deadline", "The attempt's deadline passed before the call");
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
    return refusalOfError(signal);
  }
  if (response.status >= 300 && response.status < 400) {
    discard(response);
    return notAccepted("redirected", `The network answered ${response.status}, a redirect`);
  }
  const answer = await readJson(response, signal);
  const { status } = response;
  const afterMs = retryAfterMs(response.headers, Date.now());
  const refused = errorAnswer.safeParse(answer);
  if (refused.success) {
    return refusalOf(refused.data.error, { status, afterMs, accessToken: credentials.accessToken });
  }
  if (!response.ok || answer === undefined) return refusalByStatus(status, afterMs);
  return { outcome: "answered", body: answer, status, afterMs };
}

function notAccepted(code: string, message: string): PartRefusal {
  return { outcome: "retry", code, message, afterMs: null, wholeChannel: false };
}

/**
 * The outcome is always `unknown`, because a thrown error never proves that Meta accepted nothing. The runtime throws
 * `Network connection lost.` for both a refused and a lost connection, and `internal error` for an unknown host. On
 * Cloudflare, a refused connection is usually a response with 521, 522, 523 or 530.
 */
function refusalOfError(signal: AbortSignal): PartRefusal {
  const message = signal.aborted
    ? "The network did not answer in time"
    : "The connection was lost before the network answered";
  return { outcome: "unknown", message };
}
