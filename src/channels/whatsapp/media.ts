import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { MediaAnswer, MediaAsk } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { downloaded, noMedia } from "../network/download.ts";
import { lenient, textField } from "../network/lenient.ts";
import { discard, plainType, safeContentType, statusText } from "../network/network-response.ts";
import { errorAnswer, errorText } from "./errors.ts";
import { graphFetch, graphHeaders, PROOF, readJson } from "./graph.ts";

/** The time until each of the two responses starts. The download itself has no deadline. */
const RESPONSE_TIMEOUT_MS = 15_000;
/** WhatsApp's limit for the largest kind of media, documents: 100 MB. */
const MAX_BYTES = 100 * 1_024 * 1_024;
/** How long Meta keeps media. Before that, Meta answers the same to a token without permission. */
const KEPT_DAYS = 30;

/**
 * Meta's hosts, which may receive the token. Meta's reference shows `lookaside.fbsbx.com`. The others are Meta's content
 * delivery networks, in case media moves there.
 */
const META_HOSTS = /(^|\.)(fbsbx\.com|fbcdn\.net|whatsapp\.net)$/;

const lookUp = z.object({
  url: z.string().check(z.maxLength(4_096)),
  mime_type: textField,
  file_size: lenient(z.union([z.number(), z.string()])),
});

/**
 * Looks up the media's URL, then downloads it. Both calls send the token, and only to Meta's own hosts. Without its bytes,
 * only the first one is made.
 */
export async function whatsappMedia(
  id: string,
  credentials: Credentials,
  network: Network,
  { isHead, range }: MediaAsk,
): Promise<MediaAnswer> {
  if (!/^[\w-]{1,128}$/.test(id)) return noMedia("No such media");
  const lookup = await inTime((signal) => graphFetch(network, id, credentials, { signal }));
  if (!lookup) return noMedia("The network did not answer");
  const answer = await readJson(lookup, AbortSignal.timeout(RESPONSE_TIMEOUT_MS));
  const refused = errorAnswer.safeParse(answer);
  // 100 is Meta's code for an object that does not exist or was deleted after 30 days.
  const isGone = refused.success && refused.data.error.code === 100 && !refused.data.error.message?.includes(PROOF);
  if (lookup.status === 404 || isGone) {
    return { outcome: "expired", finalAfterDays: KEPT_DAYS };
  }
  if (refused.success) return noMedia(errorText(refused.data.error, credentials.accessToken));
  const location = lookUp.safeParse(answer);
  if (!lookup.ok || !location.success) {
    return noMedia(statusText(lookup.status, `The network answered ${lookup.status} to the lookup`));
  }
  const { url, mime_type, file_size } = location.data;
  if (!isMetaUrl(url, network)) return noMedia("The network named a host that is not its own");
  if (Number(file_size ?? 0) > MAX_BYTES) return noMedia("The media is too large");
  const contentType = safeContentType(mime_type);
  if (isHead) return { outcome: "found", body: null, contentType, length: sizeOf(file_size), contentRange: null };
  // Without encoding, Content-Length is the length of the media.
  const headers = graphHeaders(credentials);
  headers.set("Accept-Encoding", "identity");
  if (range !== null) headers.set("Range", range);
  const response = await inTime((signal) => fetch(url, { headers, redirect: "manual", signal }));
  if (!response) return noMedia("The network did not answer");
  const type = plainType(response.headers.get("Content-Type"));
  if (response.ok && type.includes("html") && !plainType(mime_type).includes("html")) {
    discard(response);
    return noMedia("The network answered with a page");
  }
  const download = downloaded(response, { range, max: MAX_BYTES, whose: "The network", finalAfterDays: KEPT_DAYS });
  return download.outcome === "found" && type === "" ? { ...download, contentType } : download;
}

/** Meta's reference shows the size as a text. */
function sizeOf(size: string | number | undefined): number | null {
  return /^\d{1,15}$/.test(String(size)) ? Number(size) : null;
}

/** The response to a GET; null if none starts in time. Redirects are not followed, because they would receive the token. */
async function inTime(get: (signal: AbortSignal) => Promise<Response>): Promise<Response | null> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), RESPONSE_TIMEOUT_MS);
  try {
    return await get(abort.signal);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a URL may receive the token: the configured base URL, or one of Meta's hosts with https and the default port. */
function isMetaUrl(text: string, network: Network): boolean {
  const url = URL.parse(text);
  if (url?.username !== "" || url.password !== "") return false;
  if (url.origin === new URL(network.base).origin) return true;
  return url.protocol === "https:" && url.port === "" && META_HOSTS.test(url.hostname);
}
