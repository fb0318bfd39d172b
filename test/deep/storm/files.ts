import { readdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../support/random.ts";
import type { Answer } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { type Force, killAtRandom, type Row, until } from "./storm.ts";
import { withCopy } from "./where-text-is.ts";

const CONNECTIONS = 4;
const MAX_BYTES = 300_000;
const DAY = 86_400_000;
const QUIET_MS = 60_000;
/** What a redaction or a deletion may be answered; 404: one that was cut off had done it. */
const DONE = [200, 404];

/** What the clients did, and which files must be left of it, as `stored` has them. */
class Journal {
  readonly left = new Set<string>();
  readonly faults: string[] = [];
  readonly counts = { uploads: 0, sends: 0, redactions: 0, cancellations: 0 };
}

/** kill -9 amid uploads, sends, redactions and cancellations: then the bucket has exactly what messages show or may name. */
export async function files(force: Force, { server, telegram }: Ground): Promise<Row[]> {
  const { random } = force;
  const parley = await Parley.begin(server);
  const web = await parley.channel("web");
  const channel = await telegram.channel(parley);
  const chats = [
    await parley.chat(web.id, "files-1"),
    await parley.chat(web.id, "files-2"),
    await parley.chat(channel.id, "4970001"),
    await parley.chat(channel.id, "4970002"),
  ];
  const journal = new Journal();
  let isOver = false;
  const client = async (name: string) => {
    for (let n = 1; !isOver; n++) {
      await oneFile(parley, journal, { chatId: random.pick(chats), key: `${name}-${n}`, random });
    }
  };
  const clients = Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => client(`file-${n}`)));
  clients.catch(() => {});
  // Clients that went on would be load for the next storm.
  try {
    await killAtRandom(server, force);
  } finally {
    isOver = true;
  }
  await clients;
  const { left, faults, counts } = journal;
  // What is copied while it changes can't be read.
  const isRight = async () => differences(left, await stored(server.state, chats)).length === 0;
  const wasRight = await until(() => isRight().catch(() => false), QUIET_MS);
  if (!wasRight) faults.push(...differences(left, await stored(server.state, chats)));
  const shown = left.size;
  for (const chatId of chats) {
    const first = parley.admin("DELETE", `/chats/${chatId}`);
    await delay(random.between(0, 100));
    await server.kill().gone;
    await first;
    await server.start();
    await insist(journal, () => parley.admin("DELETE", `/chats/${chatId}`), DONE);
    const isGone = async () => (await stored(server.state, [chatId])).length === 0;
    if (await until(() => isGone().catch(() => false), QUIET_MS)) continue;
    for (const key of await stored(server.state, [chatId])) faults.push(`${key} is left of a deleted chat`);
  }
  const { uploads, sends, redactions, cancellations } = counts;
  return [
    {
      test: "kills amid uploads",
      howMany: `${server.kills} kills, ${uploads} uploads, ${sends} sends, ${redactions} redactions, ${cancellations} cancellations`,
      held: `the bucket had exactly the ${shown} files that messages show or may still name, and none of deleted chats`,
      faults,
    },
  ];
}

/** Uploads a file and sends it, now or in a day; then its message may be redacted or canceled. Each is repeated until it is answered. */
async function oneFile(
  parley: Parley,
  journal: Journal,
  { chatId, key, random }: { chatId: string; key: string; random: Random },
): Promise<void> {
  const { counts } = journal;
  const text = key.repeat(random.between(1, MAX_BYTES / key.length));
  const headers = { "Idempotency-Key": key, "Content-Type": "application/json" };
  const path = `/chats/${chatId}`;
  const upload = () => parley.api("POST", `${path}/media?fileName=${key}.json`, { text }, headers);
  const mediaId = (await insist(journal, upload, [201])).body.media?.id;
  counts.uploads++;
  const isLater = random.next() < 0.3;
  const message = { content: key, mediaId, ...(isLater && { scheduledAt: new Date(Date.now() + DAY).toISOString() }) };
  const send = () => parley.api("POST", `${path}/messages`, message, { "Idempotency-Key": `send ${key}` });
  const id = (await insist(journal, send, [201])).body.message?.id;
  counts.sends++;
  const chance = random.next();
  if (chance < 0.4) {
    await insist(journal, () => parley.admin("POST", `${path}/messages/${id}/redact`), DONE);
    counts.redactions++;
    return;
  }
  journal.left.add(`${chatId}/${mediaId}`);
  if (chance > 0.7 && isLater) {
    await insist(journal, () => parley.api("POST", `${path}/messages/${id}/cancel`), [200]);
    counts.cancellations++;
  }
}

/** Calls until there is an answer. */
async function insist({ faults }: Journal, call: () => Promise<Answer>, wanted: readonly number[]): Promise<Answer> {
  for (;;) {
    const answer = await call();
    if (answer.status === 0 || answer.status === 503) {
      await delay(30);
      continue;
    }
    if (!wanted.includes(answer.status))
      faults.push(`a call was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer;
  }
}

/** The files of chats in the buckets: their keys without the lives. */
async function stored(state: string, chats: readonly string[]): Promise<string[]> {
  const entries = await readdir(state, { recursive: true, withFileTypes: true });
  const keys: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (!path.includes(`${sep}r2${sep}`) || !entry.name.endsWith(".sqlite")) continue;
    const found = await withCopy(path, (database) => {
      const hasObjects = database.prepare("select 1 from sqlite_schema where name = '_mf_objects'").all().length > 0;
      return hasObjects ? database.prepare("select key from _mf_objects").all() : [];
    });
    keys.push(...found.map(({ key }) => String(key)));
  }
  const own = keys.filter((key) => chats.some((chatId) => key.startsWith(`${chatId}/`)));
  return own.map((key) => key.replace(/\/\d+\//, "/"));
}

function differences(wanted: ReadonlySet<string>, found: readonly string[]): string[] {
  const there = new Set(found);
  return [
    ...[...wanted].filter((key) => !there.has(key)).map((key) => `${key} is missing`),
    ...found.filter((key) => !wanted.has(key)).map((key) => `${key} is left`),
  ];
}
