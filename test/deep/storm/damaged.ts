import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Random } from "../../support/random.ts";
import type { Answer } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import { type Message, Parley } from "./parley.ts";
import { type Force, type Row, until } from "./storm.ts";

const MESSAGES = 100;
const PAGE = 40;
const PATIENCE_MS = 120_000;
/** This many files are damaged between one start and the next. */
const AT_ONCE = 5;

/** A chat's file as it was when all was well. */
interface Kept {
  chatId: string;
  path: string;
  good: Buffer;
}

/**
 * The files of chats are cut off, or one bit in each is another, and the server starts anew. Such a chat is whole or
 * errs; never is its list shorter by what was lost. The chat beside them is untouched.
 *
 * What is damaged is the database itself. Its log is written into it before: of a log that is torn SQLite drops the
 * tail by design, as of a commit that never was.
 */
export async function damaged({ rounds, random, log }: Force, { server }: Ground): Promise<Row[]> {
  const faults: string[] = [];
  const count = { erred: 0, whole: 0, altered: 0 };
  const parley = await Parley.begin(server);
  const channel = await parley.channel("web");
  const beside = await parley.chat(channel.id, "beside");
  await parley.api("POST", `/chats/${beside}/messages`, { content: "beside" });
  const chats = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => parley.chat(channel.id, `damaged-${n}`)));
  await Promise.all(chats.map((chatId) => fill(parley, chatId)));
  for (const chatId of chats) await told(parley, chatId);
  await server.kill().gone;
  const kept: Kept[] = [];
  for (const chatId of chats) {
    const path = await fileOf(chatId, server.state);
    checkpoint(path);
    kept.push({ chatId, path, good: await readFile(path) });
  }
  for (let done = 0; done < rounds; done += AT_ONCE) {
    const now = kept.slice(0, rounds - done);
    const hows: string[] = [];
    for (const { path, good } of now) hows.push(await damage(path, good, random));
    await server.start();
    for (const [n, { chatId }] of now.entries()) {
      const fault = judge(await readAll(parley, chatId), count);
      if (fault) faults.push(`${hows[n]}: ${fault}`);
    }
    const { messages } = await parley.messages(beside);
    if (messages.map(({ content }) => content).join() !== "beside")
      faults.push(`${hows.join("; ")}: the chat beside changed`);
    await server.kill().gone;
    log(`  ${done + now.length} files damaged`);
  }
  const kibibytes = Math.round((kept[0]?.good.length ?? 0) / 1_024);
  return [
    {
      test: "damaged files",
      howMany: `${rounds} files of chats of ${MESSAGES} messages, ${kibibytes} KiB, cut off or one bit flipped`,
      held: `${count.erred} answered 5xx, ${count.whole} whole, ${count.altered} with a text altered; none short; the chat beside whole`,
      faults,
    },
  ];
}

const textOf = (seq: number) => `message ${seq}`;

async function fill(parley: Parley, chatId: string): Promise<void> {
  for (let seq = 1; seq <= MESSAGES; seq++) {
    await parley.api("POST", `/chats/${chatId}/messages`, { content: textOf(seq) });
  }
}

/** Waits until a chat has told of its last message: it is at rest, and nothing of it is being written. */
async function told(parley: Parley, chatId: string): Promise<void> {
  const isTold = async () => {
    const { chat } = (await parley.admin("GET", `/chats/${chatId}`)).body;
    const { chats } = (await parley.api("GET", "/chats")).body;
    const listed = chats.find(({ id }: { id: string }) => id === chatId);
    return listed?.lastMessageAt === chat.lastMessageAt;
  };
  if (!(await until(isTold, PATIENCE_MS))) throw new Error(`${chatId} did not tell of its last message`);
}

/** The file of a chat, which keeps the name of its object. */
async function fileOf(chatId: string, state: string): Promise<string> {
  const folder = join(state, "v3/do/parley-ChatObject");
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".sqlite") || name.startsWith("metadata")) continue;
    const database = new DatabaseSync(join(folder, name));
    const isIt = database.prepare("select 1 from __miniflare_do_name where name = ?").get(chatId) !== undefined;
    database.close();
    if (isIt) return join(folder, name);
  }
  throw new Error(`${chatId} has no file`);
}

/** Writes the log into the database. */
function checkpoint(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
}

/** Cuts a file off, or flips one bit in it. @returns what was done */
async function damage(path: string, good: Buffer, random: Random): Promise<string> {
  for (const more of ["-wal", "-shm"]) await rm(`${path}${more}`, { force: true });
  const at = random.between(0, good.length - 1);
  if (random.next() < 0.3) {
    await writeFile(path, good.subarray(0, at));
    return `cut off after ${at} bytes`;
  }
  const bad = Buffer.from(good);
  const bit = random.between(0, 7);
  bad.writeUInt8(bad.readUInt8(at) ^ (1 << bit), at);
  await writeFile(path, bad);
  return `bit ${bit} of byte ${at}, amid ${JSON.stringify(good.toString("latin1", at - 12, at + 12))}`;
}

/** All messages of a chat, or the first answer that is no 200. */
async function readAll(parley: Parley, chatId: string): Promise<Answer> {
  const messages: Message[] = [];
  for (let page = 1; ; page++) {
    const answer = await parley.api("GET", `/chats/${chatId}/messages?limit=${PAGE}&page=${page}`);
    if (answer.status !== 200) return answer;
    messages.push(...answer.body.messages);
    const { hasMore, total } = answer.body.pagination;
    if (!hasMore) return { status: 200, headers: answer.headers, body: { messages: messages.reverse(), total } };
  }
}

/**
 * What is wrong with what a damaged chat answered; null where that is an error, or all of its messages. What one bit
 * makes of a text nobody can tell without a sum of each: such a list is full, and counted apart.
 */
function judge({ status, body }: Answer, count: Record<"erred" | "whole" | "altered", number>): string | null {
  if (status >= 500) {
    count.erred++;
    return null;
  }
  if (status !== 200) return `answered ${status}: ${JSON.stringify(body)}`;
  const { messages, total } = body as { messages: Message[]; total: number };
  if (messages.length !== MESSAGES || total !== MESSAGES) return `a list of ${messages.length}, said to be ${total}`;
  const isWhole = messages.every(({ seq, content }, n) => seq === n + 1 && content === textOf(seq));
  count[isWhole ? "whole" : "altered"]++;
  return null;
}
