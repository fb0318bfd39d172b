import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { folded } from "../../src/model/folding.ts";
import type { IndexChange } from "../../src/model/search-index.ts";
import { CandidatePages } from "../../src/search/object/candidate-pages.ts";
import { GramTables } from "../../src/search/object/gram-tables.ts";
import { MessageTable, type Steps } from "../../src/search/object/message-table.ts";
import { INDEX_SCHEMA } from "../../src/search/object/schema.ts";
import { SharedCommits } from "../../src/search/object/shared-commits.ts";
import { messageOf, SEARCHES } from "../bench/searched-messages.ts";
import { median } from "../bench/statistics.ts";
import { ObjectStorage } from "../simulate/objects/storage.ts";
import { exitCodeOf, wholeNumber } from "../support/mistake.ts";

const USAGE = `npm run test:long -- index-steps [options]

  --messages <n>  how many (300000), in thousands
`;
const LIMITS = { tableMessages: 100_000, tableWeight: 15_000_000, messages: 1_000_000, bytes: 1_000_000_000 };
const AT_ONCE = 100;
const CHAT_MESSAGES = 100;
const PAGE = 100;

/**
 * `npm run test:long -- index-steps`: how much of the processor the longest steps of an index take. The code of the index
 * runs in Node, with SQLite in memory: the time of this thread does not count what else the machine does, or its disk.
 */
async function main(argv: string[]): Promise<number> {
  const options = {
    messages: { type: "string", default: "300000" },
    help: { type: "boolean", default: false },
  } as const;
  const { values } = parseArgs({ args: argv, options });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const count = Math.ceil(wholeNumber("messages", values.messages) / 1_000) * 1_000;
  const index = new MeasuredIndex();
  const chats = count / CHAT_MESSAGES;
  await index.measured("fill", async () => {
    for (let from = 0; from < count; from += AT_ONCE) {
      const put = Array.from({ length: AT_ONCE }, (_, i) => messageOf(from + i + 1, from + i, (from + i) / count));
      await index.change((from / AT_ONCE) % chats, { put });
    }
  });
  for (const [name, search] of Object.entries(SEARCHES)) await index.measured(name, () => index.search(search));
  await index.measured("removal of every other chat", async () => {
    for (let chat = 0; chat < chats; chat += 2) await index.change(chat, { removeUpTo: count });
  });
  for (const [name, search] of Object.entries(SEARCHES)) await index.measured(name, () => index.search(search));
  await index.measured("removal of all", async () => {
    for (let chat = 1; chat < chats; chat += 2) await index.change(chat, { removeUpTo: count });
  });
  return 0;
}

/** The parts of an index in storage of their own. */
class MeasuredIndex {
  readonly #storage = new ObjectStorage();
  readonly #messages: MessageTable;
  readonly #commits: SharedCommits;
  readonly #pages: CandidatePages;
  /** How long each step took, in ms of this thread. */
  #steps: number[] = [];
  #from = 0;

  constructor() {
    const storage = this.#storage.handle(() => false);
    storage.sql.exec(INDEX_SCHEMA[0]);
    const grams = new GramTables(storage, () => LIMITS);
    this.#messages = new MessageTable(storage.sql, grams);
    const transaction = (writes: () => void) => {
      grams.prepare();
      storage.transactionSync(() => {
        writes();
        grams.endCommit();
      });
    };
    this.#commits = new SharedCommits(transaction, () => undefined);
    this.#pages = new CandidatePages(storage.sql, grams, () => true);
  }

  /** Does some work, and prints its longest steps. A step ends where the work waits, for others can run then. */
  async measured(name: string, work: () => Promise<unknown>): Promise<void> {
    this.#steps = [];
    this.#from = threadMs();
    const waits = {
      wait: async () => {
        this.#storage.commit();
        this.#steps.push(threadMs() - this.#from);
        await nextTurn();
        this.#from = threadMs();
      },
    };
    Object.assign(globalThis, { scheduler: waits });
    await work();
    const steps = this.#steps.toSorted((a, b) => a - b);
    const longest = steps.slice(-5).map(Math.round).join(", ");
    console.log(`${name}: ${steps.length} steps, median ${median(steps).toFixed(1)} ms, longest ${longest} ms`);
  }

  change(chat: number, change: Partial<IndexChange>): Promise<boolean> {
    const chatId = `cht_g${String(chat).padStart(15, "0")}`;
    const none = { chatId, life: 1, channelId: "chn_g000000000000000", put: [], remove: [], removeUpTo: 0 };
    const steps: Steps = this.#messages.change({ ...none, ...change });
    // Making the change is not a step.
    this.#from = threadMs();
    return this.#commits.do(chatId, steps);
  }

  search(text: string): Promise<unknown> {
    const filters = { before: null, channelId: null, direction: null, since: null, until: null };
    return this.#pages.read({ search: folded(text), ...filters, limit: PAGE });
  }
}

/** How long this thread has used a processor, in ms. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));
