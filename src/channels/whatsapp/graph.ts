import type { Credentials, Network } from "../adapter.ts";
import { parseJson, readText } from "../network-response.ts";

/** The Graph API's version; Meta keeps one alive for about two years. */
const VERSION = "v24.0";

/** Meta's answers have less than 2 KiB. */
const MAX_ANSWER_BYTES = 64 * 1_024;

/** An address below the version. `path` is made of ids that were checked, so nothing in it needs escaping. */
export function graphUrl({ base }: Network, path: string): string {
  return `${base.replace(/\/+$/, "")}/${VERSION}/${path}`;
}

/** The headers of a call; null when the token can't stand in one. The runtime's own error would quote the token. */
export function graphHeaders({ accessToken }: Credentials): Headers | null {
  try {
    // Meta's media host answers with an HTML page where User-Agent is missing, and Workers send none by themselves.
    return new Headers({ Authorization: `Bearer ${accessToken}`, "User-Agent": "Parley" });
  } catch {
    return null;
  }
}

/** What an answer holds; undefined when it is too long, is cut off, is no JSON, or did not end before `signal`. */
export async function readJson(response: Response, signal: AbortSignal): Promise<unknown> {
  return parseJson(await readText(response, MAX_ANSWER_BYTES, signal));
}
