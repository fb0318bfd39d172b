import { Hono } from "hono/quick";
import { exportRoutesFor } from "../export/routes.ts";
import { blockStrangers } from "../http/abuse-limit.ts";
import { needs } from "../http/needs.ts";
import { refusePreflight } from "../http/preflight.ts";
import { operatorAccess } from "../keys/access.ts";
import { type AdminEnv, authenticateOperator } from "../keys/operator-guard.ts";
import { auditRoutesFor } from "../management/audit-routes.ts";
import { channelRoutesFor } from "../management/channel-routes.ts";
import { chatErasureRoutesFor, operatorChatRoutes } from "../management/chat-routes.ts";
import { keyRoutesFor } from "../management/key-routes.ts";
import { labelRoutesFor } from "../management/label-routes.ts";
import { memberRoutesFor } from "../management/member-routes.ts";
import { metricsRoutes } from "../management/metrics-routes.ts";
import { organizationRoutes } from "../management/organization-routes.ts";
import { replyRoutesFor } from "../management/reply-routes.ts";
import { resealRoutes } from "../management/reseal.ts";
import { historyRoutesFor, statsRoutes } from "../management/stats-routes.ts";
import { templateRoutesFor } from "../management/template-routes.ts";
import { webhookRoutesFor } from "../webhooks/routes.ts";

/** The operator's routes. */
export const adminRoutes = new Hono<AdminEnv>();

const needsSealing = needs("CREDENTIALS_KEY", "CREDENTIALS_KEY_PREVIOUS");

adminRoutes.use(needs("ADMIN_TOKEN"));
adminRoutes.use("/organizations/:id/channels", needsSealing);
adminRoutes.use("/channels/*", needsSealing);
adminRoutes.use("/organizations/:id/webhooks", needsSealing);
adminRoutes.use("/webhooks/*", needsSealing);
adminRoutes.use("/reseal", needsSealing);
adminRoutes.on("POST", ["/organizations/:id/keys", "/keys/:id/rotate"], needs("KEY_SECRET"));
// Before the guard of all other routes: it has a token of its own too.
adminRoutes.use("/metrics", blockStrangers(), refusePreflight(), authenticateOperator("METRICS_TOKEN"));
adminRoutes.route("/", metricsRoutes);
adminRoutes.use(blockStrangers(), refusePreflight(), authenticateOperator());

adminRoutes.route("/", organizationRoutes);
adminRoutes.route("/", memberRoutesFor(operatorAccess));
adminRoutes.route("/", channelRoutesFor(operatorAccess));
adminRoutes.route("/", resealRoutes);
adminRoutes.route("/", templateRoutesFor(operatorAccess));
adminRoutes.route("/", replyRoutesFor(operatorAccess));
adminRoutes.route("/", labelRoutesFor(operatorAccess));
adminRoutes.route("/", operatorChatRoutes);
adminRoutes.route("/", exportRoutesFor(operatorAccess));
adminRoutes.route("/", chatErasureRoutesFor(operatorAccess));
adminRoutes.route("/", keyRoutesFor(operatorAccess));
adminRoutes.route("/", webhookRoutesFor(operatorAccess));
adminRoutes.route("/", auditRoutesFor(operatorAccess));
adminRoutes.route("/", statsRoutes);
adminRoutes.route("/", historyRoutesFor(operatorAccess));
adminRoutes.all("/*", (c) => c.notFound());
