import { setTimeout as delay } from "node:timers/promises";
import { deliveredUpTo } from "../../../src/web/visitor/acknowledgments.ts";
import { subprotocols } from "../../../src/web/visitor/identity.ts";
import type { Channel } from "../../support/world/factories.ts";
import { hashOf } from "../../support/world/identity.ts";
import { type BrittleLine, brittleLine } from "./brittle-line.ts";
import { logFaults, wireFaults } from "./checks.ts";
import type { Ground } from "./ground.ts";
import { type Contact, MixedTraffic, prepareMixed, visitorName, type Written } from "./mixed-traffic.ts";
import { type Message, Parley } from "./parley.ts";
import type { Random } from "./random.ts";
import { atMost, type Force, type Row, until } from "./storm.ts";
import { Tab, type TabPlace } from "./tab.ts";
import { deliveryFaults, viewFaults } from "./visitors.ts";
import type { DirectoryTally } from "./worker/tally.ts";

/** When D1 is down, as shares of the time. */
const OUTAGE = { begins: 0.45, ends: 0.55 };
const VISITORS = 6;
/** A visitor may write 60 messages an hour, and not many at once. */
const VISITOR_WRITES = { atMost: 40, everyMs: 2_000 };
const READERS = 8;
const PATIENCE_MS = 120_000;

interface Visitor {
  contact: Contact;
  place: TabPlace;
  tab: Tab;
}

/**
 * Sends, webhooks, statuses, refusals, visitors and new chats at the same time, and D1 is down for a tenth of it: no
 * request fails but the operator's, nothing acknowledged is lost, and the traffic writes nothing to D1.
 */
export async function mixed(force: Force, { server, directory, telegram, whatsapp }: Ground): Promise<Row[]> {
  const { minutes, random, log } = force;
  const networks = [telegram, whatsapp];
  const parley = await Parley.begin(server);
  const place = await prepareMixed(parley, networks, random);
  const web = await parley.channel("web");
  const line = await brittleLine(server.base, random);
  const untoldBefore = whatsapp.refusedStatuses.length;
  const visitors = await Promise.all(
    Array.from({ length: VISITORS }, (_, nth) => beginVisitor(parley, web, line, random, nth + 1)),
  );
  const before = await directory.tally();
  const traffic = new MixedTraffic(
    place,
    visitors.map(({ contact }) => contact),
    random,
  );
  const ms = minutes * 60_000;
  const times = Math.min(VISITOR_WRITES.atMost, Math.floor(ms / VISITOR_WRITES.everyMs));
  const writing = write(visitors, traffic.written, { times, everyMs: ms / (times + 1) });
  await delay(ms * OUTAGE.begins);
  traffic.directory = "changing";
  await directory.takeDown();
  traffic.directory = "down";
  log("  D1 is down");
  await delay(ms * (OUTAGE.ends - OUTAGE.begins));
  traffic.directory = "changing";
  await directory.bringBack();
  traffic.directory = "up";
  log("  D1 is back");
  await delay(ms * (1 - OUTAGE.ends));
  await traffic.stop();
  await writing;
  const isSent = async () => visitors.every(({ tab }) => tab.conversation.outbox.length === 0);
  await until(isSent, PATIENCE_MS);
  const { written, faults, inOutage } = traffic;
  for (const status of whatsapp.refusedStatuses.slice(untoldBefore)) faults.push(`a status was answered ${status}`);
  const stored = await judgeChats(parley, written, faults);
  for (const visitor of visitors) faults.push(...(await visitorFaults(parley, visitor)));
  await line.close();
  const spent = difference(before, await directory.tally());
  faults.push(...outageFaults(spent, inOutage));
  const acknowledged = written.filter(({ answer, keyed }) => answer || keyed).length;
  return [
    {
      test: "mixed traffic",
      howMany: `${Math.round(minutes * 60)} s, ${traffic.requests} requests, ${acknowledged} messages acknowledged in ${stored.chats} chats, ${VISITORS} visitors, ${line.cuts} cuts`,
      held: `no request failed; ${stored.messages} stored, each once and in order; ${stored.statuses} WhatsApp messages delivered by status; D1: ${spent.calls} calls, ${spent.rowsWritten} rows written`,
      faults,
    },
    {
      test: "D1 down meanwhile",
      howMany: `${Math.round(minutes * 60 * (OUTAGE.ends - OUTAGE.begins))} s, ${inOutage.requests} requests, ${spent.failed} calls of D1 failed`,
      held: `${inOutage.newContacts} new contacts stored, ${inOutage.templates} templates filled, ${inOutage.newChats} chats created; only the operator got 503`,
      faults: [],
    },
  ];
}

async function beginVisitor(
  parley: Parley,
  web: Channel,
  line: BrittleLine,
  random: Random,
  nth: number,
): Promise<Visitor> {
  const user = visitorName(nth);
  const protocols = subprotocols({ kind: "user", user, hash: hashOf(web, user), expires: null }) ?? [];
  const url = `ws://${line.host}/web/${web.id}/socket`;
  const place: TabPlace = { url, protocols, from: `198.51.100.${nth}`, random, acknowledged: 0, faults: [] };
  const chatId = await parley.chat(web.id, user);
  return { contact: { network: null, channelId: web.id, address: user, chatId }, place, tab: new Tab(place) };
}

/** Each visitor writes `times` messages. */
async function write(
  visitors: Visitor[],
  written: Written[],
  { times, everyMs }: { times: number; everyMs: number },
): Promise<void> {
  for (let n = 1; n <= times; n++) {
    await delay(everyMs);
    for (const { contact, tab } of visitors) {
      const content = `visitor ${contact.address}, message ${n}`;
      // A page sends it until it is stored.
      const chatId = contact.chatId ?? "";
      written.push({ contact, chatId, content, text: content, sender: -3, keyed: true, answer: null });
      tab.session.write(content);
    }
  }
}

/** Waits until all is delivered, and adds what is wrong with the chats to `faults`. */
async function judgeChats(parley: Parley, written: Written[], faults: string[]) {
  const count = { chats: 0, messages: 0, statuses: 0 };
  const byContact = Map.groupBy(written, ({ contact: { channelId, address } }) => `${channelId} ${address}`);
  const judge = async (all: Written[]): Promise<void> => {
    const { contact } = all[0] as Written;
    const { network, channelId, address } = contact;
    const chatId = contact.chatId ?? (await parley.chatOf(channelId, address));
    if (chatId === null) {
      if (all.some(({ keyed }) => keyed)) faults.push(`${address}: an acknowledged message has no chat`);
      return;
    }
    let { messages, total } = await parley.messages(chatId);
    await until(async () => {
      if (messages.every((message) => isDone(message, network?.kind ?? "web"))) return true;
      ({ messages, total } = await parley.messages(chatId));
      return false;
    }, PATIENCE_MS);
    const sent = messages.filter(({ direction }) => direction === "OUTBOUND");
    const found = [...logFaults(messages, total, all), ...textFaults(messages, all)];
    if (network) {
      const heard = network.heard.get(address) ?? [];
      found.push(
        ...wireFaults(
          sent.map((message) => ({ ...message, content: message.text })),
          heard,
          network.repeats,
        ),
      );
    }
    const waiting = messages.filter((message) => !isDone(message, network?.kind ?? "web"));
    for (const { seq, status } of waiting) found.push(`${seq} stayed ${status}`);
    faults.push(...found.map((fault) => `${address}: ${fault}`));
    count.chats++;
    count.messages += messages.length;
    if (network?.kind === "whatsapp") count.statuses += sent.length;
  };
  await atMost(
    READERS,
    [...byContact.values()].map((all) => () => judge(all)),
  );
  return count;
}

/** Whether nothing more happens to a message. */
function isDone({ direction, status }: Message, kind: "telegram" | "web" | "whatsapp"): boolean {
  return direction === "INBOUND" || status === "FAILED" || status === (kind === "telegram" ? "SENT" : "DELIVERED");
}

/** Messages that are not stored with the text that their readers must see. */
export function textFaults(
  messages: Pick<Message, "content" | "text">[],
  written: Pick<Written, "content" | "text">[],
) {
  const texts = new Map(written.map(({ content, text }) => [content, text]));
  return messages.flatMap(({ content, text }) => {
    const wanted = texts.get(content);
    return wanted === undefined || wanted === text ? [] : [`the text of "${content}" is "${text}"`];
  });
}

async function visitorFaults(parley: Parley, { contact, place, tab }: Visitor): Promise<string[]> {
  const { messages } = await parley.messages(contact.chatId ?? "");
  const isSettled = await until(async () => tab.isSettled(messages.length), PATIENCE_MS);
  tab.close();
  const faults = [...place.faults, ...viewFaults(tab.conversation, messages)];
  faults.push(...deliveryFaults(messages, place.acknowledged));
  const { entries, outbox, caughtUp } = tab.conversation;
  const state = `${entries.length} shown, ${outbox.length} to send, ${deliveredUpTo(tab.conversation)} to acknowledge`;
  if (!isSettled) faults.push(`its page did not come to rest: ${state}${caughtUp ? "" : ", behind"}`);
  return faults.map((fault) => `${contact.address}: ${fault}`);
}

/** What is wrong with the use of D1, and what the outage did not meet. */
export function outageFaults(
  { rowsWritten, failed }: Pick<DirectoryTally, "failed" | "rowsWritten">,
  { newContacts, templates, newChats }: MixedTraffic["inOutage"],
): string[] {
  const faults: string[] = [];
  if (rowsWritten !== 0) faults.push(`the traffic wrote ${rowsWritten} rows to D1`);
  if (failed === 0) faults.push("no call of D1 failed in the outage");
  if (newContacts === 0) faults.push("no new contact was stored in the outage");
  if (templates === 0) faults.push("no template was filled in the outage");
  if (newChats === 0) faults.push("no chat was created in the outage");
  return faults;
}

function difference(before: DirectoryTally, after: DirectoryTally): DirectoryTally {
  return {
    calls: after.calls - before.calls,
    rowsWritten: after.rowsWritten - before.rowsWritten,
    failed: after.failed - before.failed,
  };
}
