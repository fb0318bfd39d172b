import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Front, type FrontOptions } from "../support/world/front.ts";
import { type Service, startService } from "../support/world/service.ts";
import { newSmokeHome, runSmoke, temporaryAt } from "../support/world/smoke.ts";
import { run } from "./fake-service.ts";

const BIN = new URL("../../src/cli/parley/bin.js", import.meta.url).pathname;

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function begin(options: Partial<FrontOptions> = {}) {
  const front = await Front.begin({ target: service.url, build: () => "build-1", ...options });
  onTestFinished(() => front.end());
  const { home, env, marks } = await newSmokeHome();
  const adminToken = service.secrets.ADMIN_TOKEN;
  return { url: front.url, front, home, env, marks, adminToken };
}

const left = () => temporaryAt(service.url, service.secrets.ADMIN_TOKEN);

test("the smoke test of a deployed service proves each step and leaves nothing", async () => {
  const { url, env, marks, adminToken } = await begin();
  const { isGood, failed, ok, unknown } = await runSmoke({ url, env, adminToken });
  expect(failed).toEqual([]);
  expect(isGood).toBe(true);
  expect(ok).toEqual(
    expect.arrayContaining(["alarms", "visitors' socket", "stream of events", "files, jurisdiction eu"]),
  );
  // The limit of this service is never reached.
  expect(unknown.map(({ what }) => what).sort()).toEqual(["limit of strangers", "plain http", "webhooks"]);
  expect(await left()).toEqual([]);
  expect(await marks()).toEqual([]);
});

/** Answers everything in place of the service. */
function instead(status: number, headers: Record<string, string>, body = ""): Partial<FrontOptions> {
  return {
    answers(_request, response) {
      response.writeHead(status, headers).end(body);
      return true;
    },
  };
}

test.for<[name: string, front: Partial<FrontOptions>, found: RegExp]>([
  ["a challenge", instead(403, { "cf-mitigated": "challenge" }, "<html>Just a moment"), /a challenge.*Bot Fight Mode/],
  [
    "Access",
    instead(302, { Location: "https://t.cloudflareaccess.com/cdn-cgi/access/login" }),
    /Access asks for a log-in/,
  ],
  ["a redirect", instead(301, { Location: "https://www.example.com/x" }), /redirects to https:\/\/www\.example\.com/],
  ["another program", instead(200, { "Content-Type": "text/html" }, "<html>"), /is not Parley/],
  ["a rule of the zone", instead(403, { Server: "cloudflare" }, "<html>Sorry"), /a security rule/],
])("behind %s, the smoke test says so and creates nothing", async ([, options, found]) => {
  const { url, env, marks, adminToken, front } = await begin({ ...options, build: undefined as never });
  const { isGood, checks } = await runSmoke({ url, env, adminToken });
  expect(isGood).toBe(false);
  expect(checks.map(({ what, state, found, advice }) => [what, state, `${found}. ${advice}`])).toEqual([
    ["service", "fails", expect.stringMatching(found)],
  ]);
  expect(front.asked).toEqual(["GET /healthz"]);
  expect(await marks()).toEqual([]);
});

test("a wrong token and a wrong address are told, and nothing is created", async () => {
  const { url, env } = await begin();
  const wrong = await runSmoke({ url, env, adminToken: "wrong" });
  expect(wrong.failed).toMatchObject([{ what: "database", found: "the operator's token is refused (from the test)" }]);
  const nowhere = await runSmoke({ url: "http://127.0.0.1:9", env, adminToken: "wrong" });
  expect(nowhere.failed).toMatchObject([{ what: "service", found: expect.stringMatching(/got no answer/) }]);
});

test("a webhook's URL that the service refuses is named with the reason", async () => {
  const { url, env, adminToken } = await begin();
  const { failed } = await runSmoke({ url, env, adminToken, webhook: `${url}/hook#part` });
  expect(failed).toMatchObject([
    { what: "webhooks", found: expect.stringMatching(/answered 400 and not 201.*url must/) },
  ]);
  expect(await left()).toEqual([]);
});

test("a front that cuts streams is told, and so is one that cuts answers", async () => {
  const cut = await begin({
    onResponse({ url }, response) {
      if (url?.startsWith("/api/v1/events/stream")) response.once("pipe", () => setImmediate(() => response.destroy()));
    },
  });
  const { failed } = await runSmoke({ url: cut.url, env: cut.env, adminToken: cut.adminToken });
  expect(failed).toMatchObject([{ what: "stream of events", found: "the stream of events was cut off" }]);
  expect(await left()).toEqual([]);
});

/** Runs `parley doctor --smoke`, and ends it when the front is asked for this. */
async function endAt(asked: string, signal: NodeJS.Signals) {
  let child: ReturnType<typeof spawn> | undefined;
  let isSent = false;
  const place = await begin({
    onResponse({ method, url }) {
      if (isSent || !`${method} ${url}`.includes(asked)) return;
      isSent = true;
      child?.kill(signal);
    },
  });
  const env = {
    PATH: process.env.PATH,
    PARLEY_URL: place.url,
    PARLEY_ADMIN_TOKEN: place.adminToken,
    XDG_CONFIG_HOME: place.home,
  } as unknown as NodeJS.ProcessEnv;
  child = spawn(process.execPath, ["--no-warnings", BIN, "doctor", "--smoke"], { env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  expect(isSent).toBe(true);
  expect(output).not.toContain(place.adminToken);
  return { ...place, code, output };
}

test.for<[string, NodeJS.Signals]>([
  ["POST /admin/v1/organizations", "SIGINT"],
  ["POST /api/v1/chats", "SIGTERM"],
  ["/media", "SIGINT"],
  ["/events/stream", "SIGTERM"],
  ["DELETE /admin/v1/organizations", "SIGINT"],
])("a smoke test that is interrupted at %s leaves nothing (%s)", async ([asked, signal]) => {
  const { code, output, marks } = await endAt(asked, signal);
  expect(output).toContain("Interrupted. What the smoke test made is deleted");
  expect(code).toBe(1);
  expect(await left()).toEqual([]);
  expect(await marks()).toEqual([]);
});

test.for(["POST /admin/v1/organizations/", "POST /api/v1/chats", "/media", "DELETE /admin/v1/organizations"])(
  "after a kill at %s, the next run of the same folder deletes what is left, and that of another one does not",
  async (asked) => {
    const { marks, env, url, adminToken } = await endAt(asked, "SIGKILL");
    expect(await marks()).toHaveLength(1);
    const before = await left();
    expect(before.length).toBeGreaterThan(0);
    const other = await newSmokeHome();
    const stop = new AbortController();
    const until = (env: Record<string, string>) =>
      runSmoke({
        url,
        env,
        adminToken,
        signal: stop.signal,
        onCheck: ({ what }) => what === "database" && stop.abort(),
      }).catch((error: unknown) => expect(stop.signal.aborted, String(error)).toBe(true));
    await until(other.env);
    expect(await left()).toEqual(before);
    const again = await runSmoke({ url, env, adminToken, webhook: null });
    expect(again.failed).toEqual([]);
    expect(again.checks.find(({ what }) => what === "database")?.found).toMatch(/deleted \d left by earlier runs/);
    expect(await left()).toEqual([]);
    expect(await marks()).toEqual([]);
  },
);

test("two smoke tests at once leave each other alone", async () => {
  const one = await begin();
  const both = await Promise.all(
    [1, 2].map(() => runSmoke({ url: one.url, env: one.env, adminToken: one.adminToken })),
  );
  expect(both.map(({ failed }) => failed)).toEqual([[], []]);
  expect(await left()).toEqual([]);
  expect(await one.marks()).toEqual([]);
});

test("a temporary organization of another folder is deleted when it is an hour old", async () => {
  const { url, env, adminToken } = await begin();
  const headers = { Authorization: `Bearer ${adminToken}` };
  const body = JSON.stringify({ name: "Smoke test 12345678", owner: { name: "Ada" }, temporary: true });
  await fetch(new URL("/admin/v1/organizations", url), { method: "POST", headers, body });
  const first = await runSmoke({ url, env, adminToken });
  expect(first.failed).toEqual([]);
  const [young] = await left();
  expect(young?.name).toBe("Smoke test 12345678");
  const late = await begin({
    answers({ method, url }, response) {
      // The service's time, as its list says it.
      if (method === "GET" && url?.startsWith("/admin/v1/organizations?")) {
        const writeHead = response.writeHead.bind(response);
        const date = new Date(Date.now() + 3_700_000).toUTCString();
        response.writeHead = ((status: number, given: object) => writeHead(status, { ...given, Date: date })) as never;
      }
      return false;
    },
  });
  const stop = new AbortController();
  await runSmoke({
    url: late.url,
    env: late.env,
    adminToken,
    signal: stop.signal,
    onCheck: ({ what }) => what === "database" && stop.abort(),
  }).catch(() => {});
  expect(await left()).toEqual([]);
});

test("doctor --smoke needs the operator's token, and --webhook needs --smoke and a URL", async () => {
  const { home } = await newSmokeHome();
  // Not of this machine, whose checkout may have a token.
  const env = { PARLEY_URL: "https://parley.invalid", XDG_CONFIG_HOME: home };
  const without = await run(["doctor", "--smoke"], env);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("needs the operator's token")]);
  const alone = await run(["doctor", "--webhook", "https://example.com"], env);
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("--webhook needs --smoke")]);
  const noUrl = await run(["doctor", "--smoke", "--webhook", "example.com/hook"], env);
  expect([noUrl.code, noUrl.stderr]).toEqual([2, expect.stringContaining("--webhook must be a URL")]);
});
