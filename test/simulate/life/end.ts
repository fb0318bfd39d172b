import type { SimulatedObject } from "../objects/object.ts";
import type { Bucket } from "./bucket.ts";
import type { Clients } from "./clients.ts";
import type { FileJudge } from "./file-judge.ts";
import type { LifeJudge } from "./judge.ts";
import type { LifeWorld } from "./rules.ts";
import { wordsIn } from "./sayings.ts";
import type { Uploads } from "./uploads.ts";
import type { Visitors } from "./visitors.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Longer than the longest wait of a retry that a network asks for. */
const SETTLE_MS = 5 * 3_600_000;
/** Longer than any message is scheduled ahead, with the time until one without a place is removed. */
const ALL_MS = 400 * DAY;
/** How far a chat's clock is set back at most, and some time for the deletion. */
const MAX_SET_BACK_MS = 3 * 3_600_000;
const MAX_EVENTS = 60_000;

const CHANGES = new Set(["message.edited", "message.reaction", "message.redacted"]);

interface End {
  world: LifeWorld;
  judge: LifeJudge;
  clients: Clients;
  visitors: Visitors;
  bucket: Bucket;
  files: FileJudge;
  /** Uploads files that R2 does not delete; null if it deletes all. */
  uploads: Uploads | null;
  chats: readonly SimulatedObject[];
  /** How long the channel keeps its messages; null forever. */
  days: number | null;
}

type Stuck = Pick<End, "world" | "bucket" | "files" | "chats"> & { uploads: Uploads };

interface EventRow {
  type: string;
  seq: number | null;
  note: string | null;
}

/** Faults have stopped: all that waits must end. @throws Violation */
export async function checkEnd({
  world,
  judge,
  clients,
  visitors,
  bucket,
  files,
  uploads,
  chats,
  days,
}: End): Promise<void> {
  const queued = (chat: SimulatedObject) => judge.book(chat)?.queued() ?? [];
  const books = () => new Map(chats.map((chat) => [chat.name, judge.book(chat)]));
  await world.run(world.now + SETTLE_MS, MAX_EVENTS);
  files.checkQuiet(books(), false);
  if (uploads) await leaveStuck({ world, bucket, files, uploads, chats });
  // What R2 still can't delete holds up nothing else.
  files.checkQuiet(books(), false);
  bucket.stuck.clear();
  visitors.end();
  for (const chat of chats) {
    judge.checkAlarm(chat);
    const [head] = queued(chat);
    world.check("ends", !head, () => `${head?.message.id} of ${chat.name} is still queued`);
    clients.send(chat, { scheduledAt: chat.now + 2 * DAY });
    clients.send(chat, {});
  }
  await world.run(world.now + MINUTE, MAX_EVENTS);
  for (const chat of chats) {
    const [head] = queued(chat);
    world.check("delay", !head, () => `${head?.message.id} of ${chat.name} waits`);
    judge.ended(chat);
    checkEvents(world, judge, chat);
  }
  if (days !== null) await checkPurge({ world, judge, chats }, days);
  const isLeft = await world.run(world.now + ALL_MS, MAX_EVENTS);
  for (const chat of chats) {
    const waiting = [...(judge.book(chat)?.in("scheduled") ?? []), ...queued(chat)];
    world.check("ends", waiting.length === 0, () => `${waiting[0]?.message.id} of ${chat.name} still waits`);
    checkEvents(world, judge, chat);
    if (days !== null) world.check("purged", !judge.book(chat), () => `${chat.name} is empty and still there`);
  }
  files.checkQuiet(books(), true);
  world.check("rest", !isLeft, () => "alarms go on");
}

/** Files are uploaded, and a day later R2 can't delete one of each chat. */
async function leaveStuck({ world, bucket, files, uploads, chats }: Stuck): Promise<void> {
  for (const chat of chats) uploads.leave(chat, 3);
  await world.run(world.now + MINUTE, MAX_EVENTS);
  for (const chat of chats) for (const key of files.unused(chat).slice(0, 1)) bucket.stuck.add(key);
  await world.run(world.now + DAY + HOUR, MAX_EVENTS);
}

/** What is stored now is deleted a day after its time at the latest. */
async function checkPurge(
  { world, judge, chats }: Pick<End, "world" | "judge" | "chats">,
  days: number,
): Promise<void> {
  const before = chats.map((chat) => ({ chat, book: judge.book(chat), newest: judge.book(chat)?.newest ?? 0 }));
  await world.run(world.now + days * DAY + DAY + MAX_SET_BACK_MS, MAX_EVENTS);
  for (const { chat, book, newest } of before) {
    const isPurged = judge.book(chat) !== book || (book?.floor ?? 0) >= newest;
    world.check("purged", isPurged, () => `${chat.name} still has messages after ${book?.floor}, up to ${newest}`);
  }
}

/** Each change of a message has its event, once. */
function checkEvents(world: LifeWorld, judge: LifeJudge, chat: SimulatedObject): void {
  const book = judge.book(chat);
  if (!book) return;
  const created = new Map<number, number>();
  const changed = new Map<string, number>();
  const about = new Map<string, number>();
  const rows = chat.storage.read<EventRow>("events", "select type, seq, note from events order by n");
  for (const { type, seq, note } of rows) {
    if (seq !== null) {
      if (CHANGES.has(type)) changed.set(`${type} ${seq}`, (changed.get(`${type} ${seq}`) ?? 0) + 1);
      if (type === "message.created" || type === "message.received") created.set(seq, (created.get(seq) ?? 0) + 1);
      continue;
    }
    const { messageId } = note === null ? {} : (JSON.parse(note) as { messageId?: string });
    const name = `${type} ${messageId}`;
    about.set(name, (about.get(name) ?? 0) + 1);
  }
  const changes = (seq: number | null) => [...CHANGES].map((type) => `${type} ${seq}`);
  for (const { message } of book.in("messages")) {
    for (const name of changes(message.seq)) {
      const [told, right] = [changed.get(name) ?? 0, book.expected.get(name) ?? 0];
      world.check("events", told === right, () => `${message.id} has ${told} events ${name}, and not ${right}`);
    }
    const count = created.get(message.seq ?? 0);
    world.check("events", count === 1, () => `${message.id} has ${count} events of its creation`);
  }
  for (const id of book.scheduled) {
    const isTold = (about.get(`message.scheduled ${id}`) ?? 0) > 0;
    world.check("events", isTold, () => `${id} has no event of its scheduling`);
    const ends = about.get(`message.status ${id}`) ?? 0;
    world.check("events", ends === (book.ended.has(id) ? 1 : 0), () => `${id} has ${ends} events of its end`);
  }
  const words = wordsIn(rows.map(({ note }) => note).join());
  world.check("events", words.length === 0, () => `events have the words ${words.join()}`);
}
