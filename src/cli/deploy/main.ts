import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError, reasonOf } from "../command-error.ts";
import { log, printError, printWarning, step } from "../progress.ts";
import { addressIn, awaitAnswer } from "./address.ts";
import { DEPLOY_USAGE, type DeployArguments, readDeployArguments } from "./arguments.ts";
import { Cloudflare, NotLoggedIn } from "./cloudflare.ts";
import { type Bucket, readBuckets, readTarget, type Target, withDatabaseId, withoutBuckets } from "./config-file.ts";
import { refuseLocalOnly } from "./local-only.ts";
import { PLAN } from "./plan.ts";
import {
  isTemporaryCheckout,
  planSecrets,
  savedSecrets,
  secretsFile,
  secretValues,
  withSecretsFile,
} from "./secrets.ts";
import { SMOKE_LATER, tryDeployed } from "./smoke.ts";
import { configOfStage } from "./stage.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** In the same folder, as its paths are relative to it. */
const configWithoutFiles = join(root, ".wrangler-without-files.toml");
const stop = new AbortController();
/** The configuration that is deployed, and the file of its secrets. A stage has others. */
let config = join(root, "wrangler.toml");
let secretsName = secretsFile(null);
let cloudflare = new Cloudflare(config, stop.signal);

const isBuild = isTemporaryCheckout(process.env);

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());

process.exit(await main(process.argv.slice(2)).catch(exitCodeOf));

/** `npm run deploy`: creates what is missing, deploys the Worker and prints the next steps. Returns the exit code. */
async function main(argv: string[]): Promise<number> {
  const given = readDeployArguments(argv);
  if (given.help) {
    process.stdout.write(DEPLOY_USAGE);
    return 0;
  }
  const text = await readFile(config, "utf8").catch((error) => {
    throw new CommandError(`wrangler.toml can't be read: ${reasonOf(error)}.`);
  });
  refuseLocalOnly({ configuration: text, argv, secrets: null });
  if (given.stage === null) return run(text, given, argv);
  config = join(root, `.wrangler-stage-${given.stage}.toml`);
  secretsName = secretsFile(given.stage);
  cloudflare = new Cloudflare(config, stop.signal);
  const staged = configOfStage(text, given.stage);
  try {
    await writeFile(config, staged);
    return await run(staged, given, argv);
  } finally {
    await rm(config, { force: true });
  }
}

/** @param text that of the configuration. @returns the exit code */
async function run(text: string, given: DeployArguments, argv: string[]): Promise<number> {
  const target = readTarget(text);
  try {
    await step(
      () => cloudflare.logIn(target.accountId ?? process.env.CLOUDFLARE_ACCOUNT_ID),
      (account) => `Logged in to the account ${account}`,
    );
  } catch (error) {
    if (!given.dryRun || !(error instanceof NotLoggedIn)) throw error;
    printWarning(`${error.message} This dry run doesn't know what the account has.`);
    await dryRun(target, text, given, null, null);
    return 0;
  }
  const secrets = await cloudflare.secrets();
  refuseLocalOnly({ configuration: text, argv, secrets });
  if (!given.dryRun) return deploy(target, text, given, secrets);
  await dryRun(target, text, given, cloudflare, secrets);
  return 0;
}

/**
 * @param known the names of the Worker's secrets; null if there is no Worker
 * @returns the exit code
 */
async function deploy(target: Target, text: string, given: DeployArguments, known: string[] | null): Promise<number> {
  // Only wrangler knows its options: it names a wrong one before anything is created.
  if (given.others.length > 0) await buildWorker(given);
  if (given.withoutFiles) log("  Without files: no bucket is bound, and uploads get 503");
  else await prepareBuckets(text);
  await prepareDatabase(target, text, given.stage !== null);
  await step(
    () => cloudflare.migrate(),
    (applied) => (applied.length > 0 ? `Database migrated: ${applied.join(", ")}` : "Database up to date"),
  );
  // Whether the Worker is there says nothing: a first deploy that stopped may have left it.
  const isTried = given.smoke || !(await cloudflare.hasOrganization());
  const { values, withoutValue } = await prepareSecrets(known);
  if (withoutValue.length > 0) {
    printWarning(
      `${withoutValue.join(", ")}: missing, and not created here, because this checkout is temporary. Set each with ` +
        "npx wrangler secret put NAME and a value from openssl rand -base64 32. Until then, the routes that need it answer 503.",
    );
  }
  const set = Object.keys(values);
  const { targets, build } = await step(
    () =>
      withSecretsFile(values, (file, folder) =>
        withConfig(given, (path) => cloudflare.deploy(given.others, set.length > 0 ? file : null, folder, path)),
      ),
    ({ targets }) =>
      `Worker deployed${set.length > 0 ? `, with ${set.join(", ")}` : ""}: ${targets.join(", ") || "no address"}`,
  );
  const address = addressIn(targets);
  if (address === null) {
    if (isTried)
      printWarning(`wrangler printed no address of the Worker, so the smoke test did not run. ${SMOKE_LATER}`);
    return 0;
  }
  const isCurrent = await step(
    () => awaitAnswer(address, build, stop.signal),
    () => `${address}/healthz answers`,
  );
  if (!isCurrent) printWarning("An earlier version still answers. A rollout takes a minute.");
  const deployed = { address, build, files: !given.withoutFiles, token: values.ADMIN_TOKEN };
  const isGood = !isTried || (await tryDeployed(deployed, join(root, secretsName), stop.signal));
  if (withoutValue.length === 0) printNextSteps(address, set, given.stage);
  if (!isGood) printError("The Worker is deployed, but the smoke test failed: see above.");
  return isGood ? 0 : 1;
}

function buildWorker(given: DeployArguments): Promise<void> {
  return step(
    () => withConfig(given, (path) => cloudflare.build(given.others, path)),
    () => "The Worker builds",
  );
}

/** Creates the buckets that the account lacks. First of all, because only a person can turn R2 on. */
async function prepareBuckets(text: string): Promise<void> {
  await step(
    async () => {
      const missing = await missingBuckets(readBuckets(text));
      for (const bucket of missing) await cloudflare.createBucket(bucket);
      return missing.map(({ name }) => name);
    },
    (created) => (created.length > 0 ? `Buckets created: ${created.join(", ")}` : "Buckets found"),
  );
}

async function missingBuckets(buckets: Bucket[]): Promise<Bucket[]> {
  const found = await Promise.all(buckets.map((bucket) => cloudflare.hasBucket(bucket)));
  return buckets.filter((_, place) => !found[place]);
}

/** Calls `use` with the path of the configuration to deploy. */
async function withConfig<T>(
  { withoutFiles }: DeployArguments,
  use: (path: string | undefined) => Promise<T>,
): Promise<T> {
  if (!withoutFiles) return use(undefined);
  try {
    // Read again: the database's id may just have been written.
    await writeFile(configWithoutFiles, withoutBuckets(await readFile(config, "utf8")));
    return await use(configWithoutFiles);
  } finally {
    await rm(configWithoutFiles, { force: true });
  }
}

/** Finds or creates the database, and writes its id to the configuration. */
async function prepareDatabase(target: Target, text: string, isStage: boolean): Promise<void> {
  const { databaseName: name, databaseId } = target;
  if (databaseId) return log(`  Using the database ${name} of wrangler.toml`);
  await step(
    async () => {
      const found = await cloudflare.findDatabase(name);
      const id = found ?? (await cloudflare.createDatabase(name));
      await writeFile(config, withDatabaseId(text, id)).catch((error) => {
        throw new CommandError(
          `The database ${name} has the id ${id}, but wrangler.toml can't be written: ${reasonOf(error)}.`,
        );
      });
      return found;
    },
    (found) => `Database ${name} ${found ? "found" : "created"}${isStage ? "" : "; commit its id in wrangler.toml"}`,
  );
}

/**
 * Returns the missing secrets: the values to set, the names of new ones, and the names that have no value.
 * @param known as for `deploy`
 */
async function prepareSecrets(known: string[] | null) {
  return step(
    async () => {
      const { missing, toCreate } = planSecrets(known, await savedSecrets(join(root, secretsName)));
      const created = isBuild ? [] : toCreate;
      const withoutValue = isBuild ? toCreate : [];
      const values = await secretValues(
        join(root, secretsName),
        missing.filter((name) => !withoutValue.includes(name)),
      );
      return { values, created, withoutValue };
    },
    ({ values, created, withoutValue }) => {
      if (created.length > 0) return `Secrets created and saved in ${secretsName}: ${created.join(", ")}`;
      if (withoutValue.length > 0) return `Secrets missing: ${withoutValue.join(", ")}`;
      return Object.keys(values).length > 0 ? `Secrets found in ${secretsName}` : "All secrets are set";
    },
  );
}

/**
 * `--dry-run`: builds the Worker and prints what a deploy would change.
 * @param account null without a login: then all is printed that an account can lack
 * @param known as for `deploy`
 */
async function dryRun(
  { workerName, databaseName: name, databaseId }: Target,
  text: string,
  given: DeployArguments,
  account: Cloudflare | null,
  known: string[] | null,
): Promise<void> {
  const all = given.withoutFiles ? [] : readBuckets(text);
  const buckets = account ? await missingBuckets(all) : all;
  const found = databaseId ?? (await account?.findDatabase(name));
  const { missing, toCreate } = planSecrets(known, await savedSecrets(join(root, secretsName)));
  const kept = missing.filter((secret) => !toCreate.includes(secret));
  await buildWorker(given);
  log(account ? "Without --dry-run this would:" : "Without --dry-run this would, unless the account has it already:");
  if (buckets.length > 0) log(`  create the buckets ${buckets.map(({ name }) => name).join(", ")}`);
  if (!found) log(`  create the database ${name}`);
  if (!databaseId && given.stage === null) log("  write the database's id into wrangler.toml");
  log("  apply the migrations that the database lacks");
  if (kept.length > 0) log(`  set the secrets ${kept.join(", ")} from ${secretsName}`);
  if (toCreate.length > 0 && isBuild) log(`  leave out the secrets ${toCreate.join(", ")}`);
  else if (toCreate.length > 0) log(`  create the secrets ${toCreate.join(", ")}, and save them in ${secretsName}`);
  const doing = known ? "deploy a new version of" : account ? "create" : "create or update";
  log(`  ${doing} the Worker ${workerName}`);
}

/** Prints the next steps. @param set the names of the secrets that this deploy set */
function printNextSteps(address: string, set: string[], stage: string | null): void {
  const profile = stage === null ? "" : ` --profile ${stage}`;
  const token = set.includes("ADMIN_TOKEN") ? `sed -n s/^ADMIN_TOKEN=//p ${secretsName} | ` : "";
  if (set.length > 0) {
    printWarning(
      `Move the secrets from ${secretsName} to your password manager. Cloudflare never shows a secret again.`,
    );
  }
  process.stdout.write(`
# Log in as the operator, check the service, and create the first organization
${token}npx parley login --url ${address}${stage === null ? "" : ` --save ${stage}`}
npx parley doctor${profile}
npx parley organizations create${profile} --name 'My company' --owner 'My name'

${PLAN}`);
}

function exitCodeOf(error: unknown): number {
  if (stop.signal.aborted) printError("Stopped. Completed steps stay. Repeat the command to continue.");
  else
    printError(
      error instanceof Error && !(error instanceof CommandError) ? (error.stack ?? error.message) : reasonOf(error),
    );
  return error instanceof CommandError ? error.exitCode : 1;
}
