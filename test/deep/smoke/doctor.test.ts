import { utimesSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readBody } from "../../support/fake-server.ts";
import type { FrontOptions } from "../../support/world/front.ts";
import { newSmokeHome, runSmoke } from "../../support/world/smoke.ts";
import { anHourLater, insteadOf, smokeService } from "../../support/world/smoke-service.ts";
import { run } from "../cli/command.ts";

const at = smokeService();

test("the smoke test of a deployed service proves each step and leaves nothing", async () => {
  const { url, env, marks, adminToken } = await at.begin();
  const { isGood, failed, ok, unknown } = await runSmoke({ url, env, adminToken });
  expect(failed).toEqual([]);
  expect(isGood).toBe(true);
  expect(ok).toEqual(
    expect.arrayContaining(["alarms", "visitors' socket", "stream of events", "files, jurisdiction eu"]),
  );
  // The limit of this service is never reached.
  expect(unknown.map(({ what }) => what).sort()).toEqual(["limit of strangers", "plain http", "webhooks"]);
  expect(await at.left()).toEqual([]);
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
  const { url, env, marks, adminToken, front } = await at.begin({ ...options, build: undefined as never });
  const { isGood, checks } = await runSmoke({ url, env, adminToken });
  expect(isGood).toBe(false);
  expect(checks.map(({ what, state, found, advice }) => [what, state, `${found}. ${advice}`])).toEqual([
    ["service", "fails", expect.stringMatching(found)],
  ]);
  expect(front.asked).toEqual(["GET /healthz"]);
  expect(await marks()).toEqual([]);
});

test("a wrong token and a wrong address are told, and nothing is created", async () => {
  const { url, env } = await at.begin();
  const wrong = await runSmoke({ url, env, adminToken: "wrong" });
  expect(wrong.failed).toMatchObject([{ what: "database", found: "the operator's token is refused (from the test)" }]);
  const nowhere = await runSmoke({ url: "http://127.0.0.1:9", env, adminToken: "wrong" });
  expect(nowhere.failed).toMatchObject([{ what: "service", found: expect.stringMatching(/got no answer/) }]);
});

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
  const { url, env, folder, marks } = await at.begin();
  await markOf(folder, "0123abcd", { url, ...run });
  await at.organizationNamed("Smoke test 0123abcd", true);
  expect(await at.lookForOld(url, env)).toBe("answers the operator; deleted 1 left by earlier runs");
  expect(await at.left()).toEqual([]);
  expect(await marks()).toEqual([]);
});

test("a run of another container that goes on is left alone", async () => {
  const { url, env, folder, marks } = await at.begin();
  const path = await markOf(folder, "0123abcd", { url, ids: [] });
  const id = await at.organizationNamed("Smoke test 0123abcd", true);
  let seconds = 1_000_000_000;
  const beat = setInterval(() => utimesSync(path, ++seconds, seconds), 5);
  onTestFinished(() => clearInterval(beat));
  expect(await at.lookForOld(url, env)).toBe("answers the operator");
  expect((await at.left()).map((one) => one.id)).toEqual([id]);
  expect(await marks()).toEqual(["0123abcd.json"]);
  await at.asOperator("DELETE", `/${id}`);
});

test("a front that drops queries is told, and no organization of a customer is deleted", async () => {
  const id = await at.organizationNamed("A customer", false);
  const { url, env } = await at.begin(
    anHourLater((request) => {
      request.url = "/admin/v1/organizations";
    }),
  );
  const adminToken = at.adminToken();
  const { failed } = await runSmoke({ url, env, adminToken });
  expect((await at.asOperator("GET", `/${id}`)).status).toBe(200);
  expect(failed).toMatchObject([
    { what: "database", found: "the list has other organizations: something removed the query" },
  ]);
});

test("a list that begins again on each page ends the run", async () => {
  const organizations = [{ id: "org_g1", name: "Smoke test 1", temporary: true, createdAt: new Date().toISOString() }];
  const page = JSON.stringify({ organizations, pagination: { hasMore: true } });
  const { url, env, adminToken } = await at.begin(
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
        const answer = await at.asOperator("POST", "", JSON.stringify(body));
        response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
      };
      void create();
      return true;
    },
  };
}

async function namedSmokeTest(): Promise<string[]> {
  const response = await at.asOperator("GET", "?limit=100");
  const { organizations } = (await response.json()) as { organizations: { name: string }[] };
  return organizations.map(({ name }) => name).filter((name) => name.startsWith("Smoke test"));
}

test("an organization that an older version creates is told, and deleted though no list shows it", async () => {
  const faults = await at.faultsBehind(olderCreates(() => true));
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
  const { url, env, adminToken, marks } = await at.begin(olderCreates(() => isDeleting));
  const { failed } = await runSmoke({ url, env, adminToken });
  expect(failed.at(-1)).toMatchObject({
    what: "clean-up",
    found: expect.stringMatching(/are left: org_\w+, org_\w+, org_\w+ /),
  });
  expect(await namedSmokeTest()).toHaveLength(3);
  isDeleting = true;
  expect(await at.lookForOld(url, env)).toBe("answers the operator; deleted 3 left by earlier runs");
  expect(await namedSmokeTest()).toEqual([]);
  expect(await marks()).toEqual([]);
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
