import { parseArgs } from "node:util";
import { exitCodeOf, Mistake } from "../support/mistake.ts";
import { DELIVERY } from "./delivery/scenario.ts";
import { KEYS } from "./keys/scenario.ts";
import { LIFE } from "./life/scenario.ts";
import { runScenario, type Scenario, traceScenario } from "./objects/scenario.ts";
import { ORGANIZATION } from "./organization/scenario.ts";
import { WEBHOOKS } from "./webhooks/scenario.ts";

const USAGE = `npm run test:long -- simulate [options]

  --seeds <n>      how many seeds (20000)
  --from <seed>    the first one (0)
  --trace <seed>   what happens in one seed, line by line, and nothing else
  --organization   simulates an organization's object and its chats, instead of delivery
  --life           simulates what happens to the messages of chats after they were accepted, instead of delivery
  --webhooks       simulates chats that send events to webhooks, instead of delivery
  --keys           simulates the admission of requests by keys' objects and isolates, instead of delivery
`;

interface Options {
  seeds: string;
  from: string;
  trace?: string | undefined;
}

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:long -- simulate`: 0 when everything held, nothing was vacuous, and every wrong version was caught. */
async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seeds: { type: "string", default: "20000" },
      from: { type: "string", default: "0" },
      trace: { type: "string" },
      life: { type: "boolean", default: false },
      webhooks: { type: "boolean", default: false },
      organization: { type: "boolean", default: false },
      keys: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return print(USAGE);
  if (values.life) return run(LIFE, values);
  if (values.webhooks) return run(WEBHOOKS, values);
  if (values.organization) return run(ORGANIZATION, values);
  if (values.keys) return run(KEYS, values);
  return run(DELIVERY, values);
}

/** Runs the seeds of a simulation, or traces one. */
async function run<Service>(scenario: Scenario<Service>, { seeds, from, trace }: Options): Promise<number> {
  if (trace !== undefined) return print(await traceScenario(scenario, natural(trace)));
  return (await runScenario(scenario, natural(from), natural(seeds), print)) ? 0 : 1;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** @throws Mistake for what is no number from 0 on */
function natural(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Mistake(`"${text}" is no number from 0 on`);
}
