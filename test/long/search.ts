import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { folded } from "../../src/model/folding.ts";
import { SEARCHES } from "../bench/searched-messages.ts";
import { median } from "../bench/statistics.ts";
import type { Turn } from "../bench/step-call.ts";
import type { Asked, Fill, Removal } from "../bench/workers/search-index.ts";
import { bundle } from "../support/bundle.ts";
import { exitCodeOf, wholeNumber } from "../support/mistake.ts";
import { startWorkers, workerOptions } from "../support/world/workers.ts";

const USAGE = `npm run test:long -- search [options]

  --messages <n>  how many (100000), in thousands for each index
  --indexes <n>   how many indexes share them, as of an organization that has more than an index takes (1)
  --late          one chat after the other, as when an index is filled with what is there
`;
const IN_A_CALL = 1_000;
const TIMES = 21;
const PAGE = 50;
const CHAT_MESSAGES = 100;
const CHATS_IN_A_CALL = 10;

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:long -- search`: what an index of messages can do on this machine. */
async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      messages: { type: "string", default: "100000" },
      indexes: { type: "string", default: "1" },
      late: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const indexes = wholeNumber("indexes", values.indexes);
  const unit = IN_A_CALL * indexes;
  const messages = Math.ceil(wholeNumber("messages", values.messages) / unit) * unit;
  const folder = await mkdtemp(join(tmpdir(), "parley-search-"));
  try {
    await bundle({ index: "test/bench/workers/search-index.ts" }, folder);
    const objects = { SEARCH_INDEXES: "SearchIndexObject" };
    const worker = workerOptions({ name: "index", script: join(folder, "index.js"), bindings: {}, objects });
    const { miniflare, urls } = await startWorkers({
      resourcePersistencePath: join(folder, "data"),
      workers: [worker],
    });
    try {
      await measure(urls.index ?? "", { messages, indexes, isLate: values.late });
    } finally {
      await miniflare.dispose();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  return 0;
}

async function measure(
  url: string,
  { messages, indexes, isLate }: { messages: number; indexes: number; isLate: boolean },
): Promise<void> {
  const ask = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const fills: { ms: number; turns: Turn[] }[] = [];
  for (let from = 0; from < messages; from += IN_A_CALL) {
    fills.push(await ask("/fill", { from, count: IN_A_CALL, of: messages, isLate, indexes } satisfies Fill));
  }
  const ms = fills.reduce((sum, fill) => sum + fill.ms, 0);
  const { rows, bytes } = await ask<{ rows: number; bytes: number }>("/cost", { indexes });
  const perMessage = (count: number) => (count / messages).toFixed(count > 50 * messages ? 0 : 2);
  const steps = fills.flatMap(({ turns }) => turns.map(lengthOf)).sort((a, b) => a - b);
  console.log(`${messages} messages: ${Math.round((messages / ms) * 1_000)} a second`);
  console.log(`a message: ${perMessage(bytes)} bytes, ${perMessage(rows)} rows`);
  console.log(`steps of the fill: median ${median(steps)} ms, longest ${steps.slice(-5).join(", ")} ms`);
  for (const [name, search] of Object.entries(SEARCHES)) {
    const filters = { channelId: null, direction: null, since: null, until: null };
    const asked: Asked = { search: folded(search), before: null, ...filters, limit: PAGE, indexes };
    const times: number[] = [];
    let longest = 0;
    let found = 0;
    for (let time = 0; time < TIMES; time++) {
      const startedAt = performance.now();
      const answer = await ask<{ found: number; turns: Turn[] }>("/search", asked);
      times.push(performance.now() - startedAt);
      found = answer.found;
      longest = Math.max(longest, ...answer.turns.map(lengthOf));
    }
    console.log(`${name}: ${found} found, median ${median(times).toFixed(1)} ms, longest step ${longest} ms`);
  }
  const chats = Array.from({ length: messages / indexes / CHAT_MESSAGES }, (_, chat) => chat);
  const removals: { ms: number; turns: Turn[] }[] = [];
  for (let at = 0; at < chats.length; at += CHATS_IN_A_CALL) {
    removals.push(await ask("/remove", { chats: chats.slice(at, at + CHATS_IN_A_CALL) } satisfies Removal));
  }
  const took = removals.reduce((sum, one) => sum + one.ms, 0);
  const lengths = removals.flatMap(({ turns }) => turns.map(lengthOf)).sort((a, b) => a - b);
  console.log(`removals: ${Math.round((chats.length * CHAT_MESSAGES * 1_000) / took)} messages a second`);
  console.log(`steps of removals: median ${median(lengths)} ms, longest ${lengths.slice(-5).join(", ")} ms`);
}

function lengthOf({ from, to }: Turn): number {
  return to - from;
}
