import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Patience } from "../../../src/cli/parley/smoke/lab.ts";
import { bundle } from "../../support/bundle.ts";
import { Front, type FrontOptions } from "../../support/world/front.ts";
import { newSmokeHome, runSmoke, temporaryAt } from "../../support/world/smoke.ts";
import { migrations, newSecrets, startWorkers, workerOptions } from "../../support/world/workers.ts";

const LIMIT = { STRANGERS: { namespace_id: "736127", simple: { limit: 2, period: 60 as const } } };
const secrets = newSecrets();

type Broken = {
  front?: Partial<FrontOptions>;
  plain?: (url: string) => string;
  found: RegExp;
  what: string;
  /** Steps that fail for the same reason. */
  also?: RegExp;
  state?: "unknown";
  /** How long a step waits for what never comes. */
  patience?: Partial<Patience>;
};

/** What is broken, and the step that must say so. */
const BROKEN: Record<string, Broken> = {
  "no bucket": { what: "files, no jurisdiction", found: /\/media answered 503 and not 201.* check the bucket MEDIA: / },
  "no migration": { what: "database", found: /answered 500 and not 200.*apply its migrations/ },
  "no alarm": {
    what: "alarms",
    found: /still SCHEDULED 5 s after its time: no alarm rang/,
    patience: { due: 5_000 },
  },
  "no socket": { what: "visitors' socket", found: /the visitors' socket is refused.*WebSockets/ },
  "no limiter": { what: "limit of strangers", found: /none 429.*STRANGERS is not bound/, state: "unknown" },
  "wrong clock": { what: "clock", found: /the Worker's clock is off by 3[56]\d\d s/ },
  "old version": { what: "service", found: /older than this command.*deploy this version first/ },
  "buffered stream": { what: "stream of events", found: /something buffers it/, patience: { event: 5_000 } },
  "conditions ignored": {
    what: "files, no jurisdiction",
    found: /two uploads with one Idempotency-Key|overwrote the bytes/,
  },
  "no D1": { what: "database", found: /answered 503 and not 200.*check the database DB/ },
  "no address": { what: "client address", found: /sees no client address.*Remove visitor IP headers/ },
  "other address": { what: "client address", found: /sees 240\.16\.0\.1, and Cloudflare 203\.0\.113\.7.*Pseudo IPv4/ },
  "no eu": { what: "organization, jurisdiction eu", found: /POST \/admin\/v1\/organizations answered 50\d/ },
  "no ETag": { what: "organization, no jurisdiction", found: /has no ETag/, also: /^organization/ },
  "plain http": {
    what: "plain http",
    found: /a key would be readable on the network.*Always Use HTTPS/,
    plain: (url) => url,
  },
  "two versions": {
    what: "rollout",
    found: /several versions answer: build-1, build-2/,
    front: { build: (look) => `build-${look === 3 ? 2 : 1}` },
  },
  "no pages": {
    what: "pages",
    found: /GET \/widget\.js lacks Access-Control-Allow-Origin: \*/,
    front: {
      answers: ({ url }, response) => {
        if (url !== "/widget.js") return false;
        response.writeHead(200, { "Content-Type": "text/javascript", "X-Content-Type-Options": "nosniff" }).end("1");
        return true;
      },
    },
  },
};

let urls: Record<string, string>;
let end: () => Promise<void>;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-broken-"));
  await bundle({ index: new URL("worker/index.ts", import.meta.url).pathname }, folder);
  const worker = (broken: string, setup: { name?: string; database?: string; objectsOf?: string } = {}) => ({
    ...workerOptions({
      name: broken.replaceAll(" ", "-"),
      script: join(folder, "index.js"),
      bindings: { ...secrets, LOG_REQUESTS: "none", BROKEN: broken },
      ...setup,
    }),
    ratelimits: LIMIT,
  });
  const own = ["nothing", "no class", "files kept", ...Object.keys(BROKEN)].map((broken) => worker(broken));
  const workers = [...own, worker("nothing", { name: "a-class", database: "no-class", objectsOf: "no-class" })];
  const started = await startWorkers({
    resourcePersistencePath: join(folder, "data"),
    handleStructuredLogs: () => {},
    workers,
  });
  const { miniflare } = started;
  urls = started.urls;
  for (const { name } of own.filter((one) => one.name !== "no-migration")) {
    const database = await miniflare.getD1Database("DB", name);
    for (const statements of await migrations()) await database.batch(statements.map((sql) => database.prepare(sql)));
  }
  end = async () => {
    await miniflare.dispose();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
});

afterAll(() => end());

const urlOf = (name: string) => urls[name.replaceAll(" ", "-")] ?? "";

async function frontOf(name: string, options: Partial<FrontOptions> = {}): Promise<Front> {
  const front = await Front.begin({ target: urlOf(name), build: () => "build-1", ...options });
  onTestFinished(() => front.end());
  return front;
}

test("a sound service passes each step, and nothing of the run is left", async () => {
  const front = await frontOf("nothing");
  const { env, marks } = await newSmokeHome();
  const { isGood, failed, ok, checks } = await runSmoke({ url: front.url, adminToken: secrets.ADMIN_TOKEN, env });
  expect(failed).toEqual([]);
  expect(checks.find(({ what }) => what === "deletion")?.found).toBe(
    "3 organizations are gone; before its answer, the service found none of their files in R2",
  );
  expect(isGood).toBe(true);
  const places = ["no jurisdiction", "jurisdiction eu", "jurisdiction us"];
  expect(ok.sort()).toEqual(
    [
      ...["service", "pages", "database", "clock", "limits of a key", "client address", "alarms"],
      ...["visitors' socket", "stream of events", "deletion", "limit of strangers", "rollout"],
      ...places.flatMap((place) => [`organization, ${place}`, `files, ${place}`]),
    ].sort(),
  );
  expect(await temporaryAt(urls.nothing ?? "", secrets.ADMIN_TOKEN)).toEqual([]);
  expect(await marks()).toEqual([]);
});

test.for(Object.entries(BROKEN))(
  "of a service with %s, the step says so",
  async ([name, { front, plain, what, found, also, state = "fails", patience = {} }]) => {
    const { url } = await frontOf(name, front);
    const { env, marks } = await newSmokeHome();
    const run = await runSmoke({
      url,
      adminToken: secrets.ADMIN_TOKEN,
      env,
      patience,
      ...(plain && { plain: plain(url) }),
    });
    const named = run.checks.filter((check) => check.what === what);
    expect(named.map((check) => [check.state, `${check.found} ${check.advice}`])).toEqual([
      [state, expect.stringMatching(found)],
    ]);
    // Nothing else is blamed.
    const others = run.failed.filter((check) => check.what !== what && !also?.test(check.what));
    expect(others).toEqual([]);
    expect(run.isGood).toBe(state === "unknown");
    expect(await marks()).toEqual([]);
    if (name !== "no migration" && name !== "no D1") {
      expect(await temporaryAt(urlOf(name), secrets.ADMIN_TOKEN)).toEqual([]);
    }
  },
);

test("of a service whose bucket keeps deleted files, the deletion says so", async () => {
  const { url } = await frontOf("files kept");
  const { env, marks } = await newSmokeHome();
  const { failed } = await runSmoke({ url, adminToken: secrets.ADMIN_TOKEN, env });
  expect(failed.map(({ what, found }) => `${what}: ${found}`)).toEqual([
    expect.stringMatching(/^deletion: DELETE .* answered 503 and not 200/),
    expect.stringMatching(/^clean-up: these temporary organizations are left: org_g\w+ \(DELETE .* answered 503/),
  ]);
  expect(await marks()).toHaveLength(1);
});

test("of a service without a class, the step says so and what is left, and the next run deletes it", async () => {
  const service: FrontOptions = { target: urlOf("no class"), build: () => "build-1" };
  const front = await Front.begin(service);
  onTestFinished(() => front.end());
  const { env, marks } = await newSmokeHome();
  const runAgain = () => runSmoke({ url: front.url, adminToken: secrets.ADMIN_TOKEN, env });
  const { failed } = await runAgain();
  const left = await temporaryAt(front.url, secrets.ADMIN_TOKEN);
  expect(failed.map(({ what, found, advice }) => [what, `${found} ${advice}`])).toEqual([
    ...["no jurisdiction", "jurisdiction eu", "jurisdiction us"].map((place) => [
      `organization, ${place}`,
      expect.stringMatching(/\/chats answered 503 and not 201.*Durable Objects/),
    ]),
    ["clean-up", expect.stringMatching(/are left: org_.*, org_.*, org_.* \(DELETE .* answered 503.*the next run/)],
  ]);
  for (const { id } of left) expect(failed.at(-1)?.found).toContain(id);
  expect(left).toHaveLength(3);
  expect(await marks()).toHaveLength(1);
  service.target = urlOf("a class");
  const next = await runAgain();
  expect(next.failed).toEqual([]);
  expect(next.checks.find(({ what }) => what === "database")?.found).toMatch(/deleted 3 left by earlier runs/);
  expect(await temporaryAt(front.url, secrets.ADMIN_TOKEN)).toEqual([]);
  expect(await marks()).toEqual([]);
});
