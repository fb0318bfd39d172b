import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Chat, Marketing } from "../../../../src/model/chat.ts";
import { newId } from "../../../../src/model/id.ts";
import type { Mentions } from "../../../../src/model/note.ts";
import { OPEN, type WorkStatus } from "../../../../src/model/work-state.ts";
import { type Client, client, newChannel, newKey, newOrganization } from "../../../support/harness.ts";
import { Random } from "../../../support/random.ts";

/** What a chat last reported of itself. Times are Unix milliseconds. */
interface Reported {
  lastMessageAt: number | null;
  unansweredSince: number | null;
  nextScheduledAt: number | null;
  assigneeId: string | null;
  name: string;
  personId: string | null;
  marketing: Marketing | null;
  work: WorkStatus;
  labels: string[];
  mentions: Mentions;
}

type Known = Reported & { id: string; life: number; channelId: string };

/** A list, and the parameter that continues it. */
export interface Walk {
  query: string;
  by: "before" | "after";
}

/** Names of which several begin alike, so that a new name moves a contact in a search. */
const NAMES = ["Ann", "Anders", "Ann Axel", "Anton", "Azra Ann", "Berta"];
/** Reports come up to this much later than what they report. */
const LAG_MS = 5_000;

/** A client that may read every list of chats, by a key of its own. */
export async function listReader(organizationId: string): Promise<Client> {
  return client((await newKey(organizationId, { permissions: ["chats:read", "messages:read", "notes:read"] })).secret);
}

/** The chats of an organization, which report what a seed says. */
export class WalkedChats {
  readonly #random: Random;
  readonly #chats = new Map<string, Known>();
  readonly #channels: string[];
  readonly organizationId: string;
  readonly memberId: string;
  readonly api: Client;
  /** Labels. The chats of the second one are looked for in the lists, as those of a label that many have. */
  readonly #labels: [string, string] = [newId("lbl", null), newId("lbl", null)];
  /** A report with a smaller number than the one before is dropped, and the clock can go back. */
  readonly #firstNumber = Date.now() * 1_000;
  #reports = 0;
  /** Time in the organization. It moves a little with each act. */
  #now = Date.now();
  /** The chats to which something happened since `watch`. */
  #touched = new Set<string>();

  private constructor(
    seed: number,
    { api, organizationId, ownerId }: { api: Client; organizationId: string; ownerId: string },
    channels: string[],
  ) {
    this.#random = new Random(seed);
    this.#channels = channels;
    this.api = api;
    this.organizationId = organizationId;
    this.memberId = ownerId;
  }

  static async create(seed: number, count: number): Promise<WalkedChats> {
    const organization = await newOrganization();
    const { channelId, organizationId } = organization;
    const channels = [channelId, await newChannel(organizationId, "telegram"), await newChannel(organizationId, "web")];
    const chats = new WalkedChats(seed, { ...organization, api: await listReader(organizationId) }, channels);
    await chats.#label();
    for (let n = 0; n < count; n++) await chats.#open();
    for (const id of chats.#chats.keys()) await chats.#change(id, 0);
    return chats;
  }

  async #label(): Promise<void> {
    const [, frequent] = this.#labels;
    await runInDurableObject(this.#object, (object, { storage }) => {
      for (const [n, id] of this.#labels.entries()) object.addLabel({ id, name: `label ${n}`, color: null });
      storage.sql.exec("update labels set chats = 5000 where id = ?", frequent);
    });
  }

  /** The lists that can be walked. */
  walks(): Walk[] {
    const [channel] = this.#channels;
    const [rare, frequent] = this.#labels;
    const newestFirst = [
      ...["", `channel=${channel}`, "channel=web", `assignee=${this.memberId}`, "assignee=none"],
      ...["state=open", "state=closed&channel=web", `state=open&assignee=${this.memberId}`, "state=open&assignee=none"],
      ...[`label=${rare}`, `label=${frequent}`, `label=${frequent}&channel=web`, `label=${rare}&assignee=none`],
      ...[`label=${frequent}&state=open`, `label=${frequent}&assignee=${this.memberId}&state=open`],
      ...["assignee=none&channel=web", `assignee=${this.memberId}&channel=${channel}`, "state=snoozed"],
      ...[`mentioned=${this.memberId}`, `mentioned=${this.memberId}&channel=web&state=open`],
      ...[`mentioned=${this.memberId}&assignee=none`, `mentioned=${this.memberId}&label=${frequent}`],
      ...["person=a", "person=a&state=open&channel=web", "person=b&assignee=none"],
      ...["optedOut=true", "optedOut=true&state=open&channel=web", `optedOut=true&label=${frequent}`],
    ];
    const oldestFirst = [
      ...["unanswered=true", "unanswered=true&channel=web", "unanswered=true&assignee=none"],
      ...["unanswered=true&state=open", "unanswered=true&state=snoozed&channel=web", "unanswered=true&person=a"],
      ...[`unanswered=true&label=${rare}`, `unanswered=true&label=${frequent}&state=open`],
      "unanswered=true&optedOut=true",
      ...["scheduled=true", `scheduled=true&channel=${channel}`, "search=a", "search=an&channel=web"],
    ];
    return [
      ...newestFirst.map((query) => ({ query, by: "before" }) as const),
      ...oldestFirst.map((query) => ({ query, by: "after" }) as const),
    ];
  }

  /** The ids of a list at this moment, in order. */
  async idsOf(query: string): Promise<string[]> {
    const answer = await this.api("GET", `/chats?limit=100&${query}`);
    return answer.body.chats.map(({ id }: Chat) => id);
  }

  /** From now on, it is known to which chats something happens. */
  watch(): void {
    this.#touched = new Set();
  }

  isTouched(id: string): boolean {
    return this.#touched.has(id);
  }

  /** Something happens to some chats. @param shown the chats of the last page, to which more happens than to others */
  async stir(shown: string[]): Promise<void> {
    for (let acts = this.#random.between(0, 6); acts > 0; acts--) {
      const living = [...this.#chats.keys()];
      const near = shown.filter((id) => this.#chats.has(id));
      const id = this.#random.pick(near.length > 0 && this.#random.next() < 0.6 ? near : living);
      const kind = this.#random.between(0, 19);
      if (kind === 0) await this.#open();
      else if (kind === 1 && living.length > 4) await this.#delete(id);
      else if (kind === 2) await this.#evict();
      else await this.#change(id, LAG_MS);
    }
  }

  /** The chats of a page all change in the ways that took walks back to where they came from. */
  async answerAll(shown: string[]): Promise<void> {
    for (const id of shown) {
      const known = this.#chats.get(id);
      this.#now += 1_000;
      const soonest = Math.max(this.#now, known?.nextScheduledAt ?? 0) + 60_000;
      if (known) {
        const mentions = { [this.memberId]: this.#mention(0) };
        const times = { mentions, lastMessageAt: this.#now, unansweredSince: this.#now, nextScheduledAt: soonest };
        await this.#report({ ...known, ...times });
      }
    }
  }

  async deleteAll(shown: string[]): Promise<void> {
    for (const id of shown) await this.#delete(id);
  }

  get size(): number {
    return this.#chats.size;
  }

  async #evict(): Promise<void> {
    // Only an instance that runs can be evicted.
    await this.#object.find("");
    await evictDurableObject(this.#object);
  }

  #mention(lag: number): Mentions[string] {
    return { noteId: newId("note", null), afterSeq: 0, at: this.#time(lag) };
  }

  #time(lag: number): number {
    return this.#now - this.#random.between(0, lag);
  }

  async #open(): Promise<void> {
    // The id decides between chats of the same time.
    const proposedId = `cht_g${String(this.#random.between(0, 10 ** 9)).padStart(15, "0")}`;
    const name = this.#random.pick(NAMES);
    const channelId = this.#random.pick(this.#channels);
    const answer = await this.#object.open({
      ...{ organizationId: this.organizationId, channelId, address: proposedId.slice(5), others: [] },
      ...{ name, metadata: {}, proposedId, isLimited: false },
    });
    if (answer.outcome !== "opened") throw new Error(`The chat was not opened: ${answer.outcome}`);
    const { chatId: id, life } = answer.identity;
    this.#touched.add(id);
    const nothing = {
      lastMessageAt: null,
      unansweredSince: null,
      nextScheduledAt: null,
      assigneeId: null,
      personId: null,
      marketing: null,
      work: OPEN,
      labels: [],
      mentions: {},
    };
    this.#chats.set(id, { id, life, channelId, name, ...nothing });
  }

  async #delete(id: string): Promise<void> {
    this.#touched.add(id);
    this.#chats.delete(id);
    await this.#object.deleteChat(id);
  }

  /** A chat reports something new, as late as `lag` milliseconds. */
  async #change(id: string, lag: number): Promise<void> {
    const known = this.#chats.get(id);
    if (!known) return;
    const random = this.#random;
    this.#now += random.between(0, 2);
    const news: Partial<Reported>[] = [
      { lastMessageAt: this.#time(lag), unansweredSince: this.#time(lag) },
      { lastMessageAt: this.#time(lag), unansweredSince: null },
      // Retention deleted the chat's messages.
      { lastMessageAt: null, unansweredSince: null },
      { nextScheduledAt: random.next() < 0.3 ? null : this.#now + random.between(0, 100_000) },
      { assigneeId: random.pick([null, this.memberId]) },
      { name: random.pick(NAMES) },
      { personId: random.pick(["a", "a", "b", null]) },
      { marketing: { optedOut: random.next() < 0.7, at: new Date(this.#now).toISOString(), by: "key" } },
      { mentions: { [this.memberId]: this.#mention(lag) } },
      // The newest notes were deleted.
      { mentions: { [this.memberId]: this.#mention(60_000) } },
      { mentions: {} },
      { labels: this.#labels.filter(() => random.next() < 0.6) },
      {
        work: random.pick([
          OPEN,
          { state: "snoozed", snoozedUntil: this.#now + 1 },
          { state: "closed", snoozedUntil: null },
        ]),
      },
    ];
    const isFirst = lag === 0;
    await this.#report({ ...known, ...(isFirst ? Object.assign({}, ...random.shuffle(news)) : random.pick(news)) });
  }

  async #report(after: Known): Promise<void> {
    const { id, life, channelId: _, name, personId, ...times } = after;
    this.#touched.add(id);
    this.#chats.set(id, after);
    this.#reports++;
    const answer = await this.#object.report({
      ...{ chatId: id, life, number: this.#firstNumber + this.#reports, events: null, webhooks: null },
      ...{ depth: 0, oldest: null, attempts: {}, lastMessage: null, readUpTo: null },
      ...{ ...times, details: { name, metadata: {}, personId } },
    });
    if (answer.outcome !== "ok") throw new Error("The report was not stored");
  }

  get #object() {
    return env.ORGANIZATIONS.getByName(this.organizationId);
  }
}
