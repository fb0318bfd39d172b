import { callObject } from "../calls/call-object.ts";
import type { ChannelRecord } from "../calls/channel-record.ts";
import type { Adapter } from "../channels/network/adapter.ts";
import { ADAPTERS, networkOf } from "../channels/registry.ts";
import type { ChannelNews } from "../model/channel-warning.ts";
import { ApiError, unavailable } from "../model/error.ts";
import type { InboundItem, ParsedWebhook, UnknownName } from "../model/network.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { isRecent } from "../platform/clock.ts";
import { doEach } from "../platform/concurrency.ts";
import { causeOf, warnIfFails } from "../platform/log.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { accountFinder } from "./account.ts";
import { storeItem } from "./store-item.ts";

/** A call of a webhook: its channel, our origin, and the id of the request for the log. */
interface Call {
  channel: ChannelRecord;
  origin: string;
  requestId: string;
  /** Does work after the response. */
  waitUntil(work: Promise<void>): void;
}

/**
 * Stores the items of a call. The items of one contact are stored in order, those of different contacts concurrently. A
 * call can have items of hundreds of contacts, so concurrency is limited.
 * @throws ApiError `unavailable` if an item could not be stored, after the items of other contacts were processed
 */
export async function storeWebhook(env: Env, call: Call, webhook: ParsedWebhook & { genuine: true }): Promise<void> {
  for (const [note, { length }] of Map.groupBy(webhook.notes, (each) => each)) {
    logWebhook(call, call.channel, length > 1 ? `${note}, ${length} times` : note);
  }
  const notStored = notStoredOf(webhook);
  const findAccount = accountFinder(
    env,
    call.channel,
    [...webhook.items, ...notStored].map(({ account }) => account),
  );
  for (const [account, unknown] of Map.groupBy(notStored, (each) => each.account)) {
    const names = unknown.map(({ name }) => name);
    const count = async () => {
      const channel = await findAccount(account);
      if (channel) await countNames(env, channel, names);
    };
    call.waitUntil(warnIfFails({ event: "channel_news_lost", channelId: call.channel.id }, count));
  }
  const accounts = new Map<string | null, Promise<ChannelRecord | null>>();
  await doEach(byContact(webhook.items), async (items) => {
    const [{ account } = { account: null }] = items;
    let found = accounts.get(account);
    if (!found) accounts.set(account, (found = findAccount(account)));
    const channel = await found;
    if (channel) await storeInOrder(env, call, channel, items);
    else logWebhook(call, call.channel, `unknown_account, ${items.length} items`);
  });
}

const GROUPS = "The number is in a group. Messages of groups are not stored";
/** How many names an isolate remembers of a channel. The channel counts fewer. */
const MAX_COUNTED = 200;
/** How long an isolate keeps counts of what it has told a channel already. */
const COUNTED_MS = 60_000;

/** What an isolate has told a channel, and what it has counted since. Of things in groups, the name is "". */
interface Counted {
  toldAt: number;
  told: Set<string>;
  counts: Record<string, number>;
}

const counted = perIsolate(() => new BoundedMap<string, Counted>(1_000));

/** What a call has that can't be stored. Of things in groups, the name is "". */
function notStoredOf({ unknown = [], groups = [] }: ParsedWebhook & { genuine: true }): UnknownName[] {
  return [...unknown, ...groups.map((account) => ({ account, name: "" }))];
}

/**
 * Tells a channel what it can't store: a new name at once, further counts of a name once a minute, with the next one.
 * These counts delay no response, and may be lost.
 */
async function countNames(env: Env, { id, region }: ChannelRecord, names: string[]): Promise<void> {
  const now = Date.now();
  const none: Counted = { toldAt: 0, told: new Set(), counts: {} };
  const { toldAt, told, counts } = counted(env).get(id) ?? none;
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  const waits = isRecent(toldAt, COUNTED_MS, now) && names.every((name) => told.has(name));
  if (waits) {
    counted(env).set(id, { toldAt, told, counts });
    return;
  }
  const isKept = told.size + names.length <= MAX_COUNTED;
  counted(env).set(id, { toldAt: now, told: new Set([...(isKept ? told : []), ...names]), counts: {} });
  const { "": inGroups = 0, ...byName } = counts;
  const news: ChannelNews = {
    ...(Object.keys(byName).length > 0 && { unknown: byName }),
    ...(inGroups > 0 && { warnings: [{ code: "groups_not_supported", text: GROUPS, count: inGroups }] }),
  };
  await callObject(env.CHANNELS, id, (channel) => channel.takeNews(id, news), region);
}

/**
 * The items in groups: each has all items of one contact, by all addresses that they name, or all of one template. Changes
 * of addresses come first, and a message or an echo brings them along: it may create the chat.
 */
function byContact(items: InboundItem[]): InboundItem[][] {
  const groups = new Map<string, Group>();
  for (const [index, { account, item }] of items.entries()) {
    let group: Group = { items: [index], into: null };
    for (const subject of subjectsOf(item)) {
      const name = JSON.stringify([account, subject]);
      const known = groups.get(name);
      if (known) group = joined(group, lastOf(known));
      else groups.set(name, group);
    }
  }
  return [...new Set([...groups.values()].map(lastOf))].map((group) => {
    const indexes = group.items.toSorted((one, other) => one - other);
    return withChangesFirst(indexes.map((index) => items[index] as InboundItem));
  });
}

/** The places of items in a call. A group that went into another one has none. */
interface Group {
  items: number[];
  into: Group | null;
}

function lastOf(group: Group): Group {
  let last = group;
  while (last.into) last = last.into;
  return last;
}

/** Puts the smaller group into the greater one. @returns that one */
function joined(one: Group, other: Group): Group {
  if (one === other) return one;
  const [small, great] = one.items.length < other.items.length ? [one, other] : [other, one];
  for (const index of small.items) great.items.push(index);
  Object.assign(small, { items: [], into: great });
  return great;
}

/** What items have in common that must be stored in order: an address of a contact, or a template. */
function subjectsOf(item: InboundItem["item"]): (string | null)[] {
  switch (item.kind) {
    case "address":
      return [...item.from, ...item.to];
    case "template":
      return [item.name];
    case "account":
      return [item.wabaId];
    case "message":
    case "echo":
    case "status":
    case "marketing":
      return [item.address, ...item.addresses];
    default:
      return [item.address];
  }
}

function withChangesFirst(group: InboundItem[]): InboundItem[] {
  const changes = group.filter(({ item }) => item.kind === "address");
  if (changes.length === 0) return group;
  const linked = changes.flatMap(({ item }) => subjectsOf(item) as string[]);
  const others = group
    .filter(({ item }) => item.kind !== "address")
    .map((each) =>
      each.item.kind === "message" || each.item.kind === "echo"
        ? { ...each, item: { ...each.item, addresses: [...each.item.addresses, ...linked] } }
        : each,
    );
  return [...changes, ...others];
}

async function storeInOrder(env: Env, call: Call, channel: ChannelRecord, items: InboundItem[]): Promise<void> {
  for (const { item, receipt } of items) {
    try {
      const outcome = await storeItem(env, channel, call.origin, item);
      logWebhook(call, channel, `${item.kind} ${outcome}`);
      const isStored = outcome === "stored" || outcome === "repeated";
      if (receipt !== undefined && isStored) call.waitUntil(acknowledge(env, channel, receipt));
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (!isPermanent(error)) throw unavailable(error);
      // The network would repeat the item for days, and hold back the items behind it.
      console.error({ event: "webhook_item_failed", requestId: call.requestId, cause: causeOf(error) });
    }
  }
}

/** Tells the network that an item is stored. */
async function acknowledge(env: Env, { kind, credentials }: ChannelRecord, receipt: string): Promise<void> {
  if (kind === "web") return;
  const adapter: Adapter = ADAPTERS[kind];
  await adapter.acknowledge?.(receipt, credentials, networkOf(env, kind));
}

/**
 * Whether storing an item would fail in the same way each time. After any other error the network must repeat the item. A
 * missing table is not permanent, because the next deploy adds it.
 */
function isPermanent(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof TypeError || cause instanceof RangeError || cause instanceof SyntaxError) return true;
    if (/SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/.test(cause.message)) return true;
  }
  return false;
}

function logWebhook({ requestId }: Call, channel: ChannelRecord, what: string): void {
  console.log({ event: "webhook", requestId, channelId: channel.id, what });
}
