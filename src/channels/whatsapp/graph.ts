import type { Credentials } from "../../model/channel.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { Network } from "../network/adapter.ts";
import { parseJson, readText } from "../network/network-response.ts";

/** The version of the Graph API. Meta supports a version for about two years. */
const VERSION = "v24.0";

/** The parameter with the proof. Meta's errors about it name it. */
export const PROOF = "appsecret_proof";

/** Meta's responses are smaller than 2 KiB, but for lists. */
const MAX_ANSWER_BYTES = 64 * 1_024;

const HMAC = { name: "HMAC", hash: "SHA-256" };
const encoder = new TextEncoder();

/**
 * The proofs that Meta refused in this isolate: their token is another app's than the secret. Without a proof, Meta takes
 * such a token, unless the app demands proofs.
 */
const refusedProofs = new BoundedMap<string, true>(1_000);

/**
 * A call of the Graph API: its URL, with the proof that the caller knows the app's secret. `path` must consist of
 * validated ids, because it is not escaped.
 */
export async function graphUrl(
  { base }: Network,
  path: string,
  credentials: Credentials,
  query: Record<string, string> = {},
): Promise<string> {
  const proof = await proofOf(credentials);
  const all = new URLSearchParams({
    ...query,
    ...(proof !== null && !refusedProofs.has(proof) && { appsecret_proof: proof }),
  }).toString();
  return `${base.replace(/\/+$/, "")}/${VERSION}/${path}${all && "?"}${all}`;
}

/**
 * Whether a call is to be made again, without the proof: Meta refused it because of the proof, and so accepted nothing.
 * @param words what Meta answered
 */
export async function isProofRefused(words: string, url: string, credentials: Credentials): Promise<boolean> {
  if (!words.includes(PROOF) || !url.includes(PROOF)) return false;
  refusedProofs.set((await proofOf(credentials)) ?? "", true);
  return true;
}

/** Makes a call of the Graph API, without the proof if Meta refuses that. Throws what `fetch` throws. */
export async function graphFetch(
  network: Network,
  path: string,
  credentials: Credentials,
  { query, ...init }: RequestInit & { signal: AbortSignal; query?: Record<string, string> },
): Promise<Response> {
  const headers = graphHeaders(credentials);
  if (init.body !== undefined) headers.set("Content-Type", "application/json");
  for (;;) {
    const url = await graphUrl(network, path, credentials, query);
    const response = await fetch(url, { headers, redirect: "manual", ...init });
    if (response.status !== 400) return response;
    const text = (await readText(response, MAX_ANSWER_BYTES, init.signal)) ?? "";
    if (!(await isProofRefused(text, url, credentials))) return new Response(text, response);
  }
}

/** @see https://developers.facebook.com/docs/graph-api/guides/secure-requests */
async function proofOf({ accessToken = "", appSecret }: Credentials): Promise<string | null> {
  if (!appSecret) return null;
  const key = await crypto.subtle.importKey("raw", encoder.encode(appSecret), HMAC, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(accessToken))).toHex();
}

export function graphHeaders({ accessToken }: Credentials): Headers {
  // Without User-Agent, Meta's media host responds with an HTML page. Workers send none by default.
  return new Headers({ Authorization: `Bearer ${accessToken}`, "User-Agent": "Parley" });
}

/** The JSON of a response; undefined if it is too long, cut off, not JSON, or incomplete when `signal` aborts. */
export async function readJson(
  response: Response,
  signal: AbortSignal,
  maxBytes: number = MAX_ANSWER_BYTES,
): Promise<unknown> {
  return parseJson(await readText(response, maxBytes, signal));
}
