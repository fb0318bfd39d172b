import type { Context } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { Hono } from "hono/quick";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { adminRoutes } from "./api/operator-api.ts";
import { ownManagementRoutes } from "./api/organization-api.ts";
import { chatRoutes } from "./chats/routes.ts";
import { consoleRoutes } from "./console/routes.ts";
import { errorForClient } from "./db/error-for-client.ts";
import { eventRoutes } from "./events/routes.ts";
import { refuseStranger } from "./http/abuse-limit.ts";
import { allOf } from "./http/before.ts";
import { errorResponse } from "./http/error-response.ts";
import { answerHealth } from "./http/health.ts";
import { separateConsole } from "./http/hosts.ts";
import { requireHttps } from "./http/https.ts";
import { needs } from "./http/needs.ts";
import { answerNotFound } from "./http/not-found.ts";
import { refusePreflight } from "./http/preflight.ts";
import { type RequestVariables, requestLog } from "./http/request-log.ts";
import { answerRoot } from "./http/root.ts";
import { webhookRoutes } from "./inbound/routes.ts";
import { authenticate, type KeyVariables, requirePermission } from "./keys/guard.ts";
import { ownKeyRoutes } from "./keys/routes.ts";
import { mcpRoutes, refuseOrigin } from "./mcp/routes.ts";
import { ApiError } from "./model/error.ts";
import { searchRoutes } from "./search/routes.ts";
import { webRoutes } from "./visitors/routes.ts";

type AppEnv = { Bindings: Env; Variables: RequestVariables & KeyVariables };

export const app = new Hono<AppEnv>();
// Builds the trie with the first request. Hono's default would first try a router that can't take these paths.
app.router = new SmartRouter({ routers: [new TrieRouter()] });

app.onError(answerError);
app.notFound(answerUnknown);

app.use(requestLog(), allOf(requireHttps(), separateConsole()));
app.get("/", answerRoot);
app.get("/healthz", answerHealth);

// The order of checks: the header, the key, its address and permission, then the request itself. So a route reads its
// body after `requirePermission`, and an unknown path needs a key too.
app.use("/api/v1/webhooks/*", needs("CREDENTIALS_KEY", "CREDENTIALS_KEY_PREVIOUS"));
app.use("/api/v1/channels/*", needs("CREDENTIALS_KEY", "CREDENTIALS_KEY_PREVIOUS"));
app.on("POST", "/api/v1/members/:id/sign-in-link", needs("ADMIN_TOKEN"));
app.use("/api/v1/mcp", refuseOrigin());
app.use("/api/v1/*", allOf(needs("KEY_SECRET", "KEY_SECRET_PREVIOUS"), refusePreflight(), authenticate()));
app.route("/api/v1", ownKeyRoutes);
app.route("/api/v1", chatRoutes);
app.route("/api/v1", searchRoutes);
app.route("/api/v1", eventRoutes);
app.route("/api/v1", ownManagementRoutes);
app.route("/api/v1", mcpRoutes);
app.all("/api/v1/*", requirePermission(null), (c) => c.notFound());

app.route("/admin/v1", adminRoutes);
app.route("/console", consoleRoutes);
app.route("/hooks", webhookRoutes);
app.route("/web", webRoutes);

const checkMethod = methodNotAllowed({ app, onMethodNotAllowed: refuseMethod });

/** A path that no route has: 405 if it has one for another method, else 404. */
async function answerUnknown(c: Context<AppEnv>): Promise<Response> {
  c.res = answerNotFound(c);
  await checkMethod(c, async () => {});
  return c.res;
}

function refuseMethod(c: Context, methods: string[]): Response {
  const error = new ApiError("method_not_allowed", { headers: { Allow: methods.join(", ") } });
  return errorResponse(error, c.get("responseHeaders"));
}

async function answerError(error: Error, c: Context<AppEnv>): Promise<Response> {
  const known = errorForClient(error, c.var.requestId);
  const isStranger = known.status === 401 || known.code === "handshake_refused";
  return isStranger ? refuseStranger(c, known) : errorResponse(known, c.get("responseHeaders"));
}
