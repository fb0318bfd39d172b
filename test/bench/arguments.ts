import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { Mistake } from "../support/mistake.ts";

/** A disk's fsync would be most of each write, and it says nothing of the platform's, which stores in many places. */
const MEMORY = "/dev/shm";

export interface BenchArguments {
  json: boolean;
  /** Cases whose names hold this text alone, beside the floors. */
  only: string | null;
  rounds: number;
  /** Of each case in each round. */
  seconds: number;
  scale: boolean;
  /** The folder that holds the data of a run. */
  data: string;
  help: boolean;
}

export const USAGE = `npm run bench -- [options]

  --only <text>   the cases whose names hold the text, beside the floors that they are compared to
  --rounds <n>    how often each case has its turn (5)
  --seconds <n>   how long a turn takes (1)
  --scale         also a chat of 1,000,000 messages, an organization of 100,000 chats, a directory of 100,000 keys
  --data <folder> where the data lies while it runs (/dev/shm: in memory, so that no figure is the disk's)
  --json          the figures as JSON on standard output
`;

/** @throws Mistake for an unknown option or a value that is no positive number */
export function readArguments(argv: string[]): BenchArguments {
  const { values } = parseArgs({
    args: argv,
    options: {
      json: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "1" },
      data: { type: "string", default: existsSync(MEMORY) ? MEMORY : tmpdir() },
      scale: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  return {
    ...values,
    only: values.only ?? null,
    rounds: Math.ceil(positive("rounds", values.rounds)),
    seconds: positive("seconds", values.seconds),
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new Mistake(`--${name} must be a positive number`);
}
