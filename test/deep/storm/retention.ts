import { setTimeout as delay } from "node:timers/promises";
import { wanted } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { atMost, type Force, type Row, until } from "./storm.ts";
import { oldestOnDisk, tablesWithText } from "./where-text-is.ts";

const CHATS = 3;
/** Several steps of a deletion. */
const MESSAGES = 1_500;
const KILLS = 3;
const CONNECTIONS = 12;
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const PATIENCE_MS = 120_000;
const PAGE = 100;

/**
 * The clock goes on by more than the retention, so all messages are old. They are deleted while new ones are sent and
 * the server is killed: the old ones are gone, the new ones are all there, and the pages show them without a gap.
 */
export async function retention({ rounds, random, log }: Force, { server }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channel = await parley.channel("web");
  wanted(200, await parley.admin("PATCH", `/channels/${channel.id}`, { retentionDays: KEPT_DAYS }));
  const chats = await Promise.all(Array.from({ length: CHATS }, (_, n) => parley.chat(channel.id, `reader-${n}`)));
  const faults: string[] = [];
  let amid = 0;
  let anchors = await Promise.all(chats.map((id) => anchor(parley, id, 0)));
  await sendAll(parley, chats, 0);
  for (let round = 1; round <= rounds; round++) {
    server.setVariable("STORM_AHEAD_MS", String(round * (KEPT_DAYS + 1) * DAY_MS));
    const old = await parley.messages(chats[0] ?? "");
    await server.kill().gone;
    await server.start();
    let sending = Promise.resolve();
    for (let kill = 0; kill < KILLS; kill++) {
      // A read wakes an object, whose alarm is due.
      const reads = chats.map((id) => parley.api("GET", `/chats/${id}/messages?limit=1`));
      if (kill === 1) sending = sendAll(parley, chats, round);
      await Promise.any(reads);
      await delay(random.between(0, 40));
      await server.kill().gone;
      await Promise.all(reads);
      const first = (round - 1) * MESSAGES + 1;
      const oldest = await oldestOnDisk(server.state);
      amid += oldest.filter((seq) => seq > first && seq < first + MESSAGES).length;
      await server.start();
    }
    await sending;
    const isDone = async () => {
      const oldest = await Promise.all(chats.map((id) => oldestSeq(parley, id)));
      return oldest.every((seq) => seq === round * MESSAGES + 1);
    };
    if (!(await until(isDone, PATIENCE_MS))) faults.push(`round ${round}: not done after ${PATIENCE_MS / 1_000} s`);
    for (const chatId of chats) {
      const found = await listFaults(parley, chatId, round);
      faults.push(...found.map((fault) => `round ${round}, ${chatId}: ${fault}`));
    }
    const later = await Promise.all(chats.map((id) => anchor(parley, id, round)));
    await Promise.all(anchors.map((path) => parley.insist("POST", `${path}/cancel`)));
    anchors = later;
    const cursor = old.messages[0]?.id ?? "";
    const after = wanted(200, await parley.api("GET", `/chats/${chats[0]}/messages?limit=1&after=${cursor}`));
    if (after.messages[0]?.seq !== round * MESSAGES + 1)
      faults.push(`round ${round}: a deleted cursor leads elsewhere`);
    for (const table of await tablesWithText(textOf(round - 1), server.state)) {
      faults.push(`round ${round}: old text in ${table}`);
    }
    log(`  round ${round}, ${server.kills} kills`);
  }
  return [
    {
      test: "retention with kills",
      howMany: `${rounds * CHATS * MESSAGES} messages of ${CHATS} chats deleted, ${server.kills} kills, ${amid} times a chat was amid its deletion`,
      held: "old messages are gone, also from all tables; each new one is there once, in its place",
      faults,
    },
  ];
}

/** A text that only messages of a round have. */
function textOf(round: number): string {
  return `canary-of-round-${round}-`;
}

/** Schedules a message far ahead: a chat that waits for one is not idle, and stays. @returns the message's path */
async function anchor(parley: Parley, chatId: string, round: number): Promise<string> {
  const now = Date.now() + round * (KEPT_DAYS + 1) * DAY_MS;
  const body = { content: "Later", scheduledAt: new Date(now + 300 * DAY_MS).toISOString() };
  const { message } = wanted(201, await parley.insist("POST", `/chats/${chatId}/messages`, body));
  return `/chats/${chatId}/messages/${message.id}`;
}

async function sendAll(parley: Parley, chats: string[], round: number): Promise<void> {
  const each = chats.flatMap((chatId) =>
    Array.from({ length: MESSAGES }, (_, n) => async () => {
      const headers = { "Idempotency-Key": `${round}-${n}` };
      const content = `${textOf(round)}${n}`;
      wanted(201, await parley.insist("POST", `/chats/${chatId}/messages`, { content }, headers));
    }),
  );
  await atMost(CONNECTIONS, each);
}

async function oldestSeq(parley: Parley, chatId: string): Promise<number> {
  const page = wanted(200, await parley.insist("GET", `/chats/${chatId}/messages?limit=1`));
  const [newest] = page.messages as { seq: number }[];
  return (newest?.seq ?? 0) - page.pagination.total + 1;
}

/** What is wrong with the lists of a chat that should have the messages of one round alone. */
async function listFaults(parley: Parley, chatId: string, round: number): Promise<string[]> {
  const first = round * MESSAGES + 1;
  const { messages, total } = await parley.messages(chatId);
  const faults: string[] = [];
  if (total !== MESSAGES) faults.push(`the total is ${total}`);
  if (messages.some(({ seq }, n) => seq !== first + n)) faults.push("the pages have a gap or repeat a message");
  if (new Set(messages.map(({ content }) => content)).size !== MESSAGES) faults.push("a message is missing");
  if (messages.some(({ content }) => !content.startsWith(textOf(round)))) faults.push("an old message is listed");
  const walked: number[] = [];
  for (let before = messages.at(-1)?.id; before; ) {
    const page = wanted(200, await parley.api("GET", `/chats/${chatId}/messages?limit=${PAGE}&before=${before}`));
    const found = page.messages as { id: string; seq: number }[];
    walked.push(...found.map(({ seq }) => seq));
    before = page.pagination.hasMore ? found.at(-1)?.id : undefined;
  }
  if (walked.some((seq, n) => seq !== first + MESSAGES - 2 - n) || walked.length !== MESSAGES - 1) {
    faults.push("the pages before a cursor have a gap");
  }
  return faults;
}
