import { execFile } from "node:child_process";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { readVariables } from "../../../src/cli/dev-vars.ts";
import type { Environment } from "../../../src/cli/wrangler.ts";
import { VERSION } from "../../../src/model/version.ts";
import { ACCOUNT, DATABASE_ID, FakeCloudflare, VERSION_ID } from "../../cli/deploy/cloudflare.ts";
import { copyCheckout } from "../../support/world/checkout.ts";

const ADDRESS = "https://parley.engines.workers.dev";
const SECRETS = { ADMIN_TOKEN: "the operator's", CREDENTIALS_KEY: "a key", KEY_SECRET: "another" };
const BUCKETS = ["parley-media", "parley-media-eu eu", "parley-media-us us"];
const NO_DATABASE = "00000000-0000-0000-0000-000000000000";
const NAMES = Object.keys(SECRETS);

let checkout: string;
/** The text of the repository's `wrangler.toml`. */
let configuration: string;
let cloudflare: FakeCloudflare;
let environment: Environment;

beforeAll(async () => {
  checkout = await copyCheckout();
  configuration = await read("wrangler.toml");
});

afterAll(() => rm(checkout, { recursive: true, force: true }));

beforeEach(async () => {
  cloudflare = new FakeCloudflare();
  environment = {
    PATH: process.env.PATH,
    // A folder without a login.
    HOME: checkout,
    XDG_CONFIG_HOME: join(checkout, ".config"),
    NODE_OPTIONS: `--import=${new URL("../../cli/deploy/workers-dev.ts", import.meta.url).href}`,
    CLOUDFLARE_API_BASE_URL: await cloudflare.listen(),
    CLOUDFLARE_API_TOKEN: "token",
  };
});

afterEach(async () => {
  cloudflare.close();
  await writeFile(join(checkout, "wrangler.toml"), configuration);
  await rm(join(checkout, ".deploy.vars"), { force: true });
});

/** One `npm run deploy`. */
function deploy(args: string[] = [], env: Environment = {}) {
  const options = { cwd: checkout, env: { ...environment, ...env } as typeof process.env };
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, ["src/cli/deploy/main.ts", ...args], options, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, stdout, stderr });
    });
  });
}

/**
 * A deploy of which only the end matters: it looks for no bucket, and its database is that of an earlier deploy. Each call
 * of wrangler takes seconds.
 */
async function deployShort(args: string[] = [], env: Environment = {}) {
  const text = await read("wrangler.toml");
  await writeFile(join(checkout, "wrangler.toml"), text.replace(NO_DATABASE, DATABASE_ID));
  return deploy(["--without-files", ...args], env);
}

function read(name: string): Promise<string> {
  return readFile(join(checkout, name), "utf8");
}

/** Creates the database in the account, and migrates it. */
function haveDatabase(): void {
  cloudflare.databases = [{ uuid: DATABASE_ID, name: "parley" }];
  cloudflare.migrate(join(checkout, "migrations"));
}

/** Fills the account as an earlier deploy would, and adds an organization. */
function deployBefore({ organization = true } = {}): void {
  Object.assign(cloudflare, { subdomain: "engines", secrets: { ...SECRETS }, buckets: [...BUCKETS] });
  haveDatabase();
  if (organization) cloudflare.addOrganization(false);
}

test("a deploy to a new account creates everything in order, explains what stops it, and continues when repeated", async () => {
  const stopped = await deploy();
  expect(stopped.stderr).toContain(
    `register a workers.dev subdomain here:\n  https://dash.cloudflare.com/${ACCOUNT.id}`,
  );
  expect(stopped.code).toBe(1);
  // Each migration is a query of its own.
  expect([...new Set(cloudflare.done)]).toEqual(["POST r2/buckets", "POST d1/database", "POST d1/database/{id}/query"]);
  expect(cloudflare.buckets).toEqual(BUCKETS);
  expect(cloudflare.tables()).toContain("organizations");
  expect(await read("wrangler.toml")).toBe(configuration.replace(NO_DATABASE, DATABASE_ID));
  const kept = readVariables(await read(".deploy.vars"));
  expect(Object.keys(kept).sort()).toEqual(NAMES);
  expect((await stat(join(checkout, ".deploy.vars"))).mode & 0o777).toBe(0o600);

  cloudflare.subdomain = "engines";
  cloudflare.done = [];
  const { code, stdout, stderr } = await deploy();
  expect(stderr).toContain(`✓ ${ADDRESS}/healthz answers`);
  expect(stderr).not.toContain("An earlier version still answers");
  // A first deploy ends with the smoke test, which finds the version that the fake names.
  expect(stderr).toContain("Smoke test:\n✗ service: the service has version 0.0.1");
  expect(stderr).toContain("✗ The Worker is deployed, but the smoke test failed");
  expect(code).toBe(1);
  expect(cloudflare.done).toEqual([
    "POST workers/scripts/parley/assets-upload-session",
    "PUT workers/scripts/parley",
    "POST workers/scripts/parley/subdomain",
    "PUT workers/scripts/parley/schedules",
  ]);
  expect(cloudflare.crons).toEqual(["* * * * *"]);
  expect(cloudflare.secrets).toEqual(kept);
  expect(stdout).toContain(`sed -n s/^ADMIN_TOKEN=//p .deploy.vars | npx parley login --url ${ADDRESS}\n`);
  for (const secret of Object.values(kept)) expect(stopped.stderr + stderr + stdout).not.toContain(secret);
});

test("a first deploy whose address redirects ends there, with the Worker deployed and its secrets set", async () => {
  haveDatabase();
  Object.assign(cloudflare, { subdomain: "engines", redirects: true });
  const { code, stderr } = await deployShort();
  expect(stderr).toContain("✗ The Worker is deployed, but the address redirects to another one");
  expect(stderr).not.toContain("Smoke test");
  expect(code).toBe(1);
  expect(cloudflare.secrets).toEqual(readVariables(await read(".deploy.vars")));
  expect(Object.keys(cloudflare.secrets ?? {}).sort()).toEqual(NAMES);
});

test("a deploy that is repeated before there is an organization ends with the smoke test", async () => {
  deployBefore({ organization: false });
  await writeFile(join(checkout, ".deploy.vars"), "ADMIN_TOKEN=the operator's\n");
  const { code, stderr } = await deployShort();
  expect(stderr).toContain("✓ All secrets are set");
  expect(stderr).toContain("Smoke test:\n✗ service: ");
  expect(code).toBe(1);
});

test("what a smoke test left is no organization, and without a token the smoke test is named for later", async () => {
  deployBefore({ organization: false });
  cloudflare.addOrganization(true);
  const { code, stderr } = await deployShort();
  expect(stderr).toContain("! The smoke test needs PARLEY_ADMIN_TOKEN or a login. Later: npx parley doctor --smoke.");
  expect(code).toBe(0);
});

test("a deploy whose version does not answer in a minute still tries the service, and says which version it lacks", async () => {
  deployBefore();
  cloudflare.deployed = { version: VERSION, build: "an-earlier-build" };
  const { code, stderr } = await deployShort(["--smoke"], { SHORT_MINUTE: "1", PARLEY_ADMIN_TOKEN: "token" });
  expect(stderr).toContain("! An earlier version still answers.");
  const said = `version ${VERSION}, build an-earlier-build, and not the deployed build ${VERSION_ID} (`;
  expect(stderr).toContain(said);
  expect(code).toBe(1);
});

test("a first deploy without an address says that nothing is tried", async () => {
  haveDatabase();
  cloudflare.subdomain = "engines";
  await writeFile(join(checkout, "wrangler.toml"), `workers_dev = false\n${configuration}`);
  const { code, stderr } = await deployShort();
  expect(stderr).toContain(
    "! wrangler printed no address of the Worker, so the smoke test did not run. Later: npx parley doctor --smoke.",
  );
  expect(code).toBe(0);
});

test("a deploy to a complete account only creates a new version", async () => {
  deployBefore();
  const { code, stdout, stderr } = await deploy([], { PARLEY_ADMIN_TOKEN: SECRETS.ADMIN_TOKEN });
  expect(stderr).not.toContain("moke test");
  expect(stderr).toContain("✓ Database parley found; commit its id in wrangler.toml");
  expect(stderr).toContain("✓ All secrets are set");
  expect(stderr).toContain("✓ Buckets found");
  expect(code).toBe(0);
  expect(cloudflare.buckets).toEqual(BUCKETS);
  expect(cloudflare.bound).toEqual(expect.arrayContaining(["DB", "MEDIA", "MEDIA_EU", "MEDIA_US"]));
  expect(cloudflare.done).not.toContain("POST d1/database");
  expect(cloudflare.done).toContain("POST workers/scripts/parley/versions");
  expect(cloudflare.secrets).toEqual(SECRETS);
  expect(stdout).toContain(`\nnpx parley login --url ${ADDRESS}\n`);
  await expect(read(".deploy.vars")).rejects.toThrow("ENOENT");
});

test("where R2 is off, a deploy changes nothing, and says what to click and how to go without", async () => {
  cloudflare.buckets = null;
  const { code, stderr } = await deploy();
  expect(stderr).toContain(`https://dash.cloudflare.com/${ACCOUNT.id}/r2/overview`);
  expect(stderr).toContain("npm run deploy -- --without-files");
  expect(code).toBe(1);
  expect(cloudflare.done).toEqual([]);
});

test("--without-files deploys a Worker without buckets, also where R2 is off", async () => {
  deployBefore();
  cloudflare.buckets = null;
  const { code, stderr } = await deploy(["--without-files"]);
  expect(stderr).toContain("  Without files: no bucket is bound, and uploads get 503\n");
  expect(code).toBe(0);
  expect(cloudflare.bound).toContain("DB");
  expect(cloudflare.bound.filter((name) => name.startsWith("MEDIA"))).toEqual([]);
  expect(await read("wrangler.toml")).toBe(configuration.replace(NO_DATABASE, DATABASE_ID));
  await expect(read(".wrangler-without-files.toml")).rejects.toThrow("ENOENT");
});

test("a deploy without a login changes nothing and explains how to log in", async () => {
  const { code, stderr } = await deploy([], { CLOUDFLARE_API_TOKEN: "" });
  expect(stderr).toMatch(/^✗ Not logged in to Cloudflare. Run npx wrangler login, or set CLOUDFLARE_API_TOKEN .*\n$/);
  expect(code).toBe(1);
  expect(cloudflare.done).toEqual([]);
});

test("a login with several accounts must choose one", async () => {
  cloudflare.accounts = [ACCOUNT, { id: "f".repeat(32), name: "Difference Engines" }];
  const { code, stderr } = await deploy();
  expect(stderr).toContain(`\n  CLOUDFLARE_ACCOUNT_ID=${"f".repeat(32)} npm run deploy  # Difference Engines\n`);
  expect(code).toBe(1);
  expect(cloudflare.done).toEqual([]);
});

test("an error of Cloudflare names the failed step and leaves wrangler.toml unchanged", async () => {
  cloudflare.buckets = [...BUCKETS];
  cloudflare.refuses = "POST d1/database";
  const { code, stderr } = await deploy();
  expect(stderr).toContain("✗ The database can't be created. wrangler says:\n  A request to the Cloudflare API");
  expect(stderr).toContain("Authentication error [code: 10000]\n");
  expect(stderr).not.toContain("open an issue");
  expect(code).toBe(1);
  expect(await read("wrangler.toml")).toBe(configuration);
});

test("a Cloudflare build creates no secrets and names the missing ones", async () => {
  deployBefore();
  cloudflare.secrets = { ADMIN_TOKEN: "the operator's" };
  cloudflare.refuses = "POST workers/scripts/parley/versions";
  const { code, stderr } = await deployShort([], { WORKERS_CI: "1" });
  expect(code).toBe(1);
  expect(stderr).toContain("  Using the database parley of wrangler.toml\n");
  expect(stderr).toContain("! KEY_SECRET, CREDENTIALS_KEY: missing, and not created here");
  expect(stderr).toContain("✗ The Worker can't be deployed. wrangler says:\n");
  await expect(read(".deploy.vars")).rejects.toThrow("ENOENT");
});

test("--dry-run prints the steps and changes nothing", async () => {
  await writeFile(join(checkout, ".deploy.vars"), "ADMIN_TOKEN=kept\n");
  const { code, stderr } = await deploy(["--dry-run"]);
  expect(stderr).toContain("create the buckets parley-media, parley-media-eu, parley-media-us\n");
  expect(stderr).toContain("create the database parley\n");
  expect(stderr).toContain("  set the secrets ADMIN_TOKEN from .deploy.vars\n");
  expect(stderr).toContain("  create the secrets KEY_SECRET, CREDENTIALS_KEY, and save them in .deploy.vars\n");
  expect(code).toBe(0);
  expect(cloudflare.done).toEqual([]);
  expect(await read("wrangler.toml")).toBe(configuration);
  expect(await read(".deploy.vars")).toBe("ADMIN_TOKEN=kept\n");
});

test("--dry-run without a login builds the Worker and prints the steps for an account that may have nothing", async () => {
  const { code, stderr } = await deploy(["--dry-run"], { CLOUDFLARE_API_TOKEN: "" });
  expect(stderr).toMatch(
    /^! Not logged in to Cloudflare\. .* This dry run doesn't know what the account has\.\n✓ The Worker builds/,
  );
  expect(stderr).toContain(`Without --dry-run this would, unless the account has it already:
  create the buckets parley-media, parley-media-eu, parley-media-us
  create the database parley
  write the database's id into wrangler.toml
  apply the migrations that the database lacks
  create the secrets ADMIN_TOKEN, KEY_SECRET, CREDENTIALS_KEY, and save them in .deploy.vars
  create or update the Worker parley
`);
  expect(code).toBe(0);
  expect(cloudflare.done).toEqual([]);
});

test.for([
  [["--without-file"], "Unknown arguments: without-file, withoutFile\nFix this"],
  [["src/missing.ts"], 'The expected output file at "src/missing.ts" was not found'],
])("%j, which wrangler refuses, changes nothing", async ([args, found]) => {
  const { code, stderr } = await deploy(args as string[]);
  expect(stderr).toContain(`✗ The Worker can't be built. wrangler says:\n  ${String(found)}`);
  expect(code).toBe(1);
  expect(cloudflare.done).toEqual([]);
});

test("an argument that selects another Worker is refused before any request", async () => {
  const { code, stderr } = await deploy(["--name", "other"]);
  expect(stderr).toMatch(/^✗ npm run deploy doesn't support --name, .*\n$/);
  expect(code).toBe(2);
});
