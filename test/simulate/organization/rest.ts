import { type ConversationNews, countMessage } from "../../../src/model/conversation-counts.ts";
import { addCounts, type Counts } from "../../../src/model/counts.ts";
import type { Message } from "../../../src/model/message.ts";
import type { ChatState } from "../../../src/model/organization.ts";
import { RESPONSE_CLASSES } from "../../../src/model/response-time.ts";
import { storedIdentity } from "../objects/identity.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { OrganizationWorld } from "./rules.ts";

/** A chat's row with what the chat has reported. */
interface ReportedRow {
  id: string;
  channel_id: string;
  state: string;
  life: number;
  created_at: number;
  active_at: number | null;
  last_message_at: number | null;
  last_message: string | null;
  unanswered_since: number | null;
  contact_wrote_at: number | null;
  depth: number;
  oldest: number | null;
  attempts: string;
}

interface Service {
  world: OrganizationWorld;
  organization: SimulatedObject;
  chats: ReadonlyMap<string, SimulatedObject>;
  /** How often each chat's object called the network. */
  networkCalls: ReadonlyMap<string, number>;
}

/** Compares all objects when faults have stopped and all alarms have ended. @throws Violation */
export function checkRest({ world, organization, chats, networkCalls }: Service): void {
  const rows = organization.storage.read<ReportedRow>("chats", "select * from chats order by id");
  for (const row of rows) {
    const { id, life, state } = row;
    const object = chats.get(id);
    const held = object && storedIdentity(object)?.life;
    world.check("adopted", state === "adopted", () => `${id} is ${state}`);
    world.check("adopted", held === life, () => `${id} has life ${life}, and its object has ${held}`);
    if (object) checkReport(world, object, row, networkCalls.get(`${id} ${life}`) ?? 0);
  }
  for (const [id, { storage }] of chats) {
    const held = storedIdentity({ storage })?.life;
    const hasRow = rows.some((row) => row.id === id && row.life === held);
    if (held === undefined) world.check("clean", storage.isEmpty, () => `the object of ${id} stores something`);
    else world.check("adopted", hasRow, () => `the object of ${id} has life ${held} and no row`);
  }
  checkChannels(world, organization, rows);
  checkFeed(world, organization, chats, rows);
}

/** The feed points to each event of each chat once, in order. */
function checkFeed(
  world: OrganizationWorld,
  { storage }: SimulatedObject,
  chats: Service["chats"],
  rows: ReportedRow[],
): void {
  const days = storage.read<{ day: number }>("feed_days", "select day from feed_days order by day");
  const pointers = days.flatMap(({ day }) =>
    storage.read<{ chat_id: string | null; life: number | null; first: number; last: number }>(
      `feed_${day}`,
      `select * from feed_${day} order by position`,
    ),
  );
  for (const { id, life } of rows) {
    const bursts = pointers.filter((pointer) => pointer.chat_id === id && pointer.life === life);
    let last = 0;
    for (const burst of bursts) {
      world.check("feed", burst.first === last + 1, () => `the feed goes from ${last} to ${burst.first} in ${id}`);
      last = burst.last;
    }
    // A chat without the table has only been created.
    const newest = chats.get(id)?.storage.read<{ n: number }>("events", "select max(n) as n from events")[0]?.n ?? 1;
    world.check("feed", last === newest, () => `the feed has ${last} events of ${id}, which has ${newest}`);
  }
}

function checkReport(
  world: OrganizationWorld,
  { storage, losses }: SimulatedObject,
  row: ReportedRow,
  networkCalls: number,
): void {
  const documents = storage.read<{ seq: number; doc: string }>(
    "messages",
    "select seq, doc from messages order by seq",
  );
  const messages = documents.map(({ doc }) => JSON.parse(doc) as Message);
  for (const [index, { seq }] of documents.entries()) {
    world.check("dense", seq === index + 1, () => `${row.id} has message ${seq} at place ${index + 1}`);
  }
  const last = messages.at(-1);
  const queued = messages.filter(({ status }) => status === "QUEUED");
  const since = messages.slice(messages.findLastIndex(({ direction }) => direction === "OUTBOUND") + 1)[0];
  const wrote = messages.findLast(({ direction }) => direction === "INBOUND");
  const lastAt = last ? Date.parse(last.createdAt) : null;
  const expected = {
    active_at: Math.max(row.created_at, lastAt ?? 0),
    last_message_at: lastAt,
    lastMessage: last ? [last.id, last.seq, last.text, last.status] : null,
    unanswered_since: since ? Date.parse(since.createdAt) : null,
    contact_wrote_at: wrote ? Date.parse(wrote.createdAt) : null,
    depth: queued.length,
    oldest: queued[0] ? Date.parse(queued[0].createdAt) : null,
  };
  const lastMessage = JSON.parse(row.last_message ?? "null") as ChatState["lastMessage"];
  const known = {
    active_at: row.active_at,
    last_message_at: row.last_message_at,
    lastMessage: lastMessage && [lastMessage.id, lastMessage.seq, lastMessage.text, lastMessage.status],
    unanswered_since: row.unanswered_since,
    contact_wrote_at: row.contact_wrote_at,
    depth: row.depth,
    oldest: row.oldest,
  };
  const [wanted, found] = [JSON.stringify(expected), JSON.stringify(known)];
  world.check("report", wanted === found, () => `${row.id} is known as ${found}, not ${wanted}`);
  // A report has what was counted when it was made. The counts of a lost instance may be missing.
  const isRight = (counted: number, happened: number) => (losses === 0 ? counted === happened : counted <= happened);
  const counted = JSON.parse(row.attempts) as Counts<string>;
  const none = { unansweredSince: null, isUncounted: false, askedAt: null, contactWroteAt: null };
  const news: ConversationNews = { ...none, counts: {}, members: {} };
  for (const { direction, createdAt } of messages) {
    const at = Date.parse(createdAt);
    const message = { isInbound: direction === "INBOUND", at, namedSenderId: null };
    countMessage(news, message, null);
  }
  // These are read from the messages, so that a lost instance loses none.
  const finer = Object.keys(counted).filter((name) => /^r\d/.test(name));
  const names = ["received", "messages", ...Object.keys(RESPONSE_CLASSES), ...finer, ...Object.keys(news.counts)];
  for (const name of new Set(names)) {
    const [reported, happened] = [counted[name] ?? 0, (news.counts as Counts<string>)[name] ?? 0];
    world.check("report", reported === happened, () => `${row.id} reports ${name}: ${reported}, not ${happened}`);
    delete counted[name];
  }
  // A web chat makes no attempts: each of its messages counts as sent.
  const attempts = sum(counted);
  const made = row.channel_id.includes("web") ? (news.counts.messages ?? 0) : networkCalls;
  world.check("report", isRight(attempts, made), () => `${row.id} reports ${attempts} attempts and made ${made}`);
}

function checkChannels(world: OrganizationWorld, organization: SimulatedObject, rows: ReportedRow[]): void {
  const channels = organization.storage.read<{ id: string; depth: number; attempts: string; closed: number }>(
    "channels",
    "select * from channels",
  );
  for (const { id, depth, attempts: counts, closed } of channels) {
    const chats = rows.filter(({ channel_id }) => channel_id === id);
    const depths = chats.reduce((total, chat) => total + chat.depth, 0);
    world.check("numbers", depth === depths, () => `${id} has depth ${depth}, and its chats ${depths}`);
    const reported = chats.reduce<Counts<string>>((all, chat) => addCounts(all, JSON.parse(chat.attempts)), {});
    const counted = JSON.parse(counts) as Counts<string>;
    // Those of deleted chats stay.
    const hasAll = Object.entries(reported).every(([name, count]) => (counted[name] ?? 0) >= (count ?? 0));
    world.check("numbers", hasAll, () => `${id} counts ${counts}, and its chats ${JSON.stringify(reported)}`);
    world.check("erased", closed === 0 || chats.length === 0, () => `${id} is closed and has chats`);
  }
}

function sum(counts: Counts<string>): number {
  return Object.values(counts).reduce<number>((total, count) => total + (count ?? 0), 0);
}
