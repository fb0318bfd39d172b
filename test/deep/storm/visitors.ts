import { randomUUID } from "node:crypto";
import { subprotocols } from "../../../src/web/visitor/identity.ts";
import { hashOf } from "../../support/world/identity.ts";
import { wanted } from "../../support/world/world.ts";
import { brittleLine } from "./brittle-line.ts";
import type { Ground } from "./ground.ts";
import { type Message, Parley } from "./parley.ts";
import { type Force, type Row, until } from "./storm.ts";
import { Tab, type TabPlace } from "./tab.ts";

const MAX_VISITORS = 20;
const VISITORS_A_ROUND = 4;
/** In each turn; a visitor may write 60 an hour. */
const WRITTEN = 6;
const MAX_WRITTEN = 60;
const COMPANY = { meanwhile: 10, offline: 4 };
const PATIENCE_MS = 400_000;

/**
 * Visitors, each with a tab and its duplicate, on a line that is cut every two seconds, while the company writes to
 * them and the server is killed once: all is stored once and shown once, in order, and delivered when a page says so.
 */
export async function visitors({ rounds, random, log }: Force, { server }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channel = await parley.channel("web");
  const line = await brittleLine(server.base, random);
  const howMany = Math.min(MAX_VISITORS, VISITORS_A_ROUND * rounds);
  const written = Math.min(WRITTEN, Math.floor(MAX_WRITTEN / rounds));
  const faults: string[] = [];
  let turns = 0;
  let [stored, seen] = [0, 0];

  async function visitor(nth: number): Promise<void> {
    const user = `user-${nth}-${randomUUID()}`;
    const hash = hashOf(channel, user);
    const protocols = subprotocols({ kind: "user", user, hash, expires: null }) ?? [];
    const url = `ws://${line.host}/web/${channel.id}/socket`;
    const place: TabPlace = { url, protocols, from: `198.51.100.${nth}`, random, acknowledged: 0, faults: [] };
    const chatId = await parley.chat(channel.id, user);
    const own: string[] = [];
    const company: string[] = [];
    const say = async (content: string) => {
      company.push(content);
      const sent = await parley.insist(
        "POST",
        `/chats/${chatId}/messages`,
        { content },
        // A key has no comma.
        { "Idempotency-Key": content.replaceAll(",", "") },
      );
      const { message } = wanted(201, sent);
      if (message.status !== "SENT" && message.seq > place.acknowledged)
        place.faults.push(`stored as ${message.status}`);
    };
    const tab = new Tab(place);
    for (let turn = 1; turn <= rounds; turn++) {
      for (let n = 1; n <= written; n++) {
        own.push(`visitor ${nth}, turn ${turn}, message ${n}`);
        tab.session.write(own.at(-1) ?? "");
      }
      const duplicate = tab.duplicate();
      for (let n = 1; n <= COMPANY.meanwhile; n++) await say(`company to ${nth}, turn ${turn}, message ${n}`);
      const expected = own.length + company.length;
      const settled = await until(async () => [tab, duplicate].every((one) => one.isSettled(expected)), PATIENCE_MS);
      if (!settled)
        place.faults.push(`turn ${turn} did not come to rest: ${standing([tab, duplicate])} of ${expected}`);
      const log = await insistentMessages(parley, chatId);
      for (const one of [tab, duplicate]) place.faults.push(...viewFaults(one.conversation, log));
      place.faults.push(...deliveryFaults(log, place.acknowledged));
      duplicate.close();
      tab.goOffline();
      for (let n = 1; n <= COMPANY.offline; n++) await say(`company to ${nth} offline, turn ${turn}, message ${n}`);
      place.faults.push(...deliveryFaults(await insistentMessages(parley, chatId), place.acknowledged));
      tab.goOnline();
      turns++;
    }
    const expected = own.length + company.length;
    if (!(await until(async () => tab.isSettled(expected), PATIENCE_MS))) place.faults.push("it did not catch up");
    tab.close();
    const log = await insistentMessages(parley, chatId);
    place.faults.push(...viewFaults(tab.conversation, log), ...chatFaults(log, own, company));
    stored += log.length;
    seen += tab.conversation.entries.length;
    faults.push(...place.faults.map((fault) => `visitor ${nth}: ${fault}`));
  }

  try {
    const all = Promise.all(Array.from({ length: howMany }, (_, nth) => visitor(nth + 1)));
    // `all` tells.
    all.catch(() => {});
    await Promise.race([all, until(async () => turns >= (howMany * rounds) / 2, PATIENCE_MS * rounds)]);
    await server.kill().gone;
    await server.start();
    log("  killed");
    await all;
  } finally {
    await line.close();
  }
  return [
    {
      test: "visitors on a bad line",
      howMany: `${howMany} visitors with duplicated tabs, ${rounds} turns, ${line.cuts} cuts, 1 kill`,
      held: `${stored} stored once and in order, ${seen} shown once and in order; delivered when a page said so`,
      faults,
    },
  ];
}

/** What a tab that has come to rest shows, and what is stored: `log` with the oldest first. */
export function viewFaults(
  { entries, outbox }: Pick<Tab["conversation"], "entries" | "outbox">,
  log: Pick<Message, "seq" | "content">[],
): string[] {
  const faults: string[] = [];
  if (outbox.length > 0) faults.push(`a tab still sends ${outbox.length}`);
  const first = entries[0]?.message.seq ?? 1;
  const stored = log.slice(first - 1).map(({ content }) => content);
  const shown = entries.map(({ message }) => message.content);
  const wrong = stored.findIndex((content, at) => content !== shown[at]);
  if (wrong >= 0) faults.push(`a tab shows "${shown[wrong]}" in place of "${stored[wrong]}"`);
  if (shown.length > stored.length) faults.push(`a tab shows ${shown.length - stored.length} too many`);
  if (new Set(entries.map(({ key }) => key)).size !== entries.length) faults.push("a tab shows one under two keys");
  return faults;
}

/** Messages that count as delivered though no page had said so. */
export function deliveryFaults(log: Pick<Message, "seq" | "direction" | "status">[], acknowledged: number): string[] {
  return log
    .filter(({ seq, direction, status }) => direction === "OUTBOUND" && status !== "SENT" && seq > acknowledged)
    .map(({ seq, status }) => `${seq} is ${status}, pages said ${acknowledged}`);
}

/** What is wrong with a chat in which these were written, each side's in their order. */
export function chatFaults(
  log: Pick<Message, "seq" | "direction" | "content" | "status">[],
  own: string[],
  company: string[],
): string[] {
  const faults: string[] = [];
  if (log.some(({ seq }, at) => seq !== at + 1)) faults.push("the sequence has a gap");
  for (const [direction, written] of [
    ["INBOUND", own],
    ["OUTBOUND", company],
  ] as const) {
    const stored = log.filter((message) => message.direction === direction).map(({ content }) => content);
    for (const content of written) {
      const times = stored.filter((one) => one === content).length;
      if (times !== 1) faults.push(`stored ${times} times: ${content}`);
    }
    if (stored.length > written.length) faults.push(`${stored.length - written.length} are stored that nobody wrote`);
    const isInOrder = stored.every(
      (content, at) => at === 0 || written.indexOf(content) >= written.indexOf(stored[at - 1] ?? ""),
    );
    if (!isInOrder) faults.push(`${direction} is out of order`);
  }
  const late = log.filter(({ direction, status }) => direction === "OUTBOUND" && status === "SENT").length;
  if (late > 0) faults.push(`${late} were never delivered`);
  return faults;
}

function standing(tabs: Tab[]): string {
  return tabs
    .map(({ conversation: { entries, outbox, caughtUp } }) => {
      const { trouble } = outbox[0] ?? {};
      return `${entries.at(-1)?.message.seq ?? 0} shown, ${outbox.length} to send${trouble ? ` (${trouble.code})` : ""}${caughtUp ? "" : ", behind"}`;
    })
    .join("; ");
}

/** The chat's messages, over a kill too. */
async function insistentMessages(parley: Parley, chatId: string): Promise<Message[]> {
  let found: Message[] = [];
  const read = async () => {
    found = (await parley.messages(chatId)).messages;
    return true;
  };
  await until(() => read().catch(() => false), PATIENCE_MS);
  return found;
}
