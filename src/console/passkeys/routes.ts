import type { MiddlewareHandler } from "hono";
import { Hono } from "hono/quick";
import { noQuery } from "../../http/validation.ts";
import { keyAccess } from "../../keys/access.ts";
import { ApiError } from "../../model/error.ts";
import type { Claims } from "../../model/session.ts";
import { isoTime } from "../../model/time.ts";
import type { ConsoleContext, ConsoleEnv } from "../context.ts";
import { enterOrganization } from "../guard.ts";
import { passkeyPlace, placeOf } from "./ceremony.ts";
import {
  addPasskey,
  creationOptions,
  deletePasskey,
  listPasskeys,
  newPasskeyBody,
  type PasskeyOwner,
  passkeyPatch,
  renamePasskey,
} from "./passkeys.ts";

/** For how long after a sign-in a member can change its passkeys. An open page that was left alone adds none. */
export const FRESH_MS = 600_000;

const { acts, needs } = keyAccess;

export const passkeyRoutes = new Hono<ConsoleEnv>()
  .use(
    "/*",
    enterOrganization(({ var: { person } }) => {
      if (person.kind === "member") return person.member.organizationId;
      throw new ApiError("permission_denied", { text: "The operator has no passkeys. Sign in as a member" });
    }),
  )
  .get("/", needs(null), noQuery, async (c) => {
    return c.json({
      passkeys: await listPasskeys(c.env, ownerOf(c)),
      host: placeOf(c.env, c.req.url)?.host ?? null,
      changeableUntil: isoTime(changeableUntil(c)),
    });
  })
  .get("/options", needs(null), noQuery, requireFresh(), async (c) => {
    return c.json({ publicKey: await creationOptions(c.env, passkeyPlace(c.env, c.req.url), ownerOf(c)) });
  })
  .post("/", requireFresh(), acts("passkey.create", { body: newPasskeyBody }), async (c) => {
    const place = passkeyPlace(c.env, c.req.url);
    return c.json({ passkey: await addPasskey(c.env, place, ownerOf(c), c.var.act, c.req.valid("json")) }, 201);
  })
  .patch("/:id", requireFresh(), acts("passkey.update", { body: passkeyPatch }), async (c) => {
    return c.json({ passkey: await renamePasskey(c.env, ownerOf(c), c.req.param("id"), c.req.valid("json")) });
  })
  .delete("/:id", requireFresh(), acts("passkey.delete"), async (c) => {
    return c.json({ passkey: await deletePasskey(c.env, ownerOf(c), c.req.param("id")) });
  });

/** Middleware: refuses a change by a member who signed in more than 10 minutes ago. */
function requireFresh(): MiddlewareHandler<ConsoleEnv> {
  return async function checkFresh(c, next) {
    if (Date.now() > changeableUntil(c)) throw tooOld(c.var.claims);
    await next();
  };
}

/** Until when the session can change passkeys, Unix milliseconds. */
function changeableUntil({ var: { claims } }: Pick<ConsoleContext, "var">): number {
  const authTime = claims.kind === "member" ? claims.authTime : undefined;
  return (authTime ?? claims.iat) + FRESH_MS;
}

function tooOld({ email }: Claims): ApiError {
  if (email === null) return new ApiError("sign_in_too_old");
  const text =
    "This needs a sign-in with Access within the last 10 minutes. Sign out of Access, and then sign in again";
  return new ApiError("sign_in_too_old", { text });
}

function ownerOf(c: Pick<ConsoleContext, "var">): PasskeyOwner {
  const { claims, person } = c.var;
  if (person.kind !== "member") throw new Error("a route of passkeys has no guard");
  const { organizationId, id: memberId, name } = person.member;
  const { jti: sessionId, iat: startedAt } = claims;
  return { organizationId, memberId, name, sessionId, startedAt, linkBy: person.linkBy };
}
