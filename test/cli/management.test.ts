import { expect, test } from "vitest";
import { writeProfiles } from "../../src/cli/parley/profiles.ts";
import { ADMIN_TOKEN, API_KEY, fakeService, newHome, run } from "./fake-service.ts";

const KEY = { id: "key_g1", name: "Shop", permissions: ["chats:read"] };
const LISTS = { keys: [KEY], channels: [], webhooks: [], templates: [], members: [], pagination: { totalPages: 1 } };

/** The requests that a command makes, as a client or as the operator. */
async function requestsOf(argv: readonly string[], tokens: Record<string, string>, answer: object = {}) {
  const { url, asked } = await fakeService({ ...LISTS, ...answer, key: KEY, secret: "ply_x", usage: { used: 1 } });
  const home = await newHome();
  // With a profile, the secrets of the checkout's own service don't count.
  await writeProfiles(`${home}/parley/profiles.json`, { default: { url, apiKey: API_KEY } });
  const ran = await run([...argv], { PARLEY_URL: url, XDG_CONFIG_HOME: home, ...tokens });
  return {
    ...ran,
    asked: asked.map(({ method, path, query, body, token }) => [method, withQuery(path, query), body, token]),
  };
}

function withQuery(path: string, query: Record<string, string>): string {
  return Object.keys(query).length > 0 ? `${path}?${new URLSearchParams(query).toString()}` : path;
}

const BY_KEY = { PARLEY_API_KEY: API_KEY };

test.for([
  [["keys", "create", "--name", "Shop", "--quota", "5"], "POST", "/keys", { name: "Shop", monthlyQuota: 5 }],
  [["keys", "show", "key_g1"], "GET", "/keys/key_g1", {}],
  [["keys", "change", "key_g1", "--name", "Shop"], "PATCH", "/keys/key_g1", { name: "Shop" }],
  [["keys", "rotate", "key_g1", "--overlap", "60"], "POST", "/keys/key_g1/rotate", { overlapSeconds: 60 }],
  [["keys", "revoke", "key_g1", "--yes"], "DELETE", "/keys/key_g1", {}],
  [["usage", "key_g1"], "GET", "/keys/key_g1/usage", {}],
  [["channels", "list"], "GET", "/channels", {}],
  [["channels", "delete", "chn_g1", "--yes"], "DELETE", "/channels/chn_g1", {}],
  [["channels", "rotate", "chn_g1"], "POST", "/channels/chn_g1/identity-secret", {}],
  [["templates", "list"], "GET", "/templates", {}],
  [["members", "create", "--name", "Bea"], "POST", "/members", { name: "Bea" }],
  [["chats", "delete", "cht_g1", "--yes"], "DELETE", "/chats/cht_g1", {}],
  [["redact", "cht_g1", "msg_g1", "--yes"], "POST", "/chats/cht_g1/messages/msg_g1/redact", {}],
] as const)("with an API key alone, parley %j uses the routes of keys", async ([argv, method, path, body]) => {
  const { code, stderr, asked } = await requestsOf(argv, BY_KEY);
  expect(code, stderr).toBe(0);
  expect(asked).toEqual([[method, `/api/v1${path}`, body, `Bearer ${API_KEY}`]]);
});

test("parley stats shows the numbers of the API key's organization", async () => {
  const { code, stdout, asked } = await requestsOf(["stats"], BY_KEY);
  expect([code, asked.map(([, path]) => path)]).toEqual([0, ["/api/v1/stats", "/api/v1/webhooks?limit=100"]]);
  expect(stdout).toContain("key_g1");
});

const NO_REFUSALS = { rate_limited: 0, quota_exceeded: 0, permission_denied: 0, ip_not_allowed: 0, invalid_api_key: 0 };

test.for([
  ["hour", "HOUR", "2026-11-20 09:00"],
  ["day", "DAY", "2026-11-20"],
])("parley stats history --by %s prints a row for each bucket", async ([by, title, cell]) => {
  const start = by === "day" ? "2026-11-20T00:00:00.000Z" : "2026-11-20T09:00:00.000Z";
  const buckets = [{ start, admitted: 12, refused: { ...NO_REFUSALS, rate_limited: 3 } }];
  const argv = ["stats", "history", "key_g1", "--by", by as string];
  const { code, stdout, asked } = await requestsOf(argv, BY_KEY, { history: { by, buckets } });
  expect([code, asked.map(([, path]) => path)]).toEqual([0, [`/api/v1/stats/history?of=key_g1&by=${by}`]]);
  const [head, row, ...more] = stdout.trimEnd().split("\n");
  expect(head).toMatch(new RegExp(`^${title} +ADMITTED +RATE LIMITED +OVER QUOTA +NO PERMISSION +ADDRESS +INVALID$`));
  expect(row).toMatch(new RegExp(`^${cell} +12 +3 +0 +0 +0 +0$`));
  expect(more).toEqual([]);
});

test("parley stats history of a channel shows how its attempts ended", async () => {
  const attempts = { sent: 5, retry: 1, failed: 2, unknown: 0, moved: 0, channel_broken: 0 };
  const buckets = [{ start: "2026-11-20T09:00:00.000Z", attempts }];
  const history = { history: { by: "hour", buckets } };
  const { stdout } = await requestsOf(["stats", "history", "chn_g1"], BY_KEY, history);
  expect(stdout).toMatch(/^HOUR +SENT +RETRY +FAILED +UNKNOWN\n2026-11-20 09:00 +5 +1 +2 +0\n$/);
});

test("with both, the operator's token counts", async () => {
  const { asked } = await requestsOf(["keys", "show", "key_g1"], { ...BY_KEY, PARLEY_ADMIN_TOKEN: ADMIN_TOKEN });
  expect(asked).toEqual([["GET", "/admin/v1/keys/key_g1", {}, `Bearer ${ADMIN_TOKEN}`]]);
});

test("a list of keys asks for the last use by the same secret", async () => {
  const { code, stdout, asked } = await requestsOf(["keys", "list"], BY_KEY);
  expect([code, asked.map(([, path]) => path)]).toEqual([0, ["/api/v1/keys", "/api/v1/stats"]]);
  expect(stdout).toContain("key_g1");
});

test.for([
  [["--self-service", "off"], { selfService: null }],
  [["--self-service", "on"], { selfService: {} }],
  [["--max-keys", "10", "--max-quota", "default"], { selfService: { maxKeys: 10, monthlyQuota: null } }],
  [["--self-service", "on", "--max-per-second", "5"], { selfService: { maxPerSecond: 5 } }],
] as const)("parley organizations change %j", async ([options, body]) => {
  const argv = ["organizations", "change", "org_g1", ...options];
  const { code, stderr, asked } = await requestsOf(argv, { PARLEY_ADMIN_TOKEN: ADMIN_TOKEN });
  expect(code, stderr).toBe(0);
  expect(asked).toEqual([["PATCH", "/admin/v1/organizations/org_g1", body, `Bearer ${ADMIN_TOKEN}`]]);
});

test("--self-service takes on or off", async () => {
  const argv = ["organizations", "change", "org_g1", "--self-service", "maybe"];
  const { code, stderr, asked } = await requestsOf(argv, { PARLEY_ADMIN_TOKEN: ADMIN_TOKEN });
  expect([code, asked]).toEqual([2, []]);
  expect(stderr).toContain("--self-service must be on or off.");
});
