import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Channel } from "../../support/world/factories.ts";
import { wanted } from "../../support/world/world.ts";
import { type FakeNetwork, TEMPLATE } from "./network.ts";
import type { Parley } from "./parley.ts";
import type { Random } from "./random.ts";
import type { Said } from "./senders.ts";

const PAUSE_MS = 100;
const KNOWN_A_NETWORK = 8;
/** How many of the webhooks come from a contact who never wrote before. */
const NEW_SHARE = 0.2;
const TEMPLATE_SHARE = 0.5;
/** Of each network. */
const WEBHOOK_CONNECTIONS = 2;
const SENDERS = 4;

export interface Contact {
  /** Null for a visitor of the web channel. */
  network: FakeNetwork | null;
  channelId: string;
  address: string;
  /** Null if a webhook creates the chat. */
  chatId: string | null;
}

/** A message that someone wrote. `text` is what its reader must see. */
export interface Written extends Said {
  text: string;
  contact: Contact;
}

/** What was done while D1 was down, as the service acknowledged it. */
interface DoneInOutage {
  requests: number;
  newContacts: number;
  templates: number;
  newChats: number;
}

/** What must be there before the traffic begins: from then on nobody configures anything. */
export interface MixedPlace {
  parley: Parley;
  networks: FakeNetwork[];
  channels: Map<FakeNetwork, Channel>;
  known: Contact[];
  memberId: string;
  templateId: string;
  /** Keys whose requests must be refused, each with its status. */
  refused: { key: Parley; status: 401 | 429 }[];
}

export async function prepareMixed(parley: Parley, networks: FakeNetwork[], random: Random): Promise<MixedPlace> {
  const channels = new Map<FakeNetwork, Channel>();
  const known: Contact[] = [];
  for (const network of networks) {
    const channel = await network.channel(parley);
    channels.set(network, channel);
    for (let n = 0; n < KNOWN_A_NETWORK; n++) {
      const address = String(random.between(4e9, 5e9));
      known.push({ network, channelId: channel.id, address, chatId: await parley.chat(channel.id, address) });
    }
  }
  const path = `/organizations/${parley.organizationId}`;
  const { member } = wanted(201, await parley.admin("POST", `${path}/members`, { name: "Ben" }));
  const made = await parley.admin("POST", `${path}/templates`, TEMPLATE);
  const revoked = await parley.newKey();
  await parley.as(revoked.secret).api("GET", "/key");
  wanted(200, await parley.admin("DELETE", `/keys/${revoked.id}`));
  const limited = parley.as((await parley.newKey({ rateLimit: { limit: 1, windowSeconds: 3_600 } })).secret);
  wanted(200, await limited.api("GET", "/key"));
  const forged = parley.key.slice(0, -1) + (parley.key.endsWith("A") ? "B" : "A");
  const refused: MixedPlace["refused"] = [
    { key: parley.as(forged), status: 401 },
    { key: parley.as(revoked.secret), status: 401 },
    { key: limited, status: 429 },
  ];
  return { parley, networks, channels, known, memberId: member.id, templateId: wanted(201, made).template.id, refused };
}

/** Everything that reaches a service in use, all at once, until it is stopped. */
export class MixedTraffic {
  readonly written: Written[] = [];
  readonly faults: string[] = [];
  readonly inOutage: DoneInOutage = { requests: 0, newContacts: 0, templates: 0, newChats: 0 };
  requests = 0;
  /** The state of D1. While it is down, the operator's requests fail, and no others. */
  directory: "changing" | "down" | "up" = "up";
  readonly #place: MixedPlace;
  readonly #random: Random;
  readonly #all: Promise<unknown>;
  /** Also visitors' chats, which their pages created. */
  readonly #chats: Contact[];
  #isOver = false;
  #last = 0;

  constructor(place: MixedPlace, visitors: Contact[], random: Random) {
    this.#place = place;
    this.#random = random;
    this.#chats = [...place.known, ...visitors];
    const webhooks = place.networks.flatMap((network) =>
      Array.from({ length: WEBHOOK_CONNECTIONS }, () => this.#repeat(() => this.#webhook(network))),
    );
    this.#all = Promise.all([
      ...Array.from({ length: SENDERS }, (_, sender) => this.#repeat(() => this.#send(sender))),
      ...webhooks,
      this.#repeat(() => this.#newChat()),
      this.#repeat(() => this.#list()),
      this.#repeat(() => this.#beRefused()),
      this.#repeat(() => this.#operate()),
    ]);
    // `stop` reports a failure.
    this.#all.catch(() => {});
  }

  /** Waits for requests in progress. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#all;
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await work();
      await delay(PAUSE_MS);
    }
  }

  async #send(sender: number): Promise<void> {
    const contact = this.#random.pick(this.#chats);
    const n = ++this.#last;
    const content = `message ${n}`;
    const isFilled = this.#random.next() < TEMPLATE_SHARE;
    const { templateId, memberId: senderId } = this.#place;
    const named = isFilled ? { templateId, senderId, variables: { name: "Ada", order: n } } : {};
    const text = isFilled ? TEMPLATE.body.replace("{{name}}", "Ada").replace("{{order}}", String(n)) : content;
    const isSent = await this.#write({ contact, content, text, sender }, named);
    if (isSent && isFilled && this.#isDown) this.inOutage.templates++;
  }

  async #newChat(): Promise<void> {
    const network = this.#random.pick(this.#place.networks);
    const channelId = this.#place.channels.get(network)?.id ?? "";
    const address = String(5_100_000_000 + ++this.#last);
    const { parley } = this.#place;
    const { status, body } = await parley.api("POST", "/chats", { channelId, contact: { address } });
    if (!this.#judge("a new chat", status, 201)) return;
    const contact: Contact = { network, channelId, address, chatId: body.chat.id };
    const content = `welcome ${this.#last}`;
    const isSent = await this.#write({ contact, content, text: content, sender: -1 }, {});
    if (isSent && this.#isDown) this.inOutage.newChats++;
  }

  /** Sends a message, and records it. @returns whether it was acknowledged */
  async #write(of: Pick<Written, "contact" | "content" | "text" | "sender">, named: object): Promise<boolean> {
    const written: Written = { ...of, chatId: of.contact.chatId ?? "", keyed: false, answer: null };
    this.written.push(written);
    const { content } = of;
    const path = `/chats/${written.chatId}/messages`;
    const { status, body } = await this.#place.parley.api("POST", path, { content, ...named });
    if (!this.#judge("a send", status, 201)) return false;
    written.answer = { id: body.message.id, seq: body.message.seq };
    if (body.message.text !== of.text) this.faults.push(`a send was answered with the text ${body.message.text}`);
    return true;
  }

  async #webhook(network: FakeNetwork): Promise<void> {
    const n = ++this.#last;
    const isNew = this.#random.next() < NEW_SHARE;
    const channelId = this.#place.channels.get(network)?.id ?? "";
    const contact: Contact = isNew
      ? { network, channelId, address: String(5_100_000_000 + n), chatId: null }
      : this.#random.pick(this.#place.known.filter((one) => one.network === network));
    const content = `event ${n}`;
    const { chatId } = contact;
    const written: Written = {
      contact,
      chatId: chatId ?? "",
      content,
      text: content,
      sender: -2,
      keyed: false,
      answer: null,
    };
    this.written.push(written);
    const status = await network.deliver(n, contact.address, content);
    if (!this.#judge(`a webhook of ${isNew ? "a new" : "a known"} contact`, status, 200)) return;
    // From here on it must be stored.
    written.keyed = true;
    if (isNew && this.#isDown) this.inOutage.newContacts++;
  }

  async #list(): Promise<void> {
    const { chatId } = this.#random.pick(this.#chats);
    const path = this.#random.pick(["/chats", `/chats/${chatId}/messages`, `/chats/${chatId}`]);
    this.#judge(`GET ${path}`, (await this.#place.parley.api("GET", path)).status, 200);
  }

  async #beRefused(): Promise<void> {
    const { key, status } = this.#random.pick(this.#place.refused);
    const from = `198.18.${this.#random.between(0, 255)}.${this.#random.between(1, 254)}`;
    const answer = await key.api("GET", "/chats", undefined, { "CF-Connecting-IP": from });
    this.#judge("a refused key", answer.status, status);
  }

  /** The operator's requests need D1, so they show whether it is down. */
  async #operate(): Promise<void> {
    const before = this.directory;
    const { parley } = this.#place;
    const { status } = await parley.admin("GET", `/organizations/${parley.organizationId}`);
    if (before !== this.directory || before === "changing") return;
    this.#judge("the operator", status, before === "down" ? 503 : 200);
  }

  get #isDown(): boolean {
    return this.directory === "down";
  }

  #judge(what: string, status: number, expected: number): boolean {
    this.requests++;
    if (this.#isDown) this.inOutage.requests++;
    if (status === expected) return true;
    this.faults.push(
      `${what} was answered ${status}${this.directory === "up" ? "" : ` while D1 was ${this.directory}`}`,
    );
    return false;
  }
}

/** A name that no other run uses. */
export function visitorName(nth: number): string {
  return `user-${nth}-${randomUUID()}`;
}
