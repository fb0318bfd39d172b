import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { PartOutcome, PartRefusal } from "../../model/network.ts";
import type { FilesPort, Network } from "../network/adapter.ts";
import { lenient } from "../network/lenient.ts";
import { notAccepted, unanswered } from "../network/refusals.ts";
import { type Answered, readMetaAnswer } from "./answer.ts";
import { isAboutMedia, refusalByStatus } from "./errors.ts";
import { graphFetch } from "./graph.ts";
import type { WhatsAppPart } from "./render.ts";
import { UPLOAD_MS, uploadToWhatsApp } from "./upload.ts";

const id = lenient(z.string().check(z.minLength(1), z.maxLength(160)));
const accepted = z.object({
  messages: z.tuple([z.object({ id: z.string().check(z.minLength(1), z.maxLength(512)) })], z.unknown()),
  contacts: z.catch(z.array(z.object({ wa_id: id, user_id: id })), []),
});

/**
 * Makes the call for a part; never throws. A file is uploaded before, unless Meta has it. An upload that Meta no longer
 * has is repeated: Meta's refusal says that nothing was sent.
 */
export async function postToWhatsApp(
  { body, file }: WhatsAppPart,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
  files: FilesPort,
): Promise<PartOutcome> {
  const post = (mediaId: string | null) => {
    const json = JSON.stringify(body, (_, value) => (value !== undefined && value === file ? mediaId : value));
    return postMessage(json, credentials, network, signal);
  };
  if (!file) return post(null);
  const known = files.uploaded(file.id);
  if (known && !(known.failedWith && isAboutMedia(known.failedWith))) {
    const outcome = await post(known.networkId);
    if (outcome.outcome !== "failed" || !isAboutMedia(outcome.code)) return outcome;
  }
  const uploaded = await uploadToWhatsApp(file, credentials, network, signal, files);
  if (uploaded.outcome !== "uploaded") return uploaded;
  files.keep(file.id, uploaded.id, UPLOAD_MS);
  return post(uploaded.id);
}

async function postMessage(
  json: string,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const answer = await askWhatsApp(json, credentials, network, signal);
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

/** Calls `/messages` with a JSON body; never throws. */
export async function askWhatsApp(
  json: string,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<Answered | PartRefusal> {
  if (signal.aborted) return notAccepted("deadline", "The attempt's deadline passed before the call");
  let response: Response;
  try {
    const path = `${credentials.phoneNumberId}/messages`;
    response = await graphFetch(network, path, credentials, { method: "POST", body: json, signal });
  } catch {
    // A thrown error never proves that Meta accepted nothing. The runtime throws `Network connection lost.` for both a
    // refused and a lost connection, and `internal error` for an unknown host. On Cloudflare, a refused connection is
    // usually a response with 521, 522, 523 or 530.
    return unanswered(signal);
  }
  return readMetaAnswer(response, credentials, signal);
}
