import type { Service } from "../service.ts";
import { bad, type Check, ok } from "./check.ts";

/** Node's WebSocket accepts headers. The types are a browser's, which doesn't. */
const NodeSocket = WebSocket as unknown as new (
  url: string,
  init: { protocols: string[]; headers: Record<string, string> },
) => WebSocket;

const TIMEOUT_MS = 15_000;
/** The subprotocols of a user with a wrong hash. The service must refuse the user before it writes anything. */
const WRONG_USER = ["parley.v1", `user.${Buffer.from("parley doctor").toString("base64url")}.${"0".repeat(64)}`];
const WRONG_IDENTITY = 4401;
const TRY_LATER = 1013;

/** Checks that a web channel can verify the identity of a site's users, without knowing its identity secret. */
export async function visitorCheck(service: Service, id: string, what: string): Promise<Check> {
  const code = await closeCode(service.connection.url, id);
  if (code === WRONG_IDENTITY) return ok(what, "checks the identity of a site's users");
  if (code === TRY_LATER) {
    const found =
      "can't check the identity of a site's users: its identity secret can't be decrypted with CREDENTIALS_KEY";
    const advice = `set CREDENTIALS_KEY_PREVIOUS to the previous key and run parley channels reseal, or parley channels rotate ${id}`;
    return bad(what, "fails", found, advice);
  }
  return bad(
    what,
    "unknown",
    code === null ? "its socket was not closed in time" : `its socket was closed with ${code}`,
    "run doctor again in a minute",
  );
}

/** The code with which the service closes the socket of a wrong user, or null if it doesn't close in time. */
async function closeCode(base: string, id: string): Promise<number | null> {
  const url = new URL(`/web/${id}/socket`, base);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new NodeSocket(url.href, { protocols: WRONG_USER, headers: { Origin: base } });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const timer = setTimeout(() => resolve(null), TIMEOUT_MS);
  socket.addEventListener("close", ({ code }) => resolve(code));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
