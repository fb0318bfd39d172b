import { parseArgs } from "node:util";
import { exitCodeOf, Mistake } from "../support/mistake.ts";
import { DECISIONS } from "./decisions.ts";
import { LIFE } from "./life/scenario.ts";
import { runScenario, type Scenario, traceScenario } from "./objects/scenario.ts";
import { ORGANIZATION } from "./organization/scenario.ts";
import { SABOTEURS } from "./saboteurs.ts";
import { BRANCHES, figure, firstCaught, MODES, runSeries, type Series, table, vacuous } from "./series.ts";
import { simulate } from "./simulate.ts";
import { WEBHOOKS } from "./webhooks/scenario.ts";
import { FAULTS } from "./world.ts";

const USAGE = `npm run test:simulate -- [options]

  --seeds <n>      how many seeds, in each of the two modes (20000)
  --from <seed>    the first one (0)
  --trace <seed>   what happens in one seed, line by line, and nothing else
  --mode <mode>    of the trace: safety or liveness (liveness)
  --organization   simulates an organization's object and its chats, instead of delivery
  --life           simulates chats whose messages are scheduled, moved, canceled and sent again, instead of delivery
  --webhooks       simulates chats that send events to webhooks, instead of delivery
`;

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:simulate`: 0 when everything held, nothing was vacuous, and every wrong version was caught. */
async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seeds: { type: "string", default: "20000" },
      from: { type: "string", default: "0" },
      trace: { type: "string" },
      mode: { type: "string", default: "liveness" },
      life: { type: "boolean", default: false },
      webhooks: { type: "boolean", default: false },
      organization: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return print(USAGE, 0);
  if (values.life) return runObjects(LIFE, values);
  if (values.webhooks) return runObjects(WEBHOOKS, values);
  if (values.organization) return runObjects(ORGANIZATION, values);
  if (values.trace !== undefined) {
    const mode = values.mode === "safety" ? "safety" : "liveness";
    const { trace, violation } = await simulate(natural(values.trace), mode, { isTraced: true });
    return print([...trace, violation ? `${violation.invariant}: ${violation.text}` : "all held", ""].join("\n"), 0);
  }
  const [seeds, from] = [natural(values.seeds), natural(values.from)];
  const begun = performance.now();
  const all: Series[] = [];
  for (const mode of MODES) all.push(await runSeries(mode, from, seeds));
  const seconds = (performance.now() - begun) / 1_000;
  const events = all.reduce((sum, each) => sum + each.events, 0);
  const rate = `${figure((seeds * MODES.length) / seconds)} seeds/s, ${figure(events)} events in ${figure(seconds)} s`;
  print(`${table(all)}\n\n${figure(seeds)} seeds from ${from} in each of ${MODES.join(" and ")}: ${rate}\n\n`, 0);

  const share = (name: string) => all.reduce((sum, { counts }) => sum + (counts.get(name)?.seeds ?? 0), 0);
  const faults = FAULTS.map((name) => `${name} ${((100 * share(name)) / (seeds * MODES.length)).toFixed(1)}%`);
  print(`Faults, in how many of the seeds: ${faults.join(", ")}\n\n`, 0);

  const times = (name: string) => all.reduce((sum, { counts }) => sum + (counts.get(name)?.times ?? 0), 0);
  print(`How often: ${BRANCHES.map((name) => `${name} ${figure(times(name))}`).join(", ")}\n\n`, 0);

  let missed = 0;
  for (const [name, wrong] of Object.entries(SABOTEURS)) {
    const found = await firstCaught({ ...DECISIONS, ...wrong }, 1_000);
    print(`${found ? `caught in seed ${found.seed} (${found.invariant})` : "NOT CAUGHT"}: ${name}\n`, 0);
    if (!found) missed++;
  }
  const missing = vacuous(all, 20);
  if (missing.length > 0) print(`\nToo rare in these seeds to show anything: ${missing.join(", ")}\n`, 0);
  if (all.some(({ broken }) => broken.size > 0) || missed > 0) {
    return print("\nNot everything held. To see one seed: npm run test:simulate -- --trace <seed>\n", 1);
  }
  if (missing.length > 0) return print("\nWhat was checked held. More --seeds check the rest.\n", 1);
  return print("\nEverything held.\n", 0);
}

/** Runs the seeds of a simulation of objects, or traces one. */
async function runObjects<Service>(
  scenario: Scenario<Service>,
  values: { seeds: string; from: string; trace?: string | undefined },
): Promise<number> {
  if (values.trace !== undefined) return print(await traceScenario(scenario, natural(values.trace)), 0);
  const show = (text: string) => void print(text, 0);
  return (await runScenario(scenario, natural(values.from), natural(values.seeds), show)) ? 0 : 1;
}

function print(text: string, code: number): number {
  process.stdout.write(text);
  return code;
}

/** @throws Mistake for what is no number from 0 on */
function natural(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Mistake(`"${text}" is no number from 0 on`);
}
