import type { Credentials } from "../../model/channel.ts";
import type { Network } from "../network/adapter.ts";
import { parseJson, readText } from "../network/network-response.ts";

/** The version of the Graph API. Meta supports a version for about two years. */
const VERSION = "v24.0";

/** Meta's responses are smaller than 2 KiB, but for lists. */
const MAX_ANSWER_BYTES = 64 * 1_024;

/** A URL of the Graph API. `path` must consist of validated ids, because it is not escaped. */
export function graphUrl({ base }: Network, path: string): string {
  return `${base.replace(/\/+$/, "")}/${VERSION}/${path}`;
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
