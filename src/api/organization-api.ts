import { Hono } from "hono/quick";
import { exportRoutesFor } from "../export/routes.ts";
import { noQuery, validQuery } from "../http/validation.ts";
import { keyAccess } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { auditRoutesFor } from "../management/audit-routes.ts";
import { channelRoutesFor } from "../management/channel-routes.ts";
import { chatErasureRoutesFor } from "../management/chat-routes.ts";
import { keyRoutesFor } from "../management/key-routes.ts";
import { labelRoutesFor } from "../management/label-routes.ts";
import { memberRoutesFor } from "../management/member-routes.ts";
import {
  findOrganization,
  ownOrganizationPatch,
  patchOrganization,
  presentOrganization,
} from "../management/organizations.ts";
import { replyRoutesFor } from "../management/reply-routes.ts";
import { checkOrganizationPatch, withSearch } from "../management/search-setting.ts";
import { ownStatsQuery, readStats } from "../management/stats.ts";
import { historyRoutesFor } from "../management/stats-routes.ts";
import { templateRoutesFor } from "../management/template-routes.ts";
import { PERMISSIONS } from "../model/permission.ts";
import { webhookRoutesFor } from "../webhooks/routes.ts";

const { acts, needs, actorOf, organizationOf, isAllowed } = keyAccess;

/** The routes of keys that manage their organization. The operator has the same under `/admin/v1`. */
export const ownManagementRoutes = new Hono<AdminEnv>()
  .get("/organization", needs(null), noQuery, async (c) => {
    const organization = await findOrganization(c.env, actorOf(c).scope, organizationOf(c));
    return c.json({ organization: await withSearch(c.env, presentOrganization(organization)) });
  })
  .patch("/organization", acts("organization.update", { body: ownOrganizationPatch }), async (c) => {
    const { scope } = actorOf(c);
    const patch = c.req.valid("json");
    checkOrganizationPatch(
      patch,
      PERMISSIONS.filter((permission) => isAllowed(c, permission)),
    );
    return c.json({ organization: await patchOrganization(c.env, scope, organizationOf(c), patch) });
  })
  .get("/stats", needs("stats:read"), validQuery(ownStatsQuery), async (c) => {
    return c.json(await readStats(c.env, actorOf(c).scope, organizationOf(c), c.req.valid("query")));
  })
  .route("/", historyRoutesFor(keyAccess))
  .route("/", keyRoutesFor(keyAccess))
  .route("/", channelRoutesFor(keyAccess))
  .route("/", templateRoutesFor(keyAccess))
  .route("/", replyRoutesFor(keyAccess))
  .route("/", labelRoutesFor(keyAccess))
  .route("/", memberRoutesFor(keyAccess))
  .route("/", chatErasureRoutesFor(keyAccess))
  .route("/", exportRoutesFor(keyAccess))
  .route("/", webhookRoutesFor(keyAccess))
  .route("/", auditRoutesFor(keyAccess));
