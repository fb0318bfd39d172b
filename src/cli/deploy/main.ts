import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError, reasonOf } from "../command-error.ts";
import { complain, log, step, warn } from "../progress.ts";
import { addressIn, awaitAnswer } from "./address.ts";
import { readArguments, USAGE } from "./arguments.ts";
import { Cloudflare } from "./cloudflare.ts";
import { readTarget, type Target, withDatabaseId } from "./config-file.ts";
import { isCheckoutLost, KEPT_IN, keptSecrets, planSecrets, valuesOf, withFile } from "./secrets.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const config = join(root, "wrangler.toml");
const stop = new AbortController();
const cloudflare = new Cloudflare(config, stop.signal);

const isBuild = isCheckoutLost(process.env);

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());

process.exit(await main(process.argv.slice(2)).catch(exitCodeOf));

/** `npm run deploy`: what the account lacks, the Worker, and what to do next. Gives the code to exit with. */
async function main(argv: string[]): Promise<number> {
  const given = readArguments(argv);
  if (given.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const text = await readFile(config, "utf8").catch((error) => {
    throw new CommandError(`wrangler.toml can't be read: ${reasonOf(error)}.`);
  });
  const target = readTarget(text);
  await step(
    () => cloudflare.logIn(target.accountId ?? process.env.CLOUDFLARE_ACCOUNT_ID),
    (account) => `Logged in to the account ${account}`,
  );
  if (given.dryRun) await rehearse(target, given.others);
  else await deploy(target, text, given.others);
  return 0;
}

async function deploy(target: Target, text: string, others: string[]): Promise<void> {
  await prepareDatabase(target, text);
  await step(
    () => cloudflare.migrate(),
    (applied) => (applied.length > 0 ? `Database migrated: ${applied.join(", ")}` : "Database up to date"),
  );
  const { values, lacking } = await prepareSecrets();
  if (lacking.length > 0) {
    warn(
      `${lacking.join(", ")}: missing, and not created here, because this checkout is temporary. Set each with ` +
        "npx wrangler secret put NAME and a value from openssl rand -base64 32. Until then, the routes that need it answer 503.",
    );
  }
  const set = Object.keys(values);
  const targets = await step(
    () => withFile(values, (file, folder) => cloudflare.deploy(others, set.length > 0 ? file : null, folder)),
    (targets) =>
      `Worker deployed${set.length > 0 ? `, with ${set.join(", ")}` : ""}: ${targets.join(", ") || "no address"}`,
  );
  const address = addressIn(targets);
  if (address) {
    await step(
      () => awaitAnswer(address, stop.signal),
      () => `${address}/healthz answers`,
    );
  }
  if (address && lacking.length === 0) introduce(address, set);
}

/** Makes sure that there is a database, and that `wrangler.toml` names it. */
async function prepareDatabase({ databaseName: name, databaseId }: Target, text: string): Promise<void> {
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
    (found) => `Database ${name} ${found ? "found" : "created"}; commit its id in wrangler.toml`,
  );
}

/** The secrets that the Worker lacks: values to set, the names of those that were made, and of those that stay absent. */
async function prepareSecrets() {
  return step(
    async () => {
      const { missing, toMake } = planSecrets(await cloudflare.secrets(), await keptSecrets(root));
      const made = isBuild ? [] : toMake;
      const lacking = isBuild ? toMake : [];
      const values = await valuesOf(
        root,
        missing.filter((name) => !lacking.includes(name)),
      );
      return { values, made, lacking };
    },
    ({ values, made, lacking }) => {
      if (made.length > 0) return `Secrets created and saved in ${KEPT_IN}: ${made.join(", ")}`;
      if (lacking.length > 0) return `Secrets missing: ${lacking.join(", ")}`;
      return Object.keys(values).length > 0 ? `Secrets taken from ${KEPT_IN}` : "Secrets are all there";
    },
  );
}

/** Says what a deploy would do, and tries what can be tried without changing anything. */
async function rehearse({ databaseName: name, databaseId }: Target, others: string[]): Promise<void> {
  const found = databaseId ?? (await cloudflare.findDatabase(name));
  const names = await cloudflare.secrets();
  const { missing, toMake } = planSecrets(names, await keptSecrets(root));
  const making = isBuild ? "leave out" : "create";
  await step(
    () => cloudflare.build(others),
    () => "The Worker builds",
  );
  log("Without --dry-run this would:");
  if (!found) log(`  create the database ${name}`);
  if (!databaseId) log("  write the database's id into wrangler.toml");
  log("  apply the migrations that the database lacks");
  if (missing.length > 0)
    log(`  set ${missing.join(", ")}${toMake.length > 0 ? `, and ${making} ${toMake.join(", ")}` : ""}`);
  log(names ? "  deploy a new version of the Worker" : "  create the Worker");
}

/** @param set the secrets that this deploy gave to the Worker: they stand in the file of kept ones */
function introduce(address: string, set: string[]): void {
  const token = set.includes("ADMIN_TOKEN") ? `sed -n s/^ADMIN_TOKEN=//p ${KEPT_IN} | ` : "";
  if (set.length > 0) {
    warn(`Move what is in ${KEPT_IN} to your password manager: Cloudflare never shows a secret again.`);
  }
  process.stdout.write(`
# Log in as the operator, check the service, and create the first organization
${token}npx parley login --url ${address}
npx parley doctor
npx parley organizations create --name 'My company' --owner 'My name'
`);
}

function exitCodeOf(error: unknown): number {
  if (stop.signal.aborted) complain("Stopped. Completed steps stay. Repeat the command to continue.");
  else
    complain(
      error instanceof Error && !(error instanceof CommandError) ? (error.stack ?? error.message) : reasonOf(error),
    );
  return error instanceof CommandError ? error.exitCode : 1;
}
