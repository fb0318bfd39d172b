import { Hono, type MiddlewareHandler } from "hono";
import { ApiError } from "../../http/errors.ts";
import { noQuery } from "../../http/validation.ts";
import { keyAccess } from "../../keys/access.ts";
import { isoTime } from "../../platform/iso-time.ts";
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

/** A member's own passkeys, for sessions. */
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
      changeableUntil: isoTime(c.var.claims.iat + FRESH_MS),
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

/** Middleware: refuses a change in a session that began more than 10 minutes ago. */
function requireFresh(): MiddlewareHandler<ConsoleEnv> {
  return async function checkFresh(c, next) {
    if (Date.now() > c.var.claims.iat + FRESH_MS) throw new ApiError("sign_in_too_old");
    await next();
  };
}

function ownerOf(c: Pick<ConsoleContext, "var">): PasskeyOwner {
  const { claims, person } = c.var;
  if (person.kind !== "member") throw new Error("a route of passkeys has no guard");
  const { organizationId, id: memberId, name } = person.member;
  const { jti: sessionId, iat: startedAt } = claims;
  return { organizationId, memberId, name, sessionId, startedAt, linkBy: person.linkBy };
}
