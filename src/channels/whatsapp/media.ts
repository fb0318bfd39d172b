import * as z from "zod/mini";
import type { Credentials, MediaAnswer, Network } from "../adapter.ts";
import { contentLength, discard, limitBytes, safeContentType } from "../network-response.ts";
import { errorAnswer, wordsOf } from "./errors.ts";
import { graphHeaders, graphUrl, readJson } from "./graph.ts";

/** For each of the two answers to begin; the bytes themselves take as long as they take. */
const ANSWER_MS = 15_000;
/** What WhatsApp lets a contact send: documents of 100 MB. */
const MAX_BYTES = 100 * 1_024 * 1_024;

/**
 * Where Meta serves media from, and so where the token may go. Its reference shows `lookaside.fbsbx.com`; the others
 * are its content networks, in case it moves there: all of them are run by Meta alone.
 */
const META_HOSTS = /(^|\.)(fbsbx\.com|fbcdn\.net|whatsapp\.net)$/;

const lookUp = z.object({
  url: z.string().check(z.maxLength(4_096)),
  mime_type: z.catch(z.optional(z.string()), undefined),
  file_size: z.catch(z.optional(z.union([z.number(), z.string()])), undefined),
});

/** Asks where the media is, then for the media; both with the token, and neither anywhere but at Meta's own hosts. */
export async function whatsappMedia(id: string, credentials: Credentials, network: Network): Promise<MediaAnswer> {
  const headers = graphHeaders(credentials);
  if (!headers || !/^[\w-]{1,128}$/.test(id)) return unavailable("No such media");
  const found = await begin(graphUrl(network, id), headers);
  if (!found) return unavailable("The network did not answer");
  const answer = await readJson(found, AbortSignal.timeout(ANSWER_MS));
  const refused = errorAnswer.safeParse(answer);
  // 100 is Meta's code for an object that does not exist, also once its 30 days are over.
  if (found.status === 404 || (refused.success && refused.data.error.code === 100)) return { outcome: "expired" };
  if (refused.success) return unavailable(wordsOf(refused.data.error, credentials.accessToken));
  const place = lookUp.safeParse(answer);
  if (!found.ok || !place.success) return unavailable(`The network answered ${found.status} to the look-up`);
  const { url, mime_type, file_size } = place.data;
  if (!isMetas(url, network)) return unavailable("The network named a host that is not its own");
  if (Number(file_size ?? 0) > MAX_BYTES) return unavailable("The media is too large");
  // Unencoded, so that its length is known.
  headers.set("Accept-Encoding", "identity");
  const response = await begin(url, headers);
  if (!response) return unavailable("The network did not answer");
  return deliver(response, mime_type);
}

function deliver(response: Response, expected: string | undefined): MediaAnswer {
  const { status, headers, body } = response;
  const refuse = (answer: MediaAnswer): MediaAnswer => {
    discard(response);
    return answer;
  };
  if (status === 404 || status === 410) return refuse({ outcome: "expired" });
  if (status !== 200 || !body) return refuse(unavailable(`The network answered ${status} to the download`));
  const type = plainType(headers.get("Content-Type") ?? expected);
  if (type.includes("html") && !plainType(expected).includes("html")) {
    return refuse(unavailable("The network answered with a page"));
  }
  const length = contentLength(headers);
  if (length !== null && length > MAX_BYTES) return refuse(unavailable("The media is too large"));
  return {
    outcome: "found",
    body: body.pipeThrough(length === null ? limitBytes(MAX_BYTES) : new FixedLengthStream(length)),
    contentType: safeContentType(type),
    length,
  };
}

/** A content type without its parameters. */
function plainType(text = ""): string {
  return text.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The answer to a GET, or null when none began in time. A redirect is not followed: it would take the token along. */
async function begin(url: string, headers: Headers): Promise<Response | null> {
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(), ANSWER_MS);
  try {
    return await fetch(url, { headers, redirect: "manual", signal: clock.signal });
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the token may go there: the configured base itself, or one of Meta's hosts by https at the usual port. */
function isMetas(text: string, network: Network): boolean {
  const url = URL.parse(text);
  if (url?.username !== "" || url.password !== "") return false;
  if (url.origin === URL.parse(network.base)?.origin) return true;
  return url.protocol === "https:" && url.port === "" && META_HOSTS.test(url.hostname);
}

function unavailable(message: string): MediaAnswer {
  return { outcome: "unavailable", message };
}
