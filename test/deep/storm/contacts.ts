import { setTimeout as delay } from "node:timers/promises";
import type { Ground } from "./ground.ts";
import type { FakeNetwork } from "./network.ts";
import { type Message, Parley } from "./parley.ts";
import { type Force, type Row, until } from "./storm.ts";

const CONTACTS = 12;
/** Every third chat is deleted. */
const DELETED_EVERY = 3;
const AGAIN_AFTER_MS = 30;
const PATIENCE_MS = 120_000;

/** A contact, the ids that callers got for the contact's chat, and the texts that the service confirmed. */
export interface Contact {
  address: string;
  ids: string[];
  texts: string[];
}

/** What the list of chats shows of a contact: the ids of all its chats, and the messages of the first. */
export interface Listed {
  ids: string[];
  messages: Pick<Message, "seq" | "content">[];
}

/**
 * kill -9 while new contacts write, the company creates their chats at the same time, and chats are deleted: an address
 * never has two chats, each confirmed message is stored once, and a deleted chat is gone.
 */
export async function contacts({ rounds, random, log }: Force, { server, telegram }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channel = await telegram.channel(parley);
  const faults: string[] = [];
  let [created, deleted, expected] = [0, 0, 0];
  const amidKill = async (work: Promise<unknown>[]) => {
    await delay(random.between(5, 400));
    await server.kill().gone;
    await server.start();
    await Promise.all(work);
  };
  for (let round = 1; round <= rounds; round++) {
    const all: Contact[] = Array.from({ length: CONTACTS }, () => {
      return { address: String(random.between(1e9, 9e9)), ids: [], texts: [] };
    });
    const say = (fault: string) => faults.push(`round ${round}: ${fault}`);
    await amidKill(all.flatMap((one) => [write(telegram, one, "Hello"), answer(parley, channel.id, one)]));
    for (const one of all) {
      for (const fault of contactFaults(one, await listed(parley, channel.id, one))) say(`${one.address}: ${fault}`);
    }
    const gone = all.filter((_, nth) => nth % DELETED_EVERY === 0);
    await amidKill(gone.map(({ ids: [id = ""] }) => erase(parley, id)));
    created += all.length;
    deleted += gone.length;
    expected += all.length - gone.length;
    for (const one of gone) {
      const { ids } = await listed(parley, channel.id, one);
      if (ids.length > 0) say(`${one.address} is listed after its deletion`);
    }
    const { pagination } = (await parley.api("GET", `/chats?channel=${channel.id}&limit=1`)).body;
    if (pagination.total !== expected) say(`the list counts ${pagination.total} chats, there are ${expected}`);
    // A contact whose chat was deleted gets a new one, which knows nothing of the first.
    for (const { address } of gone) {
      const again: Contact = { address, ids: [], texts: [] };
      await write(telegram, again, "Hello again");
      for (const fault of contactFaults(again, await listed(parley, channel.id, again))) say(`${address}: ${fault}`);
    }
    created += gone.length;
    expected += gone.length;
    if (round % 10 === 0) log(`  ${round} rounds of contacts`);
  }
  return [
    {
      test: "kills amid new contacts",
      howMany: `${created} chats of new contacts, ${deleted} deleted, ${server.kills} kills`,
      held: "one chat for each address, each confirmed message once, nothing of a deleted chat, and a true count",
      faults,
    },
  ];
}

/** The faults of a contact's chat, which has exactly the confirmed messages. */
export function contactFaults({ ids, texts }: Contact, { ids: found, messages }: Listed): string[] {
  const faults: string[] = [];
  const all = new Set([...ids, ...found]);
  if (all.size !== 1 || found.length !== 1) faults.push(`${all.size} chats were told, ${found.length} are listed`);
  const stored = messages.map(({ content }) => content);
  if (stored.toSorted().join() !== texts.toSorted().join()) {
    faults.push(`confirmed: ${texts.join()}; stored: ${stored.join()}`);
  }
  if (messages.some(({ seq }, at) => seq !== at + 1)) faults.push("the sequence has a gap");
  return faults;
}

let updates = 0;

/** The network brings a message until the service confirms it. */
async function write(network: FakeNetwork, { address, texts }: Contact, text: string): Promise<void> {
  const n = ++updates;
  while ((await network.deliver(n, address, text)) !== 200) await delay(AGAIN_AFTER_MS);
  texts.push(text);
}

/** The company creates the contact's chat and sends a message, until the service confirms both. */
async function answer(parley: Parley, channelId: string, { address, ids, texts }: Contact): Promise<void> {
  const { status, body } = await parley.insist("POST", "/chats", { channelId, contact: { address } });
  if (status !== 200 && status !== 201) throw new Error(`a new chat was answered ${status}: ${JSON.stringify(body)}`);
  const { id } = body.chat;
  ids.push(id);
  const content = `Welcome, ${address}`;
  const sent = await parley.insist(
    "POST",
    `/chats/${id}/messages`,
    { content },
    { "Idempotency-Key": `to ${address}` },
  );
  if (sent.status !== 201) throw new Error(`a send was answered ${sent.status}: ${JSON.stringify(sent.body)}`);
  texts.push(content);
}

/** Deletes a chat. 404: the call that the kill cut off had deleted it. */
async function erase(parley: Parley, id: string): Promise<void> {
  const isGone = async () => [200, 404].includes((await parley.admin("DELETE", `/chats/${id}`)).status);
  if (!(await until(isGone, PATIENCE_MS))) throw new Error(`${id} was not deleted`);
}

async function listed(parley: Parley, channelId: string, { address }: Contact): Promise<Listed> {
  const { chats } = (await parley.insist("GET", `/chats?channel=${channelId}&contact=${address}`)).body;
  const ids = chats.map(({ id }: { id: string }) => id);
  return { ids, messages: ids[0] ? (await parley.messages(ids[0])).messages : [] };
}
