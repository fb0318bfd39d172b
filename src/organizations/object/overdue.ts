import { answerWithin, callObject, NEARBY } from "../../calls/call-object.ts";
import type { KnownChat } from "../../model/organization.ts";
import { settleEach } from "../../platform/concurrency.ts";
import { causeOf } from "../../platform/log.ts";
import { LOST_AFTER_MS } from "../../platform/object/alarm.ts";
import type { DuePart, DueWork } from "../../platform/object/due-work.ts";
import type { ChannelTable } from "./channel-table.ts";
import type { Existence } from "./existence.ts";
import type { KeyTable } from "./key-table.ts";
import type { Settings } from "./settings.ts";

/** How many objects one run calls. The rest follows in the object's own alarm. */
const CALLS_A_RUN = 500;
/** Shorter than an object without work stays in memory: what is left to call is there alone. */
const NEXT_RUN_MS = 5_000;
const PAGE = 500;
const CALL_TIMEOUT_MS = 10_000;

/** The times of a chat that can be overdue. Each has an index; that of `oldest` begins with the channel. */
const TIMES = ["next_scheduled_at", "next_due_at", "oldest"] as const;
type Time = (typeof TIMES)[number];

type OverdueChat = { id: string; channelId: string; at: number } & Pick<KnownChat, keyof KnownChat>;

/** Asks an object to make sure of its alarm. @returns whether it was lost */
type Check = () => Promise<boolean>;

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  existence: Existence;
  channels: ChannelTable;
  settings: Settings;
  keys: KeyTable;
  due: DueWork;
}

/**
 * The net under all alarms. The platform gives up an alarm that fails six times, in two minutes. Then a chat's messages
 * would wait until somebody calls the chat. So this looks for what is overdue by more than two minutes, as the
 * organization knows it, and calls the webhooks, those chats, then their channels; all channels and the keys if any
 * alarm was lost. At most 20 at once. Each only makes sure of its alarm.
 */
export class Overdue implements DuePart {
  readonly #parts: Parts;
  /** What is left to call; null if nothing is. */
  #checks: Iterator<Check> | null = null;
  /** What is called after that, if any alarm was lost. */
  #others: Iterator<Check> | null = null;
  #isAnyLost = false;
  /** When the next run begins, Unix milliseconds. */
  #nextAt = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Makes sure of this object's alarm, and begins to call what is overdue. The calls go on after the answer. */
  async check(): Promise<void> {
    const isLost = await this.#parts.due.renew(true);
    // A call that came before is not over.
    if (this.#checks || !this.#parts.existence.isReady()) return;
    const until = Date.now() - LOST_AFTER_MS;
    if (!isLost && this.#overdue(until).next().done) return;
    this.#isAnyLost = isLost;
    const found = new Set<string>();
    this.#checks = this.#find(until, found);
    this.#others = this.#findOthers(found);
    this.#nextAt = 0;
    this.#parts.due.start(this, true);
  }

  /** When the alarm must call `run`, Unix milliseconds; null if nothing is left to call. */
  dueAt(): number | null {
    return this.#checks && this.#nextAt;
  }

  /** Calls the next objects. */
  async run(now: number): Promise<void> {
    const checks = this.#checks;
    // The clock may have been set back.
    if (!checks || (now < this.#nextAt && this.#nextAt - now <= NEXT_RUN_MS)) return;
    let [called, lost] = [0, 0];
    const failed = await settleEach(upTo(CALLS_A_RUN, checks), async (check) => {
      called++;
      if (!(await answerWithin(CALL_TIMEOUT_MS, check))) return;
      lost++;
      this.#isAnyLost = true;
    });
    this.#log(lost, failed);
    if (this.#checks !== checks) return;
    const isDone = called < CALLS_A_RUN;
    if (isDone) {
      this.#checks = this.#isAnyLost ? this.#others : null;
      this.#others = null;
    }
    this.#nextAt = isDone ? now : now + NEXT_RUN_MS;
  }

  forget(): void {
    this.#checks = null;
    this.#others = null;
  }

  /** The objects to call, in order. @param found gets the channels of the chats */
  *#find(until: number, found: Set<string>): Generator<Check> {
    const { env, existence, settings } = this.#parts;
    const organizationId = existence.id ?? "";
    // Before the chats: there may be thousands of these, round after round.
    for (const { id } of settings.webhooks.webhooks) {
      yield () => callObject(env.WEBHOOKS, id, (webhook) => webhook.checkAlarm(id), NEARBY);
    }
    for (const { id, channelId, life, report, nextDueAt } of this.#overdue(until)) {
      found.add(channelId);
      yield () =>
        callObject(env.CHATS, id, (chat) => chat.checkAlarm(organizationId, { life, report, nextDueAt }), NEARBY);
    }
    if (!existence.isReady()) return;
    for (const id of found) yield () => callObject(env.CHANNELS, id, (channel) => channel.checkAlarm(), NEARBY);
  }

  /** The objects whose work the organization does not know: the other open channels, and the keys. */
  *#findOthers(found: ReadonlySet<string>): Generator<Check> {
    const { channels, env, existence, keys } = this.#parts;
    if (!existence.isReady()) return;
    for (const { id, isClosed } of [...channels.all().values()]) {
      if (!isClosed && !found.has(id))
        yield () => callObject(env.CHANNELS, id, (channel) => channel.checkAlarm(), NEARBY);
    }
    for (const id of keys.ids()) yield () => callObject(env.KEYS, id, (key) => key.checkAlarm(), NEARBY);
  }

  /** The chats in which something was due by `until`, each once. */
  *#overdue(until: number): Generator<OverdueChat> {
    yield* this.#overdueBy("next_scheduled_at", until);
    yield* this.#overdueBy("next_due_at", until);
    for (const id of [...this.#parts.channels.all().keys()]) yield* this.#overdueBy("oldest", until, id);
  }

  *#overdueBy(time: Time, until: number, channelId: string | null = null): Generator<OverdueChat> {
    // The chats with an earlier one of the times come by that one.
    const others = TIMES.slice(0, TIMES.indexOf(time)).map((each) => `and coalesce(${each} > ${until}, 1)`);
    const query = `select id, channel_id as channelId, life, report, next_due_at as nextDueAt, ${time} as at from chats
      where ${channelId === null ? "" : "channel_id = ? and"} ${time} is not null and (${time}, id) > (?, ?)
        and ${time} <= ? ${others.join(" ")} order by ${time}, id limit ?`;
    let place = { at: 0, id: "" };
    for (let rows: OverdueChat[] | null = null; rows === null || rows.length === PAGE; ) {
      if (!this.#parts.existence.isReady()) return;
      const values = [...(channelId === null ? [] : [channelId]), place.at, place.id, until, PAGE];
      rows = this.#parts.storage.sql.exec<OverdueChat>(query, ...values).toArray();
      yield* rows;
      place = rows.at(-1) ?? place;
    }
  }

  #log(lost: number, failed: { error: unknown }[]): void {
    const organizationId = this.#parts.existence.id;
    if (lost > 0) console.warn({ event: "alarms_renewed", organizationId, objects: lost });
    const [first] = failed;
    const fields = { event: "alarms_not_checked", organizationId, objects: failed.length };
    if (first) console.warn({ ...fields, error: causeOf(first.error) });
  }
}

/** The next items, without ending the iterator. */
function* upTo<T>(count: number, items: Iterator<T>): Generator<T> {
  for (let left = count; left > 0; left--) {
    const { done, value } = items.next();
    if (done) return;
    yield value;
  }
}
