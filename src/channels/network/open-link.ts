import { isPlainFileName, MAX_FILE_BYTES } from "../../model/file.ts";
import { webhookUrlFault } from "../../model/webhook-url.ts";
import type { FetchedFile } from "./adapter.ts";
import { contentLength, discard, limitBytes, plainType, receivedContentType } from "./network-response.ts";

const MAX_REDIRECTS = 3;

/**
 * Opens the file behind a link of a message; never throws. Each address on the way must be one that a webhook can have.
 * @param ownHosts see `WebhookUrlOptions`
 * @param signal aborts at the attempt's deadline
 * @returns why there is none, as a sentence
 */
export async function openLink(link: string, ownHosts: string[], signal: AbortSignal): Promise<FetchedFile | string> {
  let url = link;
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      url = url.replace(/#.*/s, "");
      const fault = webhookUrlFault(url, { ownHosts, allowLocal: false });
      if (fault) return `the link ${fault}`;
      // Without encoding, Content-Length is the length of the file.
      const response = await fetch(url, { headers: { "Accept-Encoding": "identity" }, redirect: "manual", signal });
      const found = response.status === 200 ? fileOf(response, url) : `the server answered ${response.status}`;
      if (typeof found !== "string") return found;
      discard(response);
      const next = response.status > 300 && response.status < 400 ? response.headers.get("Location") : null;
      if (next === null) return found;
      url = URL.parse(next, url)?.href ?? next;
    }
    return "the link leads on too often";
  } catch {
    return "the server did not answer";
  }
}

/** A page does not count: servers answer with one in place of a file that is gone or needs a login. */
function fileOf({ headers, body }: Response, url: string): FetchedFile | string {
  const size = contentLength(headers);
  const type = headers.get("Content-Type");
  if (plainType(type).includes("html")) return "the link is a page";
  if (!body || !size) return "the server does not say how long the file is";
  if (size > MAX_FILE_BYTES) return "the file is too large";
  return {
    // Not a FixedLengthStream: the runtime hangs where one is piped into another, as in a form.
    body: body.pipeThrough(limitBytes(size, size)),
    size,
    contentType: receivedContentType(type) ?? "application/octet-stream",
    fileName: nameIn(url),
  };
}

/** The file's name at the end of a URL; null if the URL does not end with one. */
function nameIn(url: string): string | null {
  try {
    const name = decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "");
    return /.\.\w{1,8}$/.test(name) && name.length < 256 && isPlainFileName(name) ? name : null;
  } catch {
    return null;
  }
}
