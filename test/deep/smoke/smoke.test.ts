import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bundle } from "../../support/bundle.ts";
import { Front, type FrontOptions } from "../../support/world/front.ts";
import { newSmokeHome, runSmoke, temporaryAt } from "../../support/world/smoke.ts";
import { migrations, newSecrets, startWorkers, workerOptions } from "../../support/world/workers.ts";

const LIMIT = { STRANGERS: { namespace_id: "736127", simple: { limit: 2, period: 60 as const } } };
const NO_PATIENCE = { patience: 6_000 };
const secrets = newSecrets();

type Broken = {
  front?: Partial<FrontOptions>;
  plain?: (url: string) => string;
  found: RegExp;
  what: string;
  /** Steps that fail for the same reason. */
  also?: RegExp;
  state?: "unknown";
};

/** What is broken, and the step that must say so. */
const BROKEN: Record<string, Broken> = {
  "no bucket": { what: "files, no jurisdiction", found: /\/media answered 503 and not 201.* check the bucket MEDIA: / },
  "no migration": { what: "database", found: /answered 500 and not 200.*apply its migrations/ },
  "no alarm": { what: "alarms", found: /still SCHEDULED 6 s after its time: no alarm rang/ },
  "no socket": { what: "visitors' socket", found: /the visitors' socket is refused.*WebSockets/ },
  "no limiter": { what: "limit of strangers", found: /none 429.*STRANGERS is not bound/, state: "unknown" },
  "wrong clock": { what: "clock", found: /the Worker's clock is off by 36\d\d s/ },
  "old version": { what: "service", found: /older than this command.*deploy this version first/ },
  "buffered stream": { what: "stream of events", found: /something buffers it/ },
  "conditions ignored": {
    what: "files, no jurisdiction",
    found: /two uploads with one Idempotency-Key|overwrote the bytes/,
  },
  "no D1": { what: "database", found: /answered 503 and not 200.*check the database DB/ },
  "no address": { what: "client address", found: /sees no client address.*Remove visitor IP headers/ },
  "other address": { what: "client address", found: /sees 240\.16\.0\.1, and Cloudflare 203\.0\.113\.7.*Pseudo IPv4/ },
  "no class": {
    what: "organization, no jurisdiction",
    found: /answered 50\d and not 201.*Durable Objects/,
    also: /^organization/,
  },
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
  const names = ["nothing", ...Object.keys(BROKEN)];
  const workers = names.map((name) => ({
    ...workerOptions({
      name: name.replaceAll(" ", "-"),
      script: join(folder, "index.js"),
      bindings: { ...secrets, LOG_REQUESTS: "none", BROKEN: name },
    }),
    ratelimits: LIMIT,
  }));
  const started = await startWorkers({
    resourcePersistencePath: join(folder, "data"),
    handleStructuredLogs: () => {},
    workers,
  });
  const { miniflare } = started;
  urls = started.urls;
  for (const { name } of workers.filter((worker) => worker.name !== "no-migration")) {
    const database = await miniflare.getD1Database("DB", name);
    for (const statements of await migrations()) await database.batch(statements.map((sql) => database.prepare(sql)));
  }
  end = async () => {
    await miniflare.dispose();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
});

afterAll(() => end());

async function frontOf(name: string, options: Partial<FrontOptions> = {}): Promise<Front> {
  const target = urls[name.replaceAll(" ", "-")] ?? "";
  const front = await Front.begin({ target, build: () => "build-1", ...options });
  onTestFinished(() => front.end());
  return front;
}

test("a sound service passes each step, and nothing of the run is left", async () => {
  const front = await frontOf("nothing");
  const { env, marks } = await newSmokeHome();
  const { isGood, failed, ok } = await runSmoke({ url: front.url, adminToken: secrets.ADMIN_TOKEN, env });
  expect(failed).toEqual([]);
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
  async ([name, { front, plain, what, found, also, state = "fails" }]) => {
    const { url } = await frontOf(name, front);
    const { env, marks } = await newSmokeHome();
    const run = await runSmoke({
      url,
      adminToken: secrets.ADMIN_TOKEN,
      env,
      pace: NO_PATIENCE,
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
      expect(await temporaryAt(urls[name.replaceAll(" ", "-")] ?? "", secrets.ADMIN_TOKEN)).toEqual([]);
    }
  },
);
