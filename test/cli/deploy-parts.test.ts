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
import { isTemporaryCheckout, planSecrets, SECRETS_FILE, secretValues } from "../../src/cli/deploy/secrets.ts";
import { missingSecrets, readVariables } from "../../src/cli/dev-vars.ts";
import configuration from "../../wrangler.toml?raw";

const ID = "6f1d4b0e-5a4f-4c39-9a53-0d2f8d1f7c11";
const NO_ID = "00000000-0000-0000-0000-000000000000";

test("the repository's configuration names the database without an id", () => {
  expect(readTarget(configuration)).toEqual({ accountId: null, databaseName: "parley", databaseId: null });
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

test("--without-files is ours", () => {
  expect(readDeployArguments(["--without-files", "--keep-vars"])).toEqual({
    help: false,
    dryRun: false,
    withoutFiles: true,
    others: ["--keep-vars"],
  });
});

test("arguments after -- go to wrangler unchanged", () => {
  const argv = ["--keep-vars", "--var", "A:b", "--dry-run", "--tag=x"];
  expect(readDeployArguments(argv)).toEqual({
    help: false,
    dryRun: true,
    withoutFiles: false,
    others: ["--keep-vars", "--var", "A:b", "--tag=x"],
  });
});

test("--dryRun is the same as --dry-run", () => {
  expect(readDeployArguments(["--dryRun"])).toEqual({ help: false, dryRun: true, withoutFiles: false, others: [] });
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
  const path = join(folder, SECRETS_FILE);
  await writeFile(path, "KEY_SECRET=malformed\n", { mode: 0o644 });
  await expect(secretValues(folder, ["ADMIN_TOKEN"])).rejects.toThrow("malformed");
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
});

test("the service's address is a custom domain, else the workers.dev name", () => {
  expect(addressIn(["https://parley.a.workers.dev"])).toBe("https://parley.a.workers.dev");
  expect(addressIn(["https://parley.a.workers.dev", "chat.example (custom domain)"])).toBe("https://chat.example");
  expect(addressIn(["chat.example (custom domain - zone name: example)"])).toBe("https://chat.example");
  expect(addressIn(["chat.example/*"])).toBeNull();
});

test("a service that does not answer in time is an error", async () => {
  const server = createServer((_request, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const waiting = awaitAnswer(address, new AbortController().signal, 200, 1);
  await expect(waiting).rejects.toThrow(`${address}/healthz has not answered for 0.2 seconds`);
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
