import { expect, test } from "vitest";
import { ADMIN_TOKEN, fakeService } from "../../cli/fake-service.ts";
import { API_KEY, newHome, run } from "./command.ts";

const WEBHOOK = { id: "whk_g1", url: "https://shop.example/hook", state: "trial", types: null, failed: 0 };
const EVENT = "evt_g00000000000000100000001";

/** The request that a command makes. */
async function requestOf(argv: readonly string[], body: object = { webhook: WEBHOOK }) {
  const { url, asked } = await fakeService(body);
  const env = { PARLEY_URL: url, PARLEY_ADMIN_TOKEN: ADMIN_TOKEN, XDG_CONFIG_HOME: await newHome() };
  const ran = await run(["webhooks", ...argv], env);
  const [request] = asked;
  return { ...ran, asked: request && [request.method, request.path, request.query, request.body] };
}

// Deletions and ends are made on a real service in cli/parley/webhooks.ts.
test.for([
  [
    [
      "create",
      "--organization",
      "org_g1",
      "--url",
      "https://shop.example/hook",
      "--type",
      "message.*",
      "--per-second",
      "5",
    ],
    "POST",
    "/organizations/org_g1/webhooks",
    { url: "https://shop.example/hook", types: ["message.*"], perSecond: 5 },
  ],
  [["show", "whk_g1"], "GET", "/webhooks/whk_g1", {}],
  [
    ["change", "whk_g1", "--payload", "thin", "--type", "default", "--concurrency", "default"],
    "PATCH",
    "/webhooks/whk_g1",
    { payload: "thin", types: null, concurrency: null },
  ],
  [["rotate", "whk_g1", "--overlap", "60"], "POST", "/webhooks/whk_g1/rotate", { overlapSeconds: 60 }],
  [["enable", "whk_g1", "--from", "now"], "POST", "/webhooks/whk_g1/enable", { from: "now" }],
  [["chat", "whk_g1", "cht_g1"], "GET", "/webhooks/whk_g1/chats/cht_g1", {}],
  [["retry", "whk_g1"], "POST", "/webhooks/whk_g1/retry", {}],
  [["retry", "whk_g1", "cht_g1"], "POST", "/webhooks/whk_g1/chats/cht_g1/retry", {}],
  [["skip", "whk_g1", "cht_g1", EVENT], "POST", "/webhooks/whk_g1/chats/cht_g1/skip", { eventId: EVENT }],
  [["replay", "whk_g1", "--event", EVENT], "POST", "/webhooks/whk_g1/replays", { eventId: EVENT }],
  [["replay", "whk_g1", "--failed"], "POST", "/webhooks/whk_g1/replays", { failed: true }],
  [
    ["replay", "whk_g1", "--since", "2026-11-20T00:00:00Z"],
    "POST",
    "/webhooks/whk_g1/replays",
    { since: "2026-11-20T00:00:00Z" },
  ],
  [["replay", "whk_g1", "rpl_g1"], "GET", "/webhooks/whk_g1/replays/rpl_g1", {}],
] as const)("parley webhooks %j", async ([argv, method, path, body]) => {
  const { code, stderr, asked } = await requestOf(argv);
  expect(stderr).not.toContain("✗");
  expect(code).toBe(0);
  expect(asked).toEqual([method, `/admin/v1${path}`, {}, body]);
});

test("webhooks are listed with their states, without pages", async () => {
  const body = { webhooks: [WEBHOOK], pagination: { limit: 20, hasMore: false, cursor: null } };
  const { stdout, stderr, asked } = await requestOf(["list", "--organization", "org_g1"], body);
  expect(asked).toEqual(["GET", "/admin/v1/organizations/org_g1/webhooks", {}, {}]);
  expect(stdout).toMatch(
    /^ID +URL +STATE +SINCE +WAITING CHATS +FAILED +LAST SUCCESS\nwhk_g1 +https:\/\/shop.example\/hook +trial /,
  );
  expect(stderr).toBe("");
});

test("attempts are listed with the answers, and the cursor of the next page", async () => {
  const attempt = { eventId: EVENT, chatId: "cht_g1", number: 7, outcome: "retry", httpStatus: 500, durationMs: 12 };
  const pagination = { limit: 1, hasMore: true, cursor: "c1" };
  const answer = { attempts: [{ ...attempt, startedAt: new Date().toISOString(), message: "500" }], pagination };
  const argv = ["attempts", "whk_g1", "--outcome", "retry", "--chat", "cht_g1", "--limit", "1"];
  const { stdout, stderr, asked } = await requestOf(argv, answer);
  const query = { outcome: "retry", chat: "cht_g1", limit: "1" };
  expect(asked).toEqual(["GET", "/admin/v1/webhooks/whk_g1/attempts", query, {}]);
  expect(stdout).toMatch(/^WHEN .*\n(now|\d+ sec\. ago) +evt_\w+ +cht_g1 +7 +retry +500 +12 +500\n$/);
  expect(stderr).toBe("For more, add --before c1\n");
});

test("what a webhook still has to get of a chat is shown with a table of its last calls", async () => {
  const attempt = { eventId: EVENT, number: 7, startedAt: new Date().toISOString(), durationMs: 12, outcome: "retry" };
  const attempts = [{ ...attempt, httpStatus: 400, message: "400", response: "no such order" }];
  const answer = { pending: 2, head: { eventId: EVENT, number: 7 }, nextAttemptAt: null, attempts };
  for (const argv of [
    ["chat", "whk_g1", "cht_g1"],
    ["skip", "whk_g1", "cht_g1", EVENT],
  ]) {
    const { stdout } = await requestOf(argv, answer);
    expect(stdout).toMatch(/^pending +2$/m);
    expect(stdout).toMatch(/^WHEN .*\n(now|\d+ sec\. ago) +evt_\w+ +7 +retry +400 +12 +400 +no such order\n$/m);
    expect(stdout).not.toContain("{");
  }
});

test.for([
  ["accepted", 0],
  ["retry", 1],
] as const)("a ping that is %s exits with %i", async ([outcome, code]) => {
  const attempt = { outcome, httpStatus: 200, message: "OK" };
  const ran = await requestOf(["ping", "whk_g1", "--type", "message.received"], { attempt });
  expect(ran.asked).toEqual(["POST", "/admin/v1/webhooks/whk_g1/ping", {}, { type: "message.received" }]);
  expect(ran.stdout).toMatch(new RegExp(`^outcome +${outcome}$`, "m"));
  expect(ran.code).toBe(code);
});

test.for([
  ["replay", "whk_g1"],
  ["replay", "whk_g1", "rpl_g1", "--failed"],
  ["show", "whsec_1"],
  ["list", "--page", "2"],
])("parley webhooks %j is a mistake in the command", async (argv) => {
  const { code, asked } = await requestOf(argv);
  expect({ code, asked }).toEqual({ code: 2, asked: undefined });
});

test("without the operator's token, an API key manages its own organization's webhooks", async () => {
  const { url, asked } = await fakeService({ webhook: WEBHOOK, webhooks: [], pagination: {} });
  // A profile, so that the operator's token of this checkout is not used.
  const XDG_CONFIG_HOME = await newHome();
  const { writeProfiles } = await import("../../../src/cli/parley/profiles.ts");
  await writeProfiles(`${XDG_CONFIG_HOME}/parley/profiles.json`, { default: { url, apiKey: API_KEY } });
  const env = { PARLEY_URL: url, XDG_CONFIG_HOME };
  for (const argv of [
    ["list"],
    ["create", "--url", "https://shop.example"],
    ["show", "whk_g1"],
    ["delete", "whk_g1", "--yes"],
  ]) {
    expect(await run(["webhooks", ...argv], env)).toMatchObject({ code: 0 });
  }
  expect(asked.map(({ method, path, token }) => `${method} ${path} ${token}`)).toEqual(
    [
      "GET /api/v1/webhooks",
      "POST /api/v1/webhooks",
      "GET /api/v1/webhooks/whk_g1",
      "DELETE /api/v1/webhooks/whk_g1",
    ].map((request) => `${request} Bearer ${API_KEY}`),
  );
});
