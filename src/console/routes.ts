import { Hono } from "hono/quick";
import { ownManagementRoutes } from "../api/organization-api.ts";
import { chatRoutes } from "../chats/routes.ts";
import { directory } from "../db/client.ts";
import { eventRoutes } from "../events/routes.ts";
import { blockStrangers } from "../http/abuse-limit.ts";
import { needs } from "../http/needs.ts";
import { noQuery, validBody } from "../http/validation.ts";
import { presentMember } from "../management/members.ts";
import { organizationRoutes } from "../management/organization-routes.ts";
import { presentOrganization } from "../management/organizations.ts";
import { ApiError } from "../model/error.ts";
import { PERMISSIONS } from "../model/permission.ts";
import { searchRoutes } from "../search/routes.ts";
import { PREVIEW_HEADERS, PREVIEW_PAGE } from "../visitors/page.ts";
import type { ConsoleEnv } from "./context.ts";
import { endSession } from "./ended-sessions.ts";
import { enterOrganization, refuseOtherSites, requireOperator, requireSession } from "./guard.ts";
import { findMember } from "./member-rows.ts";
import { passkeyPlace } from "./passkeys/ceremony.ts";
import { passkeyRoutes } from "./passkeys/routes.ts";
import { signInOptions } from "./passkeys/take-passkey.ts";
import { forgetSession, keepSession, readSession } from "./session.ts";
import { SHELL_HEADERS, shellFor } from "./shell.ts";
import { describeLink, linkBody, peopleOfAccess, signInBody, startSession } from "./sign-in.ts";

const ORGANIZATION = "/api/organizations/:organizationId";
const needsSealing = needs("CREDENTIALS_KEY", "CREDENTIALS_KEY_PREVIOUS");

/**
 * The console, under `/console`. Its API has the routes of an organization's keys below `organizations/{id}`, for people
 * with a session. Only these routes read the cookie.
 */
export const consoleRoutes = new Hono<ConsoleEnv>();

consoleRoutes.on(["POST", "DELETE"], "/session", needs("ADMIN_TOKEN"), blockStrangers(), refuseOtherSites());
consoleRoutes.post("/session", noQuery, validBody(signInBody), async (c) => {
  await startSession(c, c.req.valid("json"));
  return c.body(null, 204);
});
consoleRoutes.delete("/session", noQuery, async (c) => {
  const session = await readSession(c);
  if (session) await endSession(c.env, session);
  forgetSession(c);
  return c.body(null, 204);
});

consoleRoutes.post(
  "/link",
  needs("ADMIN_TOKEN"),
  blockStrangers(),
  refuseOtherSites(),
  noQuery,
  validBody(linkBody),
  async (c) => c.json(await describeLink(c, c.req.valid("json"))),
);

consoleRoutes.get("/passkey", needs("ADMIN_TOKEN"), blockStrangers(), refuseOtherSites(), noQuery, async (c) => {
  return c.json({ publicKey: await signInOptions(c.env, passkeyPlace(c.env, c.req.url)) });
});

consoleRoutes.get("/access", needs("ADMIN_TOKEN"), blockStrangers(), refuseOtherSites(), noQuery, async (c) => {
  const { email, isOperator, people } = await peopleOfAccess(c);
  const members = people.map(({ member, organization }) => ({
    id: member.id,
    name: member.name,
    organization: { id: organization.id, name: organization.name },
  }));
  return c.json({ access: { email, isOperator, members } });
});

consoleRoutes.use("/api/*", needs("ADMIN_TOKEN"));
consoleRoutes.use(`${ORGANIZATION}/channels/*`, needsSealing);
consoleRoutes.use(`${ORGANIZATION}/webhooks/*`, needsSealing);
consoleRoutes.on("POST", [`${ORGANIZATION}/keys`, `${ORGANIZATION}/keys/:id/rotate`], needs("KEY_SECRET"));
consoleRoutes.use("/api/*", blockStrangers(), requireSession());

consoleRoutes.get("/api/session", noQuery, async (c) => {
  const { claims, person } = c.var;
  const isMember = person.kind === "member";
  const rows = isMember ? await findMember(directory(c.env), person.member.id) : null;
  if (isMember && !rows) throw new ApiError("not_signed_in");
  await keepSession(c, claims);
  return c.json({
    session: {
      type: person.kind,
      expiresAt: new Date(claims.exp).toISOString(),
      permissions: isMember ? person.member.permissions : PERMISSIONS,
      member: rows && presentMember(rows.member),
      organization: rows && presentOrganization(rows.organization),
    },
  });
});

consoleRoutes.route("/api/passkeys", passkeyRoutes);

consoleRoutes.use("/api/organizations", requireOperator());
consoleRoutes.use("/api/organizations/:id", requireOperator());
consoleRoutes.route("/api", organizationRoutes as unknown as Hono<ConsoleEnv>);

consoleRoutes.use(`${ORGANIZATION}/*`, enterOrganization());
for (const routes of [chatRoutes, searchRoutes, eventRoutes, ownManagementRoutes]) {
  consoleRoutes.route(ORGANIZATION, routes as unknown as Hono<ConsoleEnv>);
}
consoleRoutes.all("/api/*", (c) => c.notFound());

// Before the screens: the frame in which one of them shows the visitors' page.
consoleRoutes.get("/preview", (c) => c.body(PREVIEW_PAGE, 200, PREVIEW_HEADERS));

// After the API: every other path is a screen of the page.
consoleRoutes.get("/", (c) => c.body(shellFor(c.env), 200, SHELL_HEADERS));
consoleRoutes.get("/*", (c) => c.body(shellFor(c.env), 200, SHELL_HEADERS));
