import { call } from "../../support/harness.ts";
import { newSite, newToken } from "../../support/sockets.ts";

/** A picture of 2 × 3 pixels. */
export const PNG = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
);
export const MIB = 1_048_576;
export const HOUR = 3_600_000;

export interface Upload {
  claim?: string;
  /** Its first bytes are a picture's, the rest is zeros. */
  size?: number;
  from?: string;
  headers?: Record<string, string>;
  query?: string;
}

/** A site with a visitor who can upload files. */
export async function newPlace(settings: Record<string, unknown> = {}) {
  const site = await newSite(settings);
  const token = newToken();
  const upload = ({ claim = `token.${token}`, size = PNG.byteLength, from, headers, query = "" }: Upload = {}) => {
    const body = new Uint8Array(size);
    body.set(PNG.subarray(0, size));
    return call("POST", `/web/${site.channelId}/media${query}`, {
      headers: {
        Authorization: `Bearer ${claim}`,
        "Content-Type": "image/png",
        "Content-Length": String(size),
        "CF-Connecting-IP": from ?? "192.0.2.1",
        ...headers,
      },
      body: body as never,
    });
  };
  const chats = async () => (await site.api("GET", "/chats")).body.chats;
  return { ...site, token, upload, chats };
}
