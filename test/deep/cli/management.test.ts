import { expect, test } from "vitest";
import { writeProfiles } from "../../../src/cli/parley/profiles.ts";
import { ADMIN_TOKEN, fakeService } from "../../cli/fake-service.ts";
import { API_KEY, newHome, run } from "./command.ts";
import { BY_KEY, LISTS, requestsOf } from "./requests.ts";

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
  [["replies", "list", "--limit", "5", "--after", "c1"], "GET", "/replies?limit=5&after=c1", {}],
  [["replies", "change", "rpl_g1", "--shortcut", "default"], "PATCH", "/replies/rpl_g1", { shortcut: null }],
  [["replies", "delete", "rpl_g1", "--yes"], "DELETE", "/replies/rpl_g1", {}],
  [["labels", "list"], "GET", "/labels", {}],
  [["labels", "change", "lbl_g1", "--color", "default"], "PATCH", "/labels/lbl_g1", { color: null }],
  [["labels", "delete", "lbl_g1", "--yes"], "DELETE", "/labels/lbl_g1", {}],
  [["members", "create", "--name", "Bea"], "POST", "/members", { name: "Bea" }],
  [["members", "change", "mbr_g1", "--email", "default"], "PATCH", "/members/mbr_g1", { email: null }],
  [
    ["members", "change", "mbr_g1", "--permission", "chats:read", "--permission", "keys:read"],
    "PATCH",
    "/members/mbr_g1",
    { permissions: ["chats:read", "keys:read"] },
  ],
  [["members", "change", "mbr_g1", "--permission", "default"], "PATCH", "/members/mbr_g1", { permissions: null }],
  [["members", "sign-in-link", "mbr_g1"], "POST", "/members/mbr_g1/sign-in-link", {}],
  [["members", "sign-out", "mbr_g1"], "DELETE", "/members/mbr_g1/sessions", {}],
  [["chats", "delete", "cht_g1", "--yes"], "DELETE", "/chats/cht_g1", {}],
  [["redact", "cht_g1", "msg_g1", "--yes"], "POST", "/chats/cht_g1/messages/msg_g1/redact", {}],
] as const)("with an API key alone, parley %j uses the routes of keys", async ([argv, method, path, body]) => {
  const { code, stderr, asked } = await requestsOf(argv, BY_KEY);
  expect(code, stderr).toBe(0);
  expect(asked).toEqual([[method, `/api/v1${path}`, body, `Bearer ${API_KEY}`]]);
});

const CHANNELS = [
  { id: "chn_g1", kind: "web", name: "Site", retentionDays: 90 },
  { id: "chn_g2", kind: "telegram", name: "Bot", retentionDays: null },
];

test.for([
  ["an API key", BY_KEY, "/api/v1", "/api/v1/channels", API_KEY],
  [
    "the operator's token",
    { PARLEY_ADMIN_TOKEN: ADMIN_TOKEN },
    "/admin/v1",
    "/admin/v1/organizations/org_g1/channels",
    ADMIN_TOKEN,
  ],
] as const)("parley retention shows and changes how long channels keep messages, with %s", async (given) => {
  const [, tokens, prefix, list, token] = given;
  const one = { channels: CHANNELS, channel: CHANNELS[0] };
  const organization = prefix === "/admin/v1" ? ["--organization", "org_g1"] : [];
  const listed = await requestsOf(["retention", "--limit", "50", ...organization], tokens, one);
  expect(listed.asked).toEqual([["GET", `${list}?limit=50`, {}, `Bearer ${token}`]]);
  expect(listed.stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["ID", "KIND", "NAME", "DAYS"],
    ["chn_g1", "web", "Site", "90"],
    ["chn_g2", "telegram", "Bot", expect.any(String)],
    [""],
  ]);
  const shown = await requestsOf(["retention", "chn_g1"], tokens, one);
  expect(shown.asked).toEqual([["GET", `${prefix}/channels/chn_g1`, {}, `Bearer ${token}`]]);
  expect(shown.stdout).toMatch(/^retentionDays +90$/m);
  for (const [days, retentionDays] of [
    ["90", 90],
    ["off", null],
  ] as const) {
    const yes = days === "off" ? [] : ["--yes"];
    const changed = await requestsOf(["retention", "chn_g1", "--days", days, ...yes], tokens, one);
    expect([changed.code, changed.stderr]).toEqual([0, ""]);
    expect(changed.asked).toEqual([["PATCH", `${prefix}/channels/chn_g1`, { retentionDays }, `Bearer ${token}`]]);
  }
});

test.for([
  [
    ["retention", "chn_g1", "--days", "90"],
    "Delete the messages of channel chn_g1 that are older than 90 days? This can't be undone.",
  ],
  [["retention", "--days", "90"], "--days needs a channel"],
  [["retention", "chn_g1", "--days", "soon", "--yes"], "--days"],
  [["channels", "change", "chn_g1", "--retention-days", "90"], "--retention-days"],
] as const)("parley %j changes nothing", async ([argv, text]) => {
  const { code, stderr, asked } = await requestsOf(argv, BY_KEY);
  expect([code, asked]).toEqual([2, []]);
  expect(stderr).toContain(text);
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

test("parley stats history of a channel and of a member shows messages and response times", async () => {
  const attempts = { sent: 5, retry: 1, failed: 2, unknown: 0, moved: 0, channel_broken: 0 };
  const classes = { within1m: 4, within5m: 0, within15m: 0, within1h: 2, within4h: 0, within24h: 0, later: 1 };
  const responseTimes = { medianSeconds: 42, p90Seconds: 1_500 };
  const ofMember = { start: "2026-11-20T09:00:00.000Z", received: 3, sent: 8, answers: 7, classes, responseTimes };
  const linesOf = async (id: string, bucket: object) => {
    const history = { history: { by: "hour", buckets: [bucket], responseTimes } };
    const { stdout, stderr, asked } = await requestsOf(["stats", "history", id, "--last", "7"], BY_KEY, history);
    expect(asked.map(([, path]) => path)).toEqual([`/api/v1/stats/history?of=${id}&last=7`]);
    expect(stderr).toContain("half of the answers came within 42 s, and 90 % within 1500 s");
    return stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/));
  };
  const times = {
    ...{ "<1M": "4", "<5M": "0", "<15M": "0", "<1H": "2", "<4H": "0", "<24H": "0", LATER: "1" },
    ...{ "MEDIAN S": "42", "P90 S": "1500" },
  };
  const counts = { HOUR: "2026-11-20 09:00", RECEIVED: "3", SENT: "8", ANSWERS: "7", ...times };
  const [head = [], row] = await linesOf("mbr_g1", ofMember);
  expect([head, row]).toEqual([Object.keys(counts), Object.values(counts)]);
  const [heads = [], cells = []] = await linesOf("chn_g1", {
    ...{ ...ofMember, attempts, newChats: 6 },
    prices: { utility: 4, "authentication-international": 1 },
  });
  expect(Object.fromEntries(heads.map((name, n) => [name, cells[n]]))).toEqual({
    ...counts,
    ...{ "NEW CHATS": "6", ACCEPTED: "5", RETRY: "1", FAILED: "2", UNKNOWN: "0" },
    ...{ UTILITY: "4", "AUTHENTICATION-INTERNATIONAL": "1" },
  });
});

test("parley settings shows and changes what an organization decides itself", async () => {
  const answer = { organization: { id: "org_g1", assignOnAnswer: true } };
  const shown = await requestsOf(["settings"], BY_KEY, answer);
  expect(shown.asked.map(([method, path]) => [method, path])).toEqual([["GET", "/api/v1/organization"]]);
  expect(shown.stdout).toMatch(/^assignOnAnswer +true\n$/);
  const operator = { PARLEY_ADMIN_TOKEN: ADMIN_TOKEN };
  const argv = ["settings", "--assign-on-answer", "off", "--organization", "org_g1"];
  const changed = await requestsOf(argv, operator, answer);
  const body = { assignOnAnswer: false };
  expect(changed.asked.map((request) => request.slice(0, 3))).toEqual([
    ["PATCH", "/admin/v1/organizations/org_g1", body],
  ]);
  const filling = { organization: { ...answer.organization, search: { state: "filling", done: 3, total: 9 } } };
  const searched = await requestsOf(["settings", "--search", "on"], BY_KEY, filling);
  expect(searched.asked.map((request) => request.slice(0, 3))).toEqual([
    ["PATCH", "/api/v1/organization", { search: { on: true } }],
  ]);
  expect(searched.stdout).toMatch(/^assignOnAnswer +true\nsearch.state +filling\nsearch.done +3\nsearch.total +9\n$/);
  const wrong = await requestsOf(["settings", "--assign-on-answer", "maybe"], BY_KEY, answer);
  expect([wrong.code, wrong.asked]).toEqual([2, []]);
  expect(wrong.stderr).toContain("--assign-on-answer must be on or off");
});

const ORGANIZATION = {
  limits: { chats: 5_000, members: 1_000, templates: 1_000, channels: 200 },
  selfService: { maxKeys: 10, maxPerSecond: null, monthlyQuota: 1_000 },
};
const rateLimit = { limit: 300, windowSeconds: 60 };

test("parley limits shows what is used of each limit", async () => {
  const month = new Date().toISOString();
  const keys = [
    { rateLimit, monthlyQuota: 100, revokedAt: null },
    { rateLimit: { limit: 7, windowSeconds: 1 }, monthlyQuota: null, revokedAt: null },
    { rateLimit, monthlyQuota: 20, revokedAt: month },
    { rateLimit, monthlyQuota: 400, revokedAt: "2020-01-31T00:00:00.000Z" },
  ];
  const answer = { organization: ORGANIZATION, keys, pagination: { totalPages: 1, total: 12 } };
  const { code, stdout, asked } = await requestsOf(["limits"], BY_KEY, answer);
  expect(code).toBe(0);
  expect(asked.map(([, path]) => path)).toEqual([
    "/api/v1/organization",
    "/api/v1/keys?limit=100&page=1",
    "/api/v1/chats?limit=1",
    "/api/v1/members?limit=1",
    "/api/v1/templates?limit=1",
    "/api/v1/channels?limit=1",
  ]);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["LIMIT", "USED", "MAXIMUM"],
    ["Chats", "12", "5000"],
    ["Members", "12", "1000"],
    ["Templates", "12", "1000"],
    ["Channels", "12", "200"],
    ["Keys that are not revoked", "2", "10"],
    ["Requests per second, per key", "7", "–"],
    ["Sum of the keys' monthly quotas", "120", "1000"],
    [""],
  ]);
  const asOperator = await requestsOf(
    ["limits", "--organization", "org_g1"],
    { PARLEY_ADMIN_TOKEN: ADMIN_TOKEN },
    answer,
  );
  expect(asOperator.asked.map(([, path]) => path)).toEqual([
    "/admin/v1/organizations/org_g1",
    "/admin/v1/organizations/org_g1/keys?limit=100&page=1",
    "/admin/v1/organizations/org_g1/chats?limit=1",
    "/admin/v1/organizations/org_g1/members?limit=1",
    "/admin/v1/organizations/org_g1/templates?limit=1",
    "/admin/v1/organizations/org_g1/channels?limit=1",
  ]);
  expect(asOperator.stdout).toBe(stdout);
});

test("parley limits says that self-service is off", async () => {
  const organization = { ...ORGANIZATION, selfService: null };
  const { code, stderr } = await requestsOf(["limits"], BY_KEY, { organization, keys: [] });
  expect([code, stderr]).toEqual([0, "Self-service is off: only the operator manages keys.\n"]);
});

test.for([
  [{ apiKey: API_KEY }, "/api/v1/keys", API_KEY],
  [{ adminToken: ADMIN_TOKEN }, "/admin/v1/organizations/org_g1/keys", ADMIN_TOKEN],
] as const)("parley keys uses the secret of a saved profile: %j", async ([secret, path, token]) => {
  const { url, asked } = await fakeService(LISTS);
  const home = await newHome();
  await writeProfiles(`${home}/parley/profiles.json`, { shop: { url, ...secret } });
  const of = "adminToken" in secret ? ["--organization", "org_g1"] : [];
  const { code, stderr } = await run(["keys", "list", "--profile", "shop", ...of], { XDG_CONFIG_HOME: home });
  expect(code, stderr).toBe(0);
  expect(asked[0]).toMatchObject({ method: "GET", path, token: `Bearer ${token}` });
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
