import type { ChatIdentity } from "../../../src/model/chat-answers.ts";
import type { SendBody } from "../../../src/model/message.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { pickAction } from "../objects/platform.ts";
import { ORGANIZATION_ID } from "../objects/requests.ts";
import { dueAt, networkIdsOf, type Row } from "./book.ts";
import type { Clients } from "./clients.ts";
import { ADDRESSES, type Contacts } from "./contacts.ts";
import type { Elsewhere } from "./elsewhere.ts";
import type { FileJudge } from "./file-judge.ts";
import type { LifeJudge } from "./judge.ts";
import { LABELS } from "./label-judge.ts";
import type { Network } from "./network.ts";
import type { ChannelRetention } from "./retention.ts";
import type { LifeWorld } from "./rules.ts";
import type { Uploads } from "./uploads.ts";
import type { Visitors } from "./visitors.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** What happens in a seed. */
export interface Plan {
  /** Clients upload files. */
  hasFiles: boolean;
  /** The channel has a bot. */
  hasBot: boolean;
  /** Clients close chats and put them off. */
  isWorked: boolean;
  /** Clients give chats labels. */
  isLabeled: boolean;
  /** The channel's retention changes, and days pass. */
  retains: boolean;
  /** How far ahead messages are scheduled, in milliseconds. */
  ahead: readonly number[];
}

interface Parts {
  judge: LifeJudge;
  files: FileJudge;
  retention: ChannelRetention;
  network: Network;
  clients: Clients;
  uploads: Uploads;
  contacts: Contacts;
  elsewhere: Elsewhere;
  visitors: Visitors;
  chats: ReadonlyMap<string, SimulatedObject>;
  /** The chats as their organization has them; null while one is being deleted. */
  identities: ReadonlyMap<string, ChatIdentity | null>;
  /** The chats of websites' visitors. */
  webChats: ReadonlySet<string>;
  /** Deletes a chat, and creates it again. */
  erase(chat: SimulatedObject): void;
}

/** What clients, contacts, visitors and the organization do. */
export class Acts {
  readonly #world: LifeWorld;
  readonly #plan: Plan;
  readonly #parts: Parts;

  constructor(world: LifeWorld, plan: Plan, parts: Parts) {
    this.#world = world;
    this.#plan = plan;
    this.#parts = parts;
  }

  /** One of them does something, in proportions that make the rare common. */
  act(chat: SimulatedObject): void {
    const world = this.#world;
    const clients = this.#parts.clients;
    const isWeb = this.#parts.webChats.has(chat.name);
    const act = pickAction(world, [
      [11, () => clients.send(chat, this.#plain(chat), this.#ids())],
      [10, () => clients.send(chat, this.#scheduled(), this.#ids())],
      [3, () => this.#scheduleRow(chat)],
      [3, () => clients.repeat()],
      [5, () => this.#with(chat, "SCHEDULED", (id) => clients.move(chat, id, this.#change()))],
      [3, () => this.#with(chat, "SCHEDULED", (id) => clients.cancel(chat, id))],
      [2, () => this.#with(chat, "QUEUED", (id) => clients.cancel(chat, id))],
      [1, () => this.#with(chat, "CANCELED", (id) => this.#changeAny(chat, id))],
      [4, () => this.#with(chat, "FAILED", (id) => this.#resend(chat, id))],
      [2, () => this.#with(chat, "SCHEDULED", (id) => clients.redact(chat, id))],
      [2, () => this.#with(chat, null, (id) => this.#changeAny(chat, id))],
      [2, () => clients.redact(chat, world.pick(this.#withChoices(chat)))],
      [2, () => clients.list(chat)],
      [1, () => clients.export(chat)],
      [3, () => clients.page(chat, this.#cursors(chat))],
      [5, () => this.#with(chat, null, (id) => this.#react(chat, id))],
      [2, () => this.#with(chat, null, (id) => clients.markRead(chat, id))],
      [1, () => clients.showTyping(chat)],
      [this.#plan.retains ? 4 : 0, () => this.#retain()],
      [this.#plan.hasFiles ? 40 : 0, () => this.#parts.uploads.act(chat)],
      [this.#plan.hasFiles ? 25 : 0, () => this.#changeFile(chat)],
      [this.#plan.hasFiles ? 2 : 0, () => this.#eraseUpload(chat)],
      [this.#plan.hasBot ? 12 : 0, () => clients.sendAsBot(chat, this.#plain(chat))],
      [this.#plan.hasBot ? 5 : 0, () => clients.sendAsBot(chat, this.#scheduled())],
      [this.#plan.hasBot ? 6 : 0, () => this.#handOver(chat)],
      [this.#plan.isWorked ? 8 : 0, () => this.#setState(chat)],
      [this.#plan.isLabeled ? 8 : 0, () => this.#label(chat)],
      [7, () => this.#race(chat)],
      isWeb ? [20, () => this.#visit(chat)] : [14, () => this.#write(chat)],
      [isWeb ? 0 : 10, () => this.#writeElsewhere(chat)],
    ]);
    act();
  }

  /** A client reacts to a message, perhaps several times. */
  #react(chat: SimulatedObject, id: string): void {
    const world = this.#world;
    for (let n = world.between(1, 3); n > 0; n--) {
      world.after(world.between(0, 3_000), () => this.#parts.clients.react(chat, id, world.pick(["👍", "🎉", null])));
    }
  }

  /** The contact of a chat with a network does something. */
  #write(chat: SimulatedObject): void {
    const contacts = this.#parts.contacts;
    const networkIds = [...contacts.ids, ...this.#parts.network.ids];
    const one = () => this.#networkId(chat) ?? this.#world.pick(["network-0", ...networkIds]);
    this.#world.pick([
      () => contacts.write(chat, networkIds),
      () => contacts.tap(chat, this.#ids()),
      () => contacts.tap(chat, this.#withChoices(chat)),
      () => contacts.tap(chat, this.#withChoices(chat)),
      () => this.#several((id) => contacts.edit(chat, id), one()),
      () => this.#several((id) => contacts.react(chat, id), one()),
      () => contacts.delete(chat, one()),
      () => contacts.changeAddress(chat, this.#world.pick(ADDRESSES)),
    ])();
  }

  /** The chat changes hands while its bot sends. */
  #handOver(chat: SimulatedObject): void {
    const world = this.#world;
    for (let n = world.between(0, 3); n > 0; n--) {
      world.after(world.between(0, 100), () => this.#parts.clients.sendAsBot(chat, {}));
    }
    world.after(world.between(0, 100), () => this.#parts.clients.handOver(chat));
  }

  /** A client closes the chat, puts it off or opens it, perhaps several times. */
  #setState(chat: SimulatedObject): void {
    const world = this.#world;
    for (let n = world.between(1, 2); n > 0; n--) {
      world.after(world.between(0, 3_000), () => {
        const until = chat.now + world.pick(this.#plan.ahead.filter((ms) => ms <= 5 * DAY));
        this.#parts.clients.setState(chat, world.pick(["closed", "closed", "snoozed", "snoozed", "open"]), until);
      });
    }
  }

  /** Clients give a chat labels and take them off, and now and then the organization deletes one. */
  #label(chat: SimulatedObject): void {
    const world = this.#world;
    const { labels } = this.#parts.judge;
    for (let n = world.between(1, 3); n > 0; n--) {
      const labelId = world.pick(LABELS);
      const isGiven = world.random() < 0.7;
      world.after(world.between(0, world.pick([50, 3_000])), () => this.#parts.clients.label(chat, labelId, isGiven));
    }
    if (world.random() < 0.1) world.after(world.between(0, 3_000), () => labels.deleteLabel(world.pick(LABELS)));
  }

  /** The company writes to the contact elsewhere, perhaps several times within seconds. */
  #writeElsewhere(chat: SimulatedObject): void {
    const world = this.#world;
    for (let n = world.between(1, 3); n > 0; n--) {
      world.after(world.between(0, 3_000), () => this.#parts.elsewhere.write(chat));
    }
  }

  /** A client changes a message that shows a file, or showed one. */
  #changeFile(chat: SimulatedObject): void {
    const book = this.#parts.judge.book(chat);
    const ids = book ? this.#parts.files.shown(chat, book) : [];
    if (ids.length === 0) return;
    const id = this.#world.pick(ids);
    const status = book?.rows.get(id)?.message.status;
    const isUsual = this.#world.random() < 0.5;
    if (status === "FAILED" && isUsual) this.#resend(chat, id);
    else if (status === "SCHEDULED" && isUsual) this.#parts.clients.cancel(chat, id);
    else this.#changeAny(chat, id);
  }

  /** The chat is deleted and created again while files are uploaded. */
  #eraseUpload(chat: SimulatedObject): void {
    const world = this.#world;
    if (!world.fault("chat deleted", 1)) return;
    for (let n = 0; n < 3; n++) this.#parts.uploads.act(chat);
    world.after(world.between(0, 5_000), () => this.#parts.erase(chat));
    for (const ms of [20, 40, 60, 80]) world.after(ms * SECOND, () => this.#parts.clients.list(chat));
  }

  #plain(chat: SimulatedObject): Partial<SendBody> {
    const world = this.#world;
    const chance = world.random();
    if (chance < 0.3) return { expiresAt: world.now + world.pick([SECOND, 10 * SECOND, MINUTE, HOUR]) };
    const newest = this.#parts.judge.book(chat)?.newest ?? 0;
    return chance < 0.4 ? { ifSeq: newest } : {};
  }

  #scheduled(): Partial<SendBody> {
    const world = this.#world;
    const scheduledAt = this.#time();
    if (world.random() < 0.6) return { scheduledAt };
    return { scheduledAt, expiresAt: scheduledAt + world.pick([1, SECOND, 10 * SECOND, MINUTE, HOUR]) };
  }

  /** Messages that are due while the one before is being sent. */
  #scheduleRow(chat: SimulatedObject): void {
    let scheduledAt = this.#time() + MINUTE;
    for (let n = 0; n < 3; n++) {
      this.#parts.clients.send(chat, { scheduledAt });
      scheduledAt += this.#world.between(1, 25) * SECOND;
    }
  }

  #time(): number {
    const world = this.#world;
    const at = world.now + world.between(0, world.pick(this.#plan.ahead));
    // Messages that are due at the same time are more common than chance makes them.
    return world.random() < 0.5 ? at : Math.ceil(at / MINUTE) * MINUTE;
  }

  #change(): { scheduledAt?: number | null; expiresAt?: number | null } {
    const world = this.#world;
    const scheduledAt = this.#time();
    return world.pick([
      { scheduledAt },
      { scheduledAt },
      { scheduledAt, expiresAt: scheduledAt + world.pick([SECOND, MINUTE]) },
      { scheduledAt: null },
      { scheduledAt: world.now - HOUR },
      { expiresAt: scheduledAt },
      { expiresAt: null },
    ]);
  }

  /** Any request about one message. */
  #changeAny(chat: SimulatedObject, id: string): void {
    const clients = this.#parts.clients;
    this.#world.pick([
      () => clients.move(chat, id, this.#change()),
      () => clients.cancel(chat, id),
      () => this.#resend(chat, id),
      () => clients.redact(chat, id),
      () => clients.get(chat, id),
    ])();
  }

  #resend(chat: SimulatedObject, id: string): void {
    const twins = this.#world.pick([1, 1, 2]);
    const body = this.#world.random() < 0.3 ? { scheduledAt: this.#time() } : {};
    for (let n = 0; n < twins; n++) this.#parts.clients.resend(chat, id, body);
  }

  /** The pages of a chat's visitor are at work for a few seconds. */
  #visit(chat: SimulatedObject): void {
    const world = this.#world;
    for (let n = world.between(1, 6); n > 0; n--) {
      const visit = () =>
        this.#parts.visitors.act(chat, this.#parts.identities.get(chat.name), this.#withChoices(chat));
      world.after(world.between(0, world.pick([50, 5_000, 20_000])), visit);
    }
  }

  /** Requests about a scheduled message that arrive when it is due. */
  #race(chat: SimulatedObject): void {
    const world = this.#world;
    const scheduled = this.#parts.judge.book(chat)?.soonest() ?? [];
    const row = world.random() < 0.7 ? scheduled[0] : scheduled.at(-1);
    if (!row || dueAt(row) - chat.now > DAY) return;
    const requests = world.between(1, 3);
    for (let n = 0; n < requests; n++) {
      const ms = Math.max(0, dueAt(row) - chat.now + world.between(-50, world.pick([50, 1_000])));
      world.after(ms, () => this.#changeAny(chat, row.message.id));
    }
  }

  /** The contact does something with a message, perhaps several times within seconds. */
  #several(act: (networkId: string) => void, networkId: string): void {
    const world = this.#world;
    for (let n = world.between(1, 4); n > 0; n--) world.after(world.between(0, 3_000), () => act(networkId));
  }

  /** The network's id of a message of the chat, mostly of one of the newest; now and then none. */
  #networkId(chat: SimulatedObject): string | undefined {
    const world = this.#world;
    const ids = (this.#parts.judge.book(chat)?.in("messages") ?? []).flatMap(networkIdsOf);
    if (ids.length === 0 || world.random() < 0.1) return undefined;
    return world.pick(world.random() < 0.8 ? ids.slice(-2) : ids);
  }

  /** Ids that a client or a contact may name: of all chats, of messages that are gone, and one that is of none. */
  #ids(): string[] {
    const books = [...this.#parts.chats.values()].flatMap((chat) => this.#parts.judge.book(chat) ?? []);
    return ["msg_none", ...books.flatMap(({ words }) => [...words.keys()])];
  }

  /** The messages of a chat that ever had choices to tap; any others if there are none. */
  #withChoices(chat: SimulatedObject): string[] {
    const words = [...(this.#parts.judge.book(chat)?.words ?? [])];
    const ids = words.filter(([, own]) => own.some((word) => word.startsWith("title-"))).map(([id]) => id);
    return ids.length > 0 ? ids : this.#ids();
  }

  /** What a client may have as a cursor: ids of messages, and one that is of none. */
  #cursors(chat: SimulatedObject): string[] {
    const book = this.#parts.judge.book(chat);
    return ["msg_none", ...(book?.in("messages") ?? []).map(({ message }) => message.id)];
  }

  /** @param status null for any */
  #with(chat: SimulatedObject, status: string | null, run: (id: string) => void): void {
    const isMeant = ({ message }: Row) => status === null || message.status === status;
    const rows = [...(this.#parts.judge.book(chat)?.rows.values() ?? [])].filter(isMeant);
    if (rows.length > 0) run(this.#world.pick(rows).message.id);
  }

  /** The channel keeps its messages longer, or for less time. */
  #retain(): void {
    const world = this.#world;
    const retention = this.#parts.retention.change(world.pick([1, 1, 2, 30, null]), world.now);
    world.count("retention changed");
    const tell = (chat: SimulatedObject) => {
      const life = this.#parts.identities.get(chat.name)?.life;
      if (life === undefined) return;
      chat.receive("retain", [ORGANIZATION_ID, life, retention], (result) => {
        if ("error" in result) world.after(MINUTE, () => tell(chat));
      });
    };
    for (const chat of this.#parts.chats.values()) {
      if (world.random() < 0.7) world.after(world.between(0, HOUR), () => tell(chat));
    }
  }
}
