import type { Service } from "../service.ts";
import { bad, type Check, ok } from "./check.ts";

/** Node's own, which takes headers; a browser's, whose types are in the way, does not. */
const NodeSocket = WebSocket as unknown as new (
  url: string,
  init: { protocols: string[]; headers: Record<string, string> },
) => WebSocket;

const PATIENCE_MS = 15_000;
/** A user whom no secret vouches for: a service that can tell says so, before anything is written. */
const NOBODY = ["parley.v1", `user.${Buffer.from("parley doctor").toString("base64url")}.${"0".repeat(64)}`];
const WRONG_IDENTITY = 4401;
const TRY_LATER = 1013;

/** Whether a web channel can tell who a site's user is: its identity secret is sealed, and shown to nobody again. */
export async function visitorCheck(service: Service, id: string, what: string): Promise<Check> {
  const code = await closeCode(service.connection.url, id);
  if (code === WRONG_IDENTITY) return ok(what, "checks the identity of a site's users");
  if (code === TRY_LATER) {
    const found =
      "can't check the identity of a site's users: its identity secret can't be decrypted with CREDENTIALS_KEY";
    const advice = `set CREDENTIALS_KEY_PREVIOUS to the previous key and run parley channels reseal, or parley channels rotate ${id}`;
    return bad(what, "fails", found, advice);
  }
  return bad(what, "unknown", `its socket was closed with ${code ?? "no word"}`, "run doctor again in a minute");
}

/** With what the service closes a socket of nobody's, opened from its own page; null where nothing comes. */
async function closeCode(base: string, id: string): Promise<number | null> {
  const url = new URL(`/web/${id}/socket`, base);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new NodeSocket(url.href, { protocols: NOBODY, headers: { Origin: base } });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const timer = setTimeout(() => resolve(null), PATIENCE_MS);
  socket.addEventListener("close", ({ code }) => resolve(code));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
