import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError, reasonOf } from "../command-error.ts";
import { curlLines, demoPath, keptDemo, makeDemo, webChatUrl } from "../demo.ts";
import { prepareDevVars } from "../dev-vars.ts";
import { migrate, serve } from "../local/server.ts";
import { complain, log, step } from "../progress.ts";
import { answers } from "../wrangler.ts";
import { readArguments, USAGE } from "./arguments.ts";
import { baseUrl, freePort } from "./port.ts";
import { prepareState } from "./state.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const stop = new AbortController();

// Once: a second Ctrl-C ends this process at once.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());

// npm hands a SIGTERM to its shell, which may die of it and not hand it on: then our parent is another one.
const parent = process.ppid;
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && stop.abort(), 200).unref();

process.exit(await main(process.argv.slice(2)).catch(exitCodeOf));

/** `npm start`: what this machine lacks, the server, and what to paste first. Gives the code to exit with. */
async function main(argv: string[]): Promise<number> {
  const given = readArguments(argv, process.cwd());
  if (given.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const port = await freePort(given.port, given.ip);
  const base = baseUrl(port, given.ip);
  const state = given.persistTo ?? join(root, ".wrangler", "state");
  const place = { config: join(root, "wrangler.toml"), state };

  const { variables } = await step(
    () => prepareDevVars(join(root, ".dev.vars"), given.vars),
    ({ made }) => `Secrets in .dev.vars: ${made.length > 0 ? `made ${made.join(", ")}` : "all there"}`,
  );
  const isNew = await prepareState(state);
  await step(
    () => migrate(place, log, stop.signal),
    () => (isNew ? `Database made; the data is in ${state}` : `Database up to date; the data in ${state} is kept`),
  );

  // Somebody may have taken the port meanwhile; wrangler would say so in many lines.
  await freePort(port, given.ip);
  let hasAnswered = false;
  const server = serve(place, { ...given, port }, log, stop.signal);
  const introduction = step(
    () => answers(base, stop.signal),
    () => `Server on ${base}`,
  ).then(() => {
    hasAnswered = true;
    return introduce(base, state, variables.ADMIN_TOKEN ?? "");
  });
  await Promise.race([server, introduction.catch(unlessStopped)]);
  const code = await server;
  if (stop.signal.aborted) return 0;
  if (!hasAnswered) await freePort(port, given.ip);
  complain(`wrangler ended with exit code ${code}.`);
  return code;
}

/** Makes sure of the demo and prints its lines. The server is worth running without one, so a fault here is only told. */
async function introduce(base: string, state: string, adminToken: string): Promise<void> {
  try {
    const { demo } = await step(
      async () => {
        const kept = await keptDemo(base, state);
        if (kept.demo) return { demo: kept.demo, whyNew: null };
        return { demo: await makeDemo(base, state, adminToken), whyNew: kept.whyNot };
      },
      ({ demo, whyNew }) => {
        const instead = whyNew ? ` in place of the one before (${whyNew})` : "";
        return `Demo organization ${demo.organizationId}${instead}; its key is in ${demoPath(state)}`;
      },
    );
    const { list, send } = curlLines(base, demo);
    const webChat = await webChatUrl(base, demo);
    process.stdout.write(`\n# The newest messages of the demo's chat\n${list}\n\n# Send one\n${send}\n\n`);
    if (webChat) process.stdout.write(`# The demo's web chat\n${webChat}\n\n`);
  } catch (error) {
    if (stop.signal.aborted) return;
    complain(`There is no demo: ${reasonOf(error)}`);
  }
  log("Ctrl-C stops the server.");
}

function exitCodeOf(error: unknown): number {
  if (stop.signal.aborted) return 0;
  complain(
    error instanceof Error && !(error instanceof CommandError) ? (error.stack ?? error.message) : reasonOf(error),
  );
  return error instanceof CommandError ? error.exitCode : 1;
}

function unlessStopped(error: unknown): void {
  if (!stop.signal.aborted) throw error;
}
