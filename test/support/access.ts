import { sign } from "hono/utils/jwt/jwt";
import { vi } from "vitest";
import { ACCESS_HEADER } from "../../src/console/access.ts";
import { OWN_PAGE } from "./console.ts";
import { type Answer, type Call, call } from "./harness.ts";

const RSA = {
  name: "RSASSA-PKCS1-v1_5",
  modulusLength: 2_048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: "SHA-256",
};
const AUDIENCE = "audience-of-the-console";
const TEAM_DOMAIN = "team.cloudflareaccess.com";

/** A key pair with which Access signs its tokens. */
export async function newSigningKey(kid: string) {
  const pair = (await crypto.subtle.generateKey(RSA, true, ["sign", "verify"])) as CryptoKeyPair;
  const [privateKey, publicKey] = await Promise.all(
    [pair.privateKey, pair.publicKey].map((key) => crypto.subtle.exportKey("jwk", key)),
  );
  const known = { kid, alg: "RS256", use: "sig" };
  return { private: { ...(privateKey as JsonWebKey), ...known }, public: { ...(publicKey as JsonWebKey), ...known } };
}

export type SigningKey = Awaited<ReturnType<typeof newSigningKey>>;

/**
 * Cloudflare Access in front of the Worker, for this test. `certs.keys` are those that its key server has; `certs.fetches`
 * counts how often it was asked.
 */
export function fakeAccess(keys: SigningKey[], operators = "") {
  const certs = { keys, fetches: 0, isDown: false };
  vi.stubGlobal("fetch", async (url: string) => {
    if (url !== `https://${TEAM_DOMAIN}/cdn-cgi/access/certs`) throw new Error(`unexpected call of ${url}`);
    certs.fetches++;
    if (certs.isDown) return new Response("down", { status: 503 });
    return Response.json({ keys: certs.keys.map((key) => key.public), public_certs: [] });
  });
  const bindings = { ACCESS_TEAM_DOMAIN: TEAM_DOMAIN, ACCESS_AUD: AUDIENCE, CONSOLE_OPERATORS: operators };
  return {
    certs,
    bindings,
    /** A browser whose requests have a token of Access. `path` is below /console. */
    browser(token: string | null, cookie = "") {
      const access = token === null ? {} : { [ACCESS_HEADER]: token };
      return (method: string, path: string, { body, headers = {} }: Call = {}): Promise<Answer> => {
        const all = { ...OWN_PAGE, ...access, ...(cookie && { Cookie: cookie }), ...headers };
        return call(method, `/console${path}`, { body, headers: all, bindings });
      };
    },
  };
}

/** A token of Access for an email, good since a minute ago and for an hour. `claims` replace its own; undefined removes one. */
export function tokenFor(email: string, key: SigningKey, claims: Record<string, unknown> = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const own = {
    iss: `https://${TEAM_DOMAIN}`,
    aud: [AUDIENCE],
    iat: now - 60,
    nbf: now - 60,
    exp: now + 3_600,
    type: "app",
  };
  return sign({ ...own, sub: "7335d417-61da-459d-899c-0a01c76a2f94", email, ...claims }, key.private, "RS256");
}
