import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newOperatorCode } from "../../secrets/operator-code.ts";
import { CommandError, reasonOf } from "../command-error.ts";
import type { Demo } from "../demo-file.ts";
import { prepareDevVars } from "../dev-vars.ts";
import { log, printError, printWarning, step } from "../progress.ts";
import { awaitHealthy } from "../wrangler.ts";
import { readStartArguments, START_USAGE } from "./arguments.ts";
import { runCron } from "./cron.ts";
import { createDemo, findDemo, webChatUrl } from "./demo.ts";
import { introduction } from "./introduction.ts";
import { baseUrl, freePort } from "./port.ts";
import { migrate, type OnLine, serve } from "./server.ts";
import { prepareState, refuseEarlierLayout } from "./state.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const stop = new AbortController();

// The data has tokens and what people wrote. What this process and the server create is for this user alone.
process.umask(0o077);

// Once: a second Ctrl-C ends this process immediately.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());

// npm forwards a SIGTERM to its shell, which may die without forwarding it. Then this process gets another parent.
const parent = process.ppid;
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && stop.abort(), 200).unref();

process.exit(await main(process.argv.slice(2)).catch(exitCodeOf));

/** `npm start`: prepares this machine, runs the server and prints how to use it. Returns the exit code. */
async function main(argv: string[]): Promise<number> {
  const given = readStartArguments(argv, process.cwd());
  if (given.help) {
    process.stdout.write(START_USAGE);
    return 0;
  }
  const { verbose } = given;
  const doStep = <T>(work: () => Promise<T>, say: (result: T) => string) => (verbose ? step(work, say) : work());
  const port = await freePort(given.port, given.ip);
  const base = baseUrl(port, given.ip);
  const state = given.persistTo ?? join(root, ".wrangler", "state");
  const files = { config: join(root, "wrangler.toml"), state };
  await refuseEarlierLayout(root, state);

  const { variables } = await prepareDevVars(join(root, ".dev.vars"), given.vars);
  const isNew = await prepareState(state);
  log(isNew ? "Starting Parley. The first start takes a few seconds longer." : "Starting Parley.");
  await doStep(
    () => migrate(files, log, stop.signal),
    () => (isNew ? "Created the database" : "Database is up to date"),
  );

  // Another process may use the port by now, and wrangler's error about that is long.
  await freePort(port, given.ip);
  let hasAnswered = false;
  // Our own requests are not logged. Errors always are.
  let isIntroduced = false;
  const take: OnLine = (line, kind) => {
    if (kind === "error" || (verbose && isIntroduced)) log(line);
  };
  const vars = { WEBHOOKS_ALLOW_LOCAL: "true", ...(verbose && { LOG_REQUESTS: "all" }), ...given.vars };
  const server = serve(files, { ...given, port, vars }, take, stop.signal);
  const introduced = doStep(
    () => awaitHealthy(base, stop.signal),
    () => `The server answers at ${base}`,
  ).then(async () => {
    hasAnswered = true;
    runCron(base, stop.signal).catch(ignoreIfStopped);
    const adminToken = variables.ADMIN_TOKEN ?? "";
    const { demo, webChat } = await prepareDemo(base, state, adminToken);
    // After the demo, so that the link's hour begins now.
    const code = adminToken && (await newOperatorCode(adminToken, Date.now()));
    const consoleLink = code && `${base}/console${demo ? `/o/${demo.organizationId}/inbox` : ""}#code=${code}`;
    process.stdout.write(introduction({ base, root, state, demo, webChat, consoleLink: consoleLink || null, verbose }));
    isIntroduced = true;
  });
  await Promise.race([server, introduced.catch(ignoreIfStopped)]);
  const code = await server;
  if (stop.signal.aborted) return 0;
  if (!hasAnswered) await freePort(port, given.ip);
  printError(`wrangler ended with exit code ${code}.`);
  return code;
}

/** Finds or creates the demo. A failure is only reported, because the server works without a demo. */
async function prepareDemo(
  base: string,
  state: string,
  adminToken: string,
): Promise<{ demo: Demo | null; webChat: string | null }> {
  try {
    const kept = await findDemo(base, state);
    if (kept.demo === null && kept.whyNot) {
      printWarning(`A new demo organization replaces the previous one: ${kept.whyNot}.`);
    }
    const demo = kept.demo ?? (await createDemo(base, state, adminToken));
    return { demo, webChat: await webChatUrl(base, demo) };
  } catch (error) {
    stop.signal.throwIfAborted();
    printError(`The demo can't be created: ${reasonOf(error)}`);
    return { demo: null, webChat: null };
  }
}

function exitCodeOf(error: unknown): number {
  if (stop.signal.aborted) return 0;
  const isUnexpected = error instanceof Error && !(error instanceof CommandError);
  printError(isUnexpected ? (error.stack ?? error.message) : reasonOf(error));
  return error instanceof CommandError ? error.exitCode : 1;
}

function ignoreIfStopped(error: unknown): void {
  if (!stop.signal.aborted) throw error;
}
