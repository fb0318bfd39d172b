import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { call } from "../../support/harness.ts";
import { newSite, newToken } from "../../support/sockets.ts";
import { until } from "../../support/until.ts";

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

/** Resolves when the channel has counted the end of each upload. The response does not wait for it. */
export async function uploadsEnded(channel: DurableObjectStub): Promise<void> {
  const open = () =>
    runInDurableObject(channel, (_object, { storage }) => {
      const tables = storage.sql.exec("select 1 from sqlite_master where name = 'visitor_uploads'").toArray();
      if (tables.length === 0) return 0;
      return storage.sql.exec<{ open: number }>("select count(*) as open from visitor_uploads where open > 0").one()
        .open;
    });
  await until("no upload is under way", open, (count) => count === 0);
}

/** A site with a visitor who can upload files. */
export async function newPlace(settings: Record<string, unknown> = {}) {
  const site = await newSite(settings);
  const token = newToken();
  const upload = async ({
    claim = `token.${token}`,
    size = PNG.byteLength,
    from,
    headers,
    query = "",
  }: Upload = {}) => {
    const body = new Uint8Array(size);
    body.set(PNG.subarray(0, size));
    const answer = await call("POST", `/web/${site.channelId}/media${query}`, {
      headers: {
        Authorization: `Bearer ${claim}`,
        "Content-Type": "image/png",
        "Content-Length": String(size),
        "CF-Connecting-IP": from ?? "192.0.2.1",
        ...headers,
      },
      body: body as never,
    });
    await uploadsEnded(env.CHANNELS.getByName(site.channelId));
    return answer;
  };
  const chats = async () => (await site.api("GET", "/chats")).body.chats;
  return { ...site, token, upload, chats };
}
