import { bad, type Check, ok } from "../check.ts";
import { type Service, ServiceFault, type ServiceResponse, Unreachable } from "../service.ts";
import { SmokeFault, Unproven } from "../smoke/caller.ts";
import { plainHttpStep } from "../smoke/front-steps.ts";

/** Checks that the service answers, then its secrets, database and API key. */
export async function serviceChecks(service: Service): Promise<Check[]> {
  const answers = await healthCheck(service);
  if (answers.state === "fails") return [answers];
  const secrets = await secretChecks(service);
  const database = secrets.some(({ what, state }) => what.startsWith("ADMIN_TOKEN") && state === "fails")
    ? []
    : await operatorChecks(service);
  return [answers, ...(await plainHttpCheck(service)), ...secrets, ...database, await apiKeyCheck(service)];
}

/** Only for a service behind https: over plain http, nothing must be served. @param patienceMs as for `plainHttpStep` */
export async function plainHttpCheck({ connection: { url } }: Service, patienceMs?: number): Promise<Check[]> {
  if (!url.startsWith("https:")) return [];
  const what = "plain http";
  try {
    const outcome = await plainHttpStep(url.replace("https:", "http:"), new AbortController().signal, patienceMs);
    return [outcome instanceof Unproven ? bad(what, "unknown", outcome.found, outcome.advice) : ok(what, outcome)];
  } catch (error) {
    if (!(error instanceof SmokeFault)) throw error;
    return [bad(what, "warns", error.message, error.advice ?? "see the guide Deploying")];
  }
}

async function healthCheck(service: Service): Promise<Check> {
  const { url, urlFrom } = service.connection;
  const what = `service at ${url}`;
  try {
    const { body } = await service.asStranger("GET", "/healthz");
    if (body.ok === true) return ok(what, `answers (the address is ${urlFrom})`);
  } catch (error) {
    if (error instanceof Unreachable) return bad(what, "fails", "does not answer", error.advice);
    if (!(error instanceof ServiceFault)) throw error;
    if (error.front) return bad(what, "fails", error.front.found, error.front.advice);
  }
  return bad(
    what,
    "fails",
    "is not Parley: its /healthz has another answer",
    "set PARLEY_URL to the service's address",
  );
}

/** Checks the service's secrets. Without a valid secret, its routes answer 503 before they check the request. */
async function secretChecks(service: Service): Promise<Check[]> {
  const probes = [
    ["ADMIN_TOKEN", "/admin/v1/organizations", "ADMIN_TOKEN is"],
    ["KEY_SECRET", "/api/v1/key", "KEY_SECRET or KEY_SECRET_PREVIOUS is"],
    ["CREDENTIALS_KEY", "/admin/v1/channels/none", "CREDENTIALS_KEY or CREDENTIALS_KEY_PREVIOUS is"],
  ] as const;
  const checks: Check[] = [];
  for (const [name, path, which] of probes) {
    const what = `${name} at the service`;
    const status = await statusOf(service.asStranger("GET", path));
    const isBehindAdmin = path.startsWith("/admin") && checks[0]?.state === "fails";
    if (isBehindAdmin)
      checks.push(bad(what, "unknown", "can't be checked without ADMIN_TOKEN", "set ADMIN_TOKEN first"));
    else if (status === 401) checks.push(ok(what, "is set"));
    else if (status === 503)
      checks.push(bad(what, "fails", `${which} missing or malformed`, adviceToSet(service, name)));
    else checks.push(bad(what, "unknown", `the service answered ${status}`, "run doctor again in a minute"));
  }
  return checks;
}

function adviceToSet({ connection }: Service, name: string): string {
  if (connection.isHere) return "restart npm start, which creates missing secrets and names malformed ones";
  return `npx wrangler secret put ${name}, with its previous value or a new one from openssl rand -base64 32`;
}

/** Checks the operator's token and the database. */
async function operatorChecks(service: Service): Promise<Check[]> {
  const { adminToken } = service.connection;
  const what = "operator's token";
  if (!adminToken) {
    const advice = "set PARLEY_ADMIN_TOKEN or run parley login to check the database and the channels too";
    return [bad(what, "unknown", "none is known for this service", advice)];
  }
  try {
    const { body } = await service.asOperator("GET", "/organizations", { query: { limit: 1 } });
    const [first] = body.organizations as { id: string }[];
    return [ok(what, `is valid (from ${adminToken.from})`), await tablesCheck(service, first?.id)];
  } catch (error) {
    if (!(error instanceof ServiceFault)) throw error;
    if (error.status === 401) {
      // Only a token from .dev.vars can be newer than the running service.
      const advice =
        adminToken.from === ".dev.vars"
          ? "restart npm start if .dev.vars was changed, and check that the service belongs to this checkout"
          : adviceOnToken(service, adminToken.from);
      return [bad(what, "fails", `is refused (from ${adminToken.from})`, advice)];
    }
    return [error.status === 429 ? bad(what, "unknown", error.message, "run doctor again later") : noDatabase(error)];
  }
}

function adviceOnToken({ connection }: Service, from: string): string {
  const other =
    from === "PARLEY_ADMIN_TOKEN" && connection.isHere ? "unset it to use the one in .dev.vars" : "parley login";
  return `set PARLEY_ADMIN_TOKEN to the service's ADMIN_TOKEN, or ${other}`;
}

async function tablesCheck(service: Service, organization: string | undefined): Promise<Check> {
  const tables = ["members", "channels", "templates", "chats", "keys"];
  if (organization === undefined) return ok("database", "answers; there is no organization yet");
  for (const table of tables) {
    try {
      await service.asOperator("GET", `/organizations/${organization}/${table}`, { query: { limit: 1 } });
    } catch (error) {
      if (!(error instanceof ServiceFault)) throw error;
      // A missing CREDENTIALS_KEY fails the channels' list too, and has its own check.
      if (error.status >= 500 && table !== "channels") return noDatabase(error);
    }
  }
  return ok("database", "answers, with its tables");
}

function noDatabase(error: ServiceFault): Check {
  const advice = "apply its migrations: restart npm start, or run npm run deploy; the service's log has the request";
  return bad("database", "fails", error.message, advice);
}

async function apiKeyCheck(service: Service): Promise<Check> {
  const { apiKey } = service.connection;
  const what = "API key";
  if (!apiKey) return bad(what, "unknown", "none is known for this service", "set PARLEY_API_KEY to check it");
  try {
    const { body } = await service.asClient("GET", "/key");
    return ok(what, `is valid (from ${apiKey.from}): ${(body.key as { id: string }).id}`);
  } catch (error) {
    if (!(error instanceof ServiceFault)) throw error;
    if (error.status === 429) return bad(what, "warns", error.message, "wait for the end of its window");
    if (error.status >= 500) return bad(what, "unknown", error.message, "see the lines above");
    return bad(what, "fails", error.message, await adviceOnKey(service, apiKey.value, error.status));
  }
}

/** Why a key is refused. The key contains its id, which the operator's API can look up. */
async function adviceOnKey(service: Service, text: string, status: number): Promise<string> {
  const another = "create another with parley keys create";
  if (status !== 401) return "change its limits with parley keys change";
  const id = /^ply_([0-9A-Za-z]{16})[0-9A-Za-z]{38}$/.exec(text)?.[1];
  if (!id) return `it doesn't have the form of an API key; check that it was copied whole, or ${another}`;
  if (!service.connection.adminToken) return `as the operator, run parley keys show key_${id}; or ${another}`;
  try {
    const { body } = await service.asOperator("GET", `/keys/key_${id}`);
    const { revokedAt, expiresAt } = body.key as { revokedAt: string | null; expiresAt: string | null };
    if (revokedAt !== null) return `key_${id} was revoked; ${another}`;
    if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return `key_${id} is expired; ${another}`;
  } catch (error) {
    if (!(error instanceof ServiceFault)) throw error;
    return error.status === 404 ? `there is no key_${id} at this service; ${another}` : "see the lines above";
  }
  return (
    `key_${id} is valid, so its secret was mistyped or rotated, or KEY_SECRET was changed: set KEY_SECRET_PREVIOUS ` +
    `to the previous one, or create a new secret with parley keys rotate key_${id}`
  );
}

async function statusOf(call: Promise<ServiceResponse>): Promise<number> {
  try {
    return (await call).status;
  } catch (error) {
    if (error instanceof ServiceFault) return error.status;
    throw error;
  }
}
