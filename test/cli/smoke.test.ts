import { spawn } from "node:child_process";
import { once } from "node:events";
import { utimesSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { SmokeCheck } from "../../src/cli/parley/smoke/smoke.ts";
import { readBody } from "../support/fake-server.ts";
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
  const adminToken = service.secrets.ADMIN_TOKEN;
  return { url: front.url, front, adminToken, ...(await newSmokeHome()) };
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

test("a webhook's receiver that answers is good, and one that refuses is named with its status", async () => {
  const { url, env, adminToken } = await begin();
  const good = await runSmoke({ url, env, adminToken, webhook: "https://receiver.example/hook" });
  expect([good.failed, good.ok]).toEqual([[], expect.arrayContaining(["webhooks"])]);
  const { failed } = await runSmoke({ url, env, adminToken, webhook: "https://receiver.example/refused" });
  expect(failed).toMatchObject([{ what: "webhooks", found: expect.stringContaining("answered 403") }]);
});

test("a webhook's URL that the service refuses is named with the reason", async () => {
  const { url, env, adminToken } = await begin();
  const { failed } = await runSmoke({ url, env, adminToken, webhook: `${url}/hook#part` });
  expect(failed).toMatchObject([
    { what: "webhooks", found: expect.stringMatching(/answered 400 and not 201.*url must/) },
  ]);
  expect(await left()).toEqual([]);
});

/** What a run says in place of what it proves, where the front does this. */
async function faultsBehind(options: Partial<FrontOptions>) {
  const { url, env, adminToken, marks } = await begin(options);
  const { failed } = await runSmoke({ url, env, adminToken });
  expect(await left()).toEqual([]);
  expect(await marks()).toEqual([]);
  return failed.map(({ what, found, advice }) => `${what}: ${found}. ${advice}`);
}

/** Answers these calls in place of the service. */
function insteadOf(call: string, answer: (response: ServerResponse) => void): Partial<FrontOptions> {
  return {
    answers({ method, url }, response) {
      if (!`${method} ${url}`.startsWith(call)) return false;
      answer(response);
      return true;
    },
  };
}

test("a front that cuts streams is told", async () => {
  const faults = await faultsBehind({
    onResponse({ url }, response) {
      if (url?.startsWith("/api/v1/events/stream")) response.once("pipe", () => setImmediate(() => response.destroy()));
    },
  });
  expect(faults).toEqual([expect.stringMatching(/^stream of events: the stream of events was cut off/)]);
});

test("a front that cuts answers is told", async () => {
  const faults = await faultsBehind(
    insteadOf("GET /admin/v1/organizations/", (response) => {
      response.writeHead(200, { "Content-Length": 100 }).write("{", () => response.destroy());
    }),
  );
  expect(faults).toEqual([
    expect.stringMatching(/^deletion: the answer to GET \/admin\/v1\/organizations\/org_\w+ was cut off/),
  ]);
});

test.for<[name: string, call: string, head: [number, Record<string, string>], found: RegExp[]]>([
  [
    "a challenge",
    "POST /api/v1/chats/",
    [403, { "cf-mitigated": "challenge" }],
    Array.from({ length: 3 }, () => /^organization, .*: .*a challenge.*Bot Fight Mode/),
  ],
  [
    "a redirect",
    "GET /api/v1/events/stream",
    [302, { Location: "https://www.example.com/x" }],
    [/^stream of events: the address redirects to https:\/\/www\.example\.com/],
  ],
])("%s that comes after /healthz is told", async ([, call, head, found]) => {
  const faults = await faultsBehind(insteadOf(call, (response) => response.writeHead(...head).end("<html>")));
  expect(faults).toEqual(found.map((one) => expect.stringMatching(one)));
});

test.for<[string, Buffer]>([
  ["text", Buffer.from("\x81\x05hello", "latin1")],
  ["null", Buffer.from("\x81\x04null", "latin1")],
  ["bytes", Buffer.from("\x82\x02{}", "latin1")],
])("a frame that is not the service's ends the socket's step alone: %s", async ([, firstFrame]) => {
  expect(await faultsBehind({ firstFrame })).toEqual([
    expect.stringMatching(/^visitors' socket: what came through the visitors' socket is not the service's/),
  ]);
});

test("after a deploy, a rollout in which only an earlier build answers is told", async () => {
  const { url, env, adminToken } = await begin();
  const { failed } = await runSmoke({ url, env, adminToken, build: "build-2" });
  expect(failed).toMatchObject([{ what: "rollout", found: "the deployed build build-2 never answered, but build-1" }]);
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
  const proved = output.split("\n").filter((line) => line.startsWith("✓"));
  expect(proved.length).toBeGreaterThan(2);
  for (const line of proved) expect(line).toMatch(/^✓ [a-z' ,]+: .+ \(\d+\.\d s\)$/);
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
    await lookForOld(url, (await newSmokeHome()).env);
    expect(await left()).toEqual(before);
    const again = await runSmoke({ url, env, adminToken, webhook: null });
    expect(again.failed).toEqual([]);
    expect(again.checks.find(({ what }) => what === "database")?.found).toMatch(/deleted \d left by earlier runs/);
    expect(await left()).toEqual([]);
    expect(await marks()).toEqual([]);
  },
);

/** Begins a run, and ends it when it has deleted the old organizations. @returns what it said of that */
async function lookForOld(url: string, env: Record<string, string>): Promise<string> {
  const stop = new AbortController();
  let said = "";
  const onCheck = ({ what, found }: SmokeCheck) => {
    if (what !== "database") return;
    said = found;
    stop.abort();
  };
  const run = runSmoke({ url, env, adminToken: service.secrets.ADMIN_TOKEN, signal: stop.signal, onCheck });
  await run.catch((error: unknown) => expect(stop.signal.aborted, String(error)).toBe(true));
  return said;
}

/** Creates an organization as the operator. @returns its id */
async function organizationNamed(name: string, temporary: boolean): Promise<string> {
  const body = JSON.stringify({ name, owner: { name: "Ada" }, temporary });
  const response = await asOperator("POST", "", body);
  return ((await response.json()) as { organization: { id: string } }).organization.id;
}

/** Calls the service itself below `/admin/v1/organizations`. */
function asOperator(method: string, path: string, body: string | null = null): Promise<Response> {
  const headers = { Authorization: `Bearer ${service.secrets.ADMIN_TOKEN}` };
  return fetch(new URL(`/admin/v1/organizations${path}`, service.url), { method, headers, body });
}

/** Leaves the mark of a run that is not of this process. @returns its path */
async function markOf(folder: string, mark: string, run: object): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${mark}.json`);
  await writeFile(path, JSON.stringify(run), { mode: 0o600 });
  return path;
}

test.for([
  ["the process id of the next one", { pid: process.pid, host: hostname() }],
  ["the name of another container", { pid: 1, host: "another" }],
] as const)("a run that was killed and has %s is over", async ([, run]) => {
  const { url, env, folder, marks } = await begin();
  await markOf(folder, "0123abcd", { url, ...run });
  await organizationNamed("Smoke test 0123abcd", true);
  expect(await lookForOld(url, env)).toBe("answers the operator; deleted 1 left by earlier runs");
  expect(await left()).toEqual([]);
  expect(await marks()).toEqual([]);
});

test("a run of another container that goes on is left alone", async () => {
  const { url, env, folder, marks } = await begin();
  const path = await markOf(folder, "0123abcd", { url, ids: [] });
  const id = await organizationNamed("Smoke test 0123abcd", true);
  let seconds = 1_000_000_000;
  const beat = setInterval(() => utimesSync(path, ++seconds, seconds), 5);
  onTestFinished(() => clearInterval(beat));
  expect(await lookForOld(url, env)).toBe("answers the operator");
  expect((await left()).map((one) => one.id)).toEqual([id]);
  expect(await marks()).toEqual(["0123abcd.json"]);
  await asOperator("DELETE", `/${id}`);
});

/** The service's time, as its list says it, is an hour ahead. */
function anHourLater(change: (request: IncomingMessage) => void = () => {}): Partial<FrontOptions> {
  return {
    answers(request, response) {
      if (request.method === "GET" && request.url?.startsWith("/admin/v1/organizations?")) {
        const writeHead = response.writeHead.bind(response);
        const date = new Date(Date.now() + 3_700_000).toUTCString();
        response.writeHead = ((status: number, given: object) => writeHead(status, { ...given, Date: date })) as never;
        change(request);
      }
      return false;
    },
  };
}

test("a front that drops queries is told, and no organization of a customer is deleted", async () => {
  const id = await organizationNamed("A customer", false);
  const { url, env } = await begin(
    anHourLater((request) => {
      request.url = "/admin/v1/organizations";
    }),
  );
  const adminToken = service.secrets.ADMIN_TOKEN;
  const { failed } = await runSmoke({ url, env, adminToken });
  expect((await asOperator("GET", `/${id}`)).status).toBe(200);
  expect(failed).toMatchObject([
    { what: "database", found: "the list has other organizations: something removed the query" },
  ]);
});

test("a list that begins again on each page ends the run", async () => {
  const organizations = [{ id: "org_g1", name: "Smoke test 1", temporary: true, createdAt: new Date().toISOString() }];
  const page = JSON.stringify({ organizations, pagination: { hasMore: true } });
  const { url, env, adminToken } = await begin(
    insteadOf("GET /admin/v1/organizations?", (response) => response.end(page)),
  );
  const { failed } = await runSmoke({ url, env, adminToken });
  expect(failed).toMatchObject([{ what: "database", found: expect.stringMatching(/something removed the query/) }]);
});

/** The creations of a rollout come to a version that has no temporary organizations. */
function olderCreates(isDeleting: () => boolean): Partial<FrontOptions> {
  return {
    answers(request, response) {
      const call = `${request.method} ${request.url}`;
      if (call.startsWith("DELETE /admin/v1/organizations/") && !isDeleting()) {
        response.writeHead(500).end();
        return true;
      }
      if (call !== "POST /admin/v1/organizations") return false;
      const create = async () => {
        const { temporary: _, ...body } = (await readBody(request)).body;
        const answer = await asOperator("POST", "", JSON.stringify(body));
        response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
      };
      void create();
      return true;
    },
  };
}

async function namedSmokeTest(): Promise<string[]> {
  const response = await asOperator("GET", "?limit=100");
  const { organizations } = (await response.json()) as { organizations: { name: string }[] };
  return organizations.map(({ name }) => name).filter((name) => name.startsWith("Smoke test"));
}

test("an organization that an older version creates is told, and deleted though no list shows it", async () => {
  const faults = await faultsBehind(olderCreates(() => true));
  expect(faults).toEqual(
    ["no jurisdiction", "jurisdiction eu", "jurisdiction us"].map(
      (place) =>
        `organization, ${place}: an older version answers: it has no temporary organizations. ` +
        "a rollout takes a minute: repeat this",
    ),
  );
  expect(await namedSmokeTest()).toEqual([]);
});

test("an organization that an older version created and no run could delete is deleted by the next run", async () => {
  let isDeleting = false;
  const { url, env, adminToken, marks } = await begin(olderCreates(() => isDeleting));
  const { failed } = await runSmoke({ url, env, adminToken });
  expect(failed.at(-1)).toMatchObject({
    what: "clean-up",
    found: expect.stringMatching(/are left: org_\w+, org_\w+, org_\w+ /),
  });
  expect(await namedSmokeTest()).toHaveLength(3);
  isDeleting = true;
  expect(await lookForOld(url, env)).toBe("answers the operator; deleted 3 left by earlier runs");
  expect(await namedSmokeTest()).toEqual([]);
  expect(await marks()).toEqual([]);
});

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
  await organizationNamed("Smoke test 12345678", true);
  const first = await runSmoke({ url, env, adminToken });
  expect(first.failed).toEqual([]);
  const [young] = await left();
  expect(young?.name).toBe("Smoke test 12345678");
  const late = await begin(anHourLater());
  await lookForOld(late.url, late.env);
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
