import { expect, test } from "vitest";
import { runSmoke } from "../../support/world/smoke.ts";
import { anHourLater, insteadOf, smokeService } from "../../support/world/smoke-service.ts";

const at = smokeService();

test("a webhook's receiver that answers is good, and one that refuses is named with its status", async () => {
  const { url, env, adminToken } = await at.begin();
  const good = await runSmoke({ url, env, adminToken, webhook: "https://receiver.example/hook" });
  expect([good.failed, good.ok]).toEqual([[], expect.arrayContaining(["webhooks"])]);
  const { failed } = await runSmoke({ url, env, adminToken, webhook: "https://receiver.example/refused" });
  expect(failed).toMatchObject([{ what: "webhooks", found: expect.stringContaining("answered 403") }]);
});

test("a webhook's URL that the service refuses is named with the reason", async () => {
  const { url, env, adminToken } = await at.begin();
  const { failed } = await runSmoke({ url, env, adminToken, webhook: `${url}/hook#part` });
  expect(failed).toMatchObject([
    { what: "webhooks", found: expect.stringMatching(/answered 400 and not 201.*url must/) },
  ]);
  expect(await at.left()).toEqual([]);
});

test("a front that cuts streams is told", async () => {
  const faults = await at.faultsBehind({
    onResponse({ url }, response) {
      if (url?.startsWith("/api/v1/events/stream")) response.once("pipe", () => setImmediate(() => response.destroy()));
    },
  });
  expect(faults).toEqual([expect.stringMatching(/^stream of events: the stream of events was cut off/)]);
});

test("a front that cuts answers is told", async () => {
  const faults = await at.faultsBehind(
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
  const faults = await at.faultsBehind(insteadOf(call, (response) => response.writeHead(...head).end("<html>")));
  expect(faults).toEqual(found.map((one) => expect.stringMatching(one)));
});

test.for<[string, Buffer]>([
  ["text", Buffer.from("\x81\x05hello", "latin1")],
  ["null", Buffer.from("\x81\x04null", "latin1")],
  ["bytes", Buffer.from("\x82\x02{}", "latin1")],
])("a frame that is not the service's ends the socket's step alone: %s", async ([, firstFrame]) => {
  expect(await at.faultsBehind({ firstFrame })).toEqual([
    expect.stringMatching(/^visitors' socket: what came through the visitors' socket is not the service's/),
  ]);
});

test("after a deploy, a rollout in which only an earlier build answers is told", async () => {
  const { url, env, adminToken } = await at.begin();
  const { failed } = await runSmoke({ url, env, adminToken, build: "build-2" });
  expect(failed).toMatchObject([{ what: "rollout", found: "the deployed build build-2 never answered, but build-1" }]);
});

test("two smoke tests at once leave each other alone", async () => {
  const one = await at.begin();
  const both = await Promise.all(
    [1, 2].map(() => runSmoke({ url: one.url, env: one.env, adminToken: one.adminToken })),
  );
  expect(both.map(({ failed }) => failed)).toEqual([[], []]);
  expect(await at.left()).toEqual([]);
  expect(await one.marks()).toEqual([]);
});

test("a temporary organization of another folder is deleted when it is an hour old", async () => {
  const { url, env, adminToken } = await at.begin();
  await at.organizationNamed("Smoke test 12345678", true);
  const first = await runSmoke({ url, env, adminToken });
  expect(first.failed).toEqual([]);
  const [young] = await at.left();
  expect(young?.name).toBe("Smoke test 12345678");
  const late = await at.begin(anHourLater());
  await at.lookForOld(late.url, late.env);
  expect(await at.left()).toEqual([]);
});
