import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json?raw";
import { addressIn, awaitAnswer } from "../../src/cli/deploy/address.ts";
import { readDeployArguments } from "../../src/cli/deploy/arguments.ts";
import { errorsIn } from "../../src/cli/deploy/cloudflare.ts";
import { readBuckets, readTarget, withDatabaseId, withoutBuckets } from "../../src/cli/deploy/config-file.ts";
import { refuseLocalOnly } from "../../src/cli/deploy/local-only.ts";
import { isTemporaryCheckout, planSecrets, secretsFile, secretValues } from "../../src/cli/deploy/secrets.ts";
import { configOfStage } from "../../src/cli/deploy/stage.ts";
import { missingSecrets, readVariables } from "../../src/cli/dev-vars.ts";
import configuration from "../../wrangler.toml?raw";

const ID = "6f1d4b0e-5a4f-4c39-9a53-0d2f8d1f7c11";
const NO_ID = "00000000-0000-0000-0000-000000000000";

test("the repository's configuration names the database without an id", () => {
  expect(readTarget(configuration)).toEqual({
    workerName: "parley",
    accountId: null,
    databaseName: "parley",
    databaseId: null,
  });
});

test.for(["\n", "\r\n"])("the database's id is written to its line only (%j)", (lineBreak) => {
  const before = `[[d1_databases]]\nbinding = "OTHER"\ndatabase_id = "${NO_ID}"\n${configuration}# database_id = "${NO_ID}"\n`;
  const text = before.replaceAll("\n", lineBreak);
  const after = withDatabaseId(text, ID);
  expect(readTarget(after).databaseId).toBe(ID);
  const changed = text.split("\n").flatMap((line, at) => (line === after.split("\n")[at] ? [] : [line.trim()]));
  expect(changed).toEqual([`database_id = "${NO_ID}"`]);
  expect(after.length).toBe(text.length);
});

test("the account of the file is read", () => {
  expect(readTarget(`account_id = "abc"\n${configuration}`).accountId).toBe("abc");
});

test("a file without the database is refused", () => {
  expect(() => readTarget(configuration.replace('binding = "DB"', ""))).toThrow("has no database DB");
});

test("the repository's buckets are read, and can be left out", () => {
  expect(readBuckets(configuration)).toEqual([
    { name: "parley-media", jurisdiction: null },
    { name: "parley-media-eu", jurisdiction: "eu" },
    { name: "parley-media-us", jurisdiction: "us" },
  ]);
  const without = withoutBuckets(configuration);
  expect(without).not.toMatch(/MEDIA|parley-media/);
  expect(readTarget(without)).toEqual(readTarget(configuration));
  const tables = (text: string) => text.match(/^\[.*\]$/gm)?.filter((table) => table !== "[[r2_buckets]]");
  expect(tables(without)).toEqual(tables(configuration));
});

const NONE = { help: false, dryRun: false, withoutFiles: false, smoke: false, stage: null, others: [] as string[] };

test("--without-files, --smoke and --stage are ours", () => {
  const argv = ["--without-files", "--keep-vars", "--smoke", "--stage", "try-2"];
  const others = ["--keep-vars"];
  expect(readDeployArguments(argv)).toEqual({ ...NONE, withoutFiles: true, smoke: true, stage: "try-2", others });
  expect(readDeployArguments(["--stage=try", "--tag", "x"])).toEqual({ ...NONE, stage: "try", others: ["--tag", "x"] });
});

test.for(["Try", "", "-", "try-", "2nd", "a b", "a".repeat(21), "try\nname"])("the stage %j is refused", (name) => {
  expect(() => readDeployArguments([`--stage=${name}`])).toThrow(expect.objectContaining({ exitCode: 2 }));
});

test("a stage without its name is refused", () => {
  expect(() => readDeployArguments(["--stage"])).toThrow(expect.objectContaining({ exitCode: 2 }));
});

test("a stage has a Worker, a database, buckets and a rate limiter of its own, and nothing else is changed", () => {
  const production = configuration.replace(NO_ID, ID);
  const staged = configOfStage(production, "try");
  expect(readTarget(staged)).toEqual({
    workerName: "parley-try",
    accountId: null,
    databaseName: "parley-try",
    databaseId: null,
  });
  expect(readBuckets(staged)).toEqual([
    { name: "parley-try-media", jurisdiction: null },
    { name: "parley-try-media-eu", jurisdiction: "eu" },
    { name: "parley-try-media-us", jurisdiction: "us" },
  ]);
  const lines = production.split("\n");
  const others = staged.split("\n").filter((line) => !lines.includes(line));
  expect(others).toEqual([
    'name = "parley-try"',
    "workers_dev = true",
    'database_name = "parley-try"',
    `database_id = "${NO_ID}"`,
    'bucket_name = "parley-try-media"',
    'bucket_name = "parley-try-media-eu"',
    'bucket_name = "parley-try-media-us"',
    expect.stringMatching(/^namespace_id = "\d{7,10}"$/),
  ]);
  expect(configOfStage(production, "try")).toBe(staged);
  expect(configOfStage(production, "other")).not.toContain(others.at(-1));
});

test("no bucket of a stage is one of production or of another stage", () => {
  const names = ["eu", "us", "media", "media-eu", "try"].flatMap((stage) =>
    readBuckets(configOfStage(configuration, stage)).map(({ name }) => name),
  );
  const all = [...names, ...readBuckets(configuration).map(({ name }) => name)];
  expect(new Set(all).size).toBe(all.length);
});

test.for([
  'routes = [{ pattern = "chat.example.com", custom_domain = true }]\n',
  'routes = [\n  { pattern = "chat.example.com", custom_domain = true },\n  { pattern = "c.example.com", custom_domain = true },\n]\n',
  'route = "chat.example.com/*"\nworkers_dev = false\n',
])("a stage takes over no address of production: %j", (routes) => {
  expect(configOfStage(configuration.replace("main = ", `${routes}main = `), "try")).toBe(
    configOfStage(configuration, "try"),
  );
});

test("a table of routes and the hosts of production are not a stage's", () => {
  const more = `${configuration}CONSOLE_HOST = "console.example.com"\n\n[[routes]]\npattern = "chat.example.com"\ncustom_domain = true\n`;
  const staged = configOfStage(more, "try");
  expect(staged).not.toContain("example.com");
  expect(staged).toContain("RATE_LIMIT_WINDOW_SECONDS");
});

test("names that don't begin with the Worker's get the stage in front", () => {
  expect(configOfStage(configuration.replaceAll("parley-media", "files"), "try")).toContain(
    'bucket_name = "try-files-eu"',
  );
});

test("arguments after -- go to wrangler unchanged", () => {
  const argv = ["--keep-vars", "--var", "A:b", "--dry-run", "--tag=x"];
  expect(readDeployArguments(argv)).toEqual({
    ...NONE,
    dryRun: true,
    others: ["--keep-vars", "--var", "A:b", "--tag=x"],
  });
});

test("--dryRun is the same as --dry-run", () => {
  expect(readDeployArguments(["--dryRun"])).toEqual({ ...NONE, dryRun: true });
});

test.for(["--env", "-e", "--config=x", "-c", "--name", "--secrets-file", "--secretsFile", "--envFile=x"])(
  "%s is refused",
  (flag) => {
    expect(() => readDeployArguments([flag, "x"])).toThrow(expect.objectContaining({ exitCode: 2 }));
  },
);

test.for<[Record<string, string>, boolean]>([
  [{ CI: "true" }, true],
  [{ CI: "woodpecker" }, true],
  [{ WORKERS_CI: "1" }, true],
  [{ CI: "false" }, false],
  [{ CI: "0", WORKERS_CI: "" }, false],
  [{}, false],
])("a build of %j throws its checkout away: %s", ([environment, isLost]) => {
  expect(isTemporaryCheckout(environment)).toBe(isLost);
});

test("a secrets file that other users can read is made private before a secret is added", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-kept-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, secretsFile("try"));
  expect(path).toBe(join(folder, ".deploy.try.vars"));
  await writeFile(path, "KEY_SECRET=malformed\n", { mode: 0o644 });
  await expect(secretValues(path, ["ADMIN_TOKEN"])).rejects.toThrow("malformed");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("existing secrets of the Worker stay, saved ones are used, and only the others are created", () => {
  expect(planSecrets(["KEY_SECRET"], { CREDENTIALS_KEY: "kept", KEY_SECRET: "old" })).toEqual({
    missing: ["ADMIN_TOKEN", "CREDENTIALS_KEY"],
    toCreate: ["ADMIN_TOKEN"],
  });
  expect(planSecrets(null, {}).toCreate).toHaveLength(3);
});

test("the Deploy to Cloudflare button asks only for the required secrets, and describes each", async () => {
  const asked = Object.keys(
    readVariables(await readFile(new URL("../../.dev.vars.example", import.meta.url).pathname, "utf8")),
  );
  expect(asked.sort()).toEqual(missingSecrets({}).sort());
  const { bindings } = JSON.parse(manifest).cloudflare as { bindings: Record<string, { description: string }> };
  for (const name of asked) expect(bindings[name]?.description).toContain("`openssl rand -base64 32`");
  for (const name of Object.keys(bindings)) expect(`${asked.join()}${configuration}`).toContain(name);
});

test("wrangler's error is printed without symbols", () => {
  const output =
    "noise\n\u001b[31m✘ [ERROR]\u001b[0m It failed.\n\n  why [code: 1]\n  \n  If you think this is a bug, …\n\n";
  expect(errorsIn(output)).toEqual(["It failed.", "why [code: 1]"]);
  const refused = "✘ [ERROR] Unknown argument: nope\n\nwrangler deploy [path]\n\nPOSITIONALS\n  path  The path\n";
  expect(errorsIn(refused)).toEqual(["Unknown argument: nope"]);
});

test("the service's address is a custom domain, else the workers.dev name", () => {
  expect(addressIn(["https://parley.a.workers.dev"])).toBe("https://parley.a.workers.dev");
  expect(addressIn(["https://parley.a.workers.dev", "chat.example (custom domain)"])).toBe("https://chat.example");
  expect(addressIn(["chat.example (custom domain - zone name: example)"])).toBe("https://chat.example");
  expect(addressIn(["chat.example/*"])).toBeNull();
});

/** The address of a server that gives these answers in turn; the last one again and again. */
async function answering(...answers: { status?: number; headers?: Record<string, string>; body?: string }[]) {
  const server = createServer((_request, response) => {
    const { status = 200, headers = {}, body = "" } = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
    response.writeHead(status, headers).end(body);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    waits: (build: string | null, withinMs = 20_000) =>
      awaitAnswer(address, build, new AbortController().signal, withinMs, 1),
  };
}

const HEALTHY = { body: '{"ok":true,"build":"new"}' };

test("a service that does not answer in time is an error", async () => {
  const { address, waits } = await answering({ status: 404 });
  await expect(waits(null, 200)).rejects.toThrow(`${address}/healthz has not answered for 0.2 seconds`);
});

test("a deploy waits until the version that it deployed answers, and says if it does not", async () => {
  const passing = { status: 530, headers: { Server: "cloudflare" }, body: "error code: 1016" };
  const before = { body: '{"ok":true,"build":"old"}' };
  expect(await (await answering(passing, before, before, HEALTHY)).waits("new")).toBe(true);
  const late = [await answering(before), await answering({ body: '{"ok":true}' })];
  expect(await Promise.all(late.map(({ waits }) => waits("new", 2_000)))).toEqual([false, false]);
  expect(await (await answering(before)).waits(null)).toBe(true);
});

test.for([
  [{ status: 403, headers: { "cf-mitigated": "challenge" } }, "Bot Fight Mode"],
  [
    { status: 302, headers: { Location: "https://team.cloudflareaccess.com/cdn-cgi/access/login/x" } },
    "Cloudflare Access asks",
  ],
  [{ status: 302, headers: { Location: "/cdn-cgi/access/login/x" } }, "Cloudflare Access asks"],
  [{ status: 301, headers: { Location: "https://www.example.com/" } }, "redirects to https://www.example.com"],
  [{ status: 403, headers: { Server: "cloudflare" }, body: "error code: 1010" }, "Browser Integrity Check"],
  [{ status: 403, headers: { Server: "cloudflare" }, body: "<html>blocked" }, "Zone settings"],
] as const)("a deploy takes no silence for %j", async ([answer, said]) => {
  await expect((await answering(answer)).waits("new")).rejects.toThrow(said);
});

const DEPLOYED = { configuration, argv: ["--dry-run"], secrets: ["ADMIN_TOKEN"] };

test("a deploy with only the repository's variables is not refused", () => {
  refuseLocalOnly(DEPLOYED);
  refuseLocalOnly({ ...DEPLOYED, secrets: null, configuration: `${configuration}\n# WEBHOOKS_ALLOW_LOCAL = "true"\n` });
});

test.each<[string, Partial<typeof DEPLOYED>]>([
  ["is an argument", { argv: ["--var", "WEBHOOKS_ALLOW_LOCAL:true"] }],
  ["is an argument", { argv: ["--var=WEBHOOKS_ALLOW_LOCAL:true"] }],
  ["is in wrangler.toml", { configuration: `${configuration}\nWEBHOOKS_ALLOW_LOCAL = "true"\n` }],
  ["is in wrangler.toml", { configuration: `${configuration}\nvars = { WEBHOOKS_ALLOW_LOCAL = "true" }\n` }],
  ["is a secret of the Worker", { secrets: ["ADMIN_TOKEN", "WEBHOOKS_ALLOW_LOCAL"] }],
])("a deploy is refused if the variable for local webhooks %s", (place, change) => {
  expect(() => refuseLocalOnly({ ...DEPLOYED, ...change })).toThrow(`WEBHOOKS_ALLOW_LOCAL ${place}`);
});
