import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { Mistake } from "../support/mistake.ts";
import { MEMORY } from "../support/temporary-files.ts";
import { shown } from "./sizes.ts";
import { WORK } from "./work-cases.ts";

export interface BenchArguments {
  json: boolean;
  /** Measures only the cases whose names contain this text, and what they are compared to. */
  only: string | null;
  /** Measures only the cases that have a goal, and what they are compared to. */
  goals: boolean;
  rounds: number;
  /** Of a turn. */
  seconds: number;
  scale: boolean;
  /** Measures only long work whose name contains this text, beside sends. */
  work: string | null;
  /** How much work. */
  amount: number | null;
  /** Runs Lighthouse on the pages, and measures nothing else. */
  lighthouse: boolean;
  /** Measures the longest step of routes and alarms, and nothing else. */
  steps: boolean;
  /** With little data. */
  small: boolean;
  /** Of the work, at most. */
  minutes: number;
  /** Measures the cases beside a build of this commit, and nothing else. */
  against: string | null;
  /** Makes a CPU profile of this case and measures nothing. */
  profile: string | null;
  /** The folder for the data of a run. */
  data: string;
  help: boolean;
}

export const USAGE = `npm run bench -- [options]

  --only <text>    only the cases whose names contain the text, and what they are compared to
  --goals          only the cases that have a goal, and what they are compared to
  --rounds <n>     turns of each case (5)
  --seconds <n>    length of a turn (1). wrk rounds it up to whole seconds
  --scale          also a chat of 1,000,000 messages and an organization of 1,000,000 chats
  --work <text>    only long work whose name contains the text, beside sends and lists of chats:
${WORK.map(({ name, amount, unit }) => `                     ${name}: ${shown(amount)} ${unit}`).join("\n")}
  --amount <n>     how much of this work
  --minutes <n>    stops this work after this many minutes, even if something is left (15)
  --lighthouse     only runs Lighthouse on a page with the widget, the visitors' page and the console, --rounds times.
                   npm fetches it
  --steps          measures only how long routes and alarms hold up an object, on data that makes them dear. With
                   --only those whose names contain the text, with --small little data
  --against <commit>  measures the cases of --only beside a build of that commit, in turns, and prints the ratios
  --profile <case> measures nothing, but writes CPU profiles of the case and prints the functions that took longest
  --data <folder>  folder for the data of the run (/dev/shm: in memory, so no figure depends on a disk)
  --json           the figures as JSON on standard output

The bench sends its requests with wrk if it is installed. Otherwise it sends them from Node, which may itself be the
limit. Then it prints ratios only if the bare route makes 18,000 requests a second.
`;

/** @throws Mistake for an unknown option, or a value that is not a positive number */
export function readArguments(argv: string[]): BenchArguments {
  const { values } = parseArgs({
    args: argv,
    options: {
      json: { type: "boolean", default: false },
      only: { type: "string" },
      goals: { type: "boolean", default: false },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "1" },
      // On a disk, fsync would be most of each write, and would say nothing about the storage of the platform.
      data: { type: "string", default: existsSync(MEMORY) ? MEMORY : tmpdir() },
      scale: { type: "boolean", default: false },
      work: { type: "string" },
      amount: { type: "string" },
      lighthouse: { type: "boolean", default: false },
      steps: { type: "boolean", default: false },
      small: { type: "boolean", default: false },
      minutes: { type: "string", default: "15" },
      against: { type: "string" },
      profile: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  return {
    ...values,
    only: values.only ?? null,
    against: values.against ?? null,
    profile: values.profile ?? null,
    work: values.work ?? null,
    amount: values.amount === undefined ? null : Math.ceil(positive("amount", values.amount)),
    minutes: positive("minutes", values.minutes),
    rounds: Math.ceil(positive("rounds", values.rounds)),
    seconds: positive("seconds", values.seconds),
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new Mistake(`--${name} must be a positive number`);
}
