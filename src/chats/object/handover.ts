import type { CallerName } from "../../model/chat-answers.ts";
import { addCounts } from "../../model/counts.ts";
import type {
  ChannelBot,
  HandedOver,
  Handler,
  HandoverCounts,
  HandoverReason,
  WaitForPeople,
} from "../../model/handover.ts";
import { responseClass } from "../../model/response-time.ts";
import type { Clock } from "../../platform/clock.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { ChatWork } from "./chat-work.ts";
import type { Adoption } from "./identity.ts";
import type { NewEvent } from "./log/event-log.ts";
import type { MessageLog } from "./log/message-log.ts";

const KEY = "handover";
/** Where it is stored what the chat knows of its channel's bot. */
const BOT = "channelBot";

interface Parts {
  storage: { kv: SyncKvStorage };
  clock: Clock;
  adoption: Pick<Adoption, "identity">;
  log: Pick<MessageLog, "newest" | "exchange">;
  work: Pick<ChatWork, "closedAfter" | "now" | "reopened">;
  /** See `CurrentActivity`. */
  report: { activity(): { unansweredSince: number | null } };
  /** See `StoredDetails`. */
  details: { changeHands(change: HandoverChange): void };
}

/** The holder of the chat since the last change. Times are Unix milliseconds. */
interface Stored {
  /** The version of the bot; null for people. */
  bot: number | null;
  /** How often the chat changed hands. */
  count: number;
  since: number;
  /** The seq of the newest message then. If the bot has the chat: up to it, nothing waits for the bot. */
  after: number;
  /** The wait that the last handover to people began; absent if none did. */
  wait?: StoredWait;
  /** How often people got it from a bot, since the chat began; absent for never. */
  counts?: HandoverCounts;
}

/** `after`: the seq of the newest message when it began. `count`: how often the chat had changed hands then. */
interface StoredWait extends WaitForPeople {
  after: number;
  count: number;
}

/** A change of who has the chat, with its events. The caller writes all in one commit. */
export interface HandoverChange {
  events: NewEvent[];
  /** @param newest the seq of the newest message */
  write: (newest: number) => void;
  /** Null if it leaves as it is who waits. */
  wait: WaitForPeople | null;
  isToPeople: boolean;
}

/** The first message of the contact after `from` that the bot has not answered, among those up to `upTo`. */
interface Seen {
  from: number;
  upTo: number;
  waitingSince: number | null;
}

/** The holder of the chat: the bot of its channel, or people. A bot that is silent for too long hands over by the chat's alarm. */
export class Handover implements DuePart {
  readonly #parts: Parts;
  #seen: Seen | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The version of the bot that has the chat; null for people, undefined if it never had a bot. */
  get bot(): number | null | undefined {
    const stored = this.#stored();
    return stored.count === 0 && stored.bot === null ? undefined : stored.bot;
  }

  /** Whether a message of the channel's bot comes too late. */
  isHandedOver(isBot: boolean): boolean {
    return isBot && this.#stored().bot === null;
  }

  /** How often the chat changed hands. */
  get count(): number {
    return this.#stored().count;
  }

  /** The wait that the last handover to people began, and behind which message; null if none did after the change `count`. */
  waitAfter(count: number): StoredWait | null {
    const { wait } = this.#stored();
    return wait && wait.count > count ? wait : null;
  }

  /** How often people got it from a bot, since the chat began. */
  get counts(): HandoverCounts {
    return this.#stored().counts ?? {};
  }

  /**
   * Hands the chat to people, who see it as open and waiting; null if they have it.
   * @param by null if nobody did it
   * @param countedAs the reason, by default
   */
  toPeople(
    by: CallerName | null,
    reason: Exclude<HandoverReason, "closed">,
    countedAs: HandedOver = reason,
  ): HandoverChange | null {
    const { work } = this.#parts;
    if (this.#stored().bot === null) return null;
    // Those that are done stay done: a channel can have a million of them.
    if (reason === "bot_gone" && work.now().state === "closed") return this.#change(null, by, reason, null, countedAs);
    const opening = work.reopened(by);
    const change = this.#change(null, by, reason, this.#waitsSince(), countedAs);
    if (!opening) return change;
    return {
      ...change,
      events: [...change.events, ...(opening.event ? [opening.event] : [])],
      write: (newest) => {
        change.write(newest);
        opening.write();
      },
    };
  }

  /** A person wrote, which takes the chat over; null if people have it. @param by null if it is not known who wrote */
  takenOver(by: CallerName | null): HandoverChange | null {
    return this.#stored().bot === null ? null : this.#change(null, by, "took_over", null, "took_over");
  }

  /** Hands the chat to a bot; null if this one has it. */
  toBot(bot: ChannelBot, by: CallerName | null, reason: HandoverReason): HandoverChange | null {
    if (this.#stored().bot === bot.version) return null;
    const change = this.#change(bot.version, by, reason, null);
    return {
      ...change,
      write: (newest) => {
        change.write(newest);
        this.#parts.storage.kv.put(BOT, bot);
      },
    };
  }

  /** The chat is being closed, which gives it back to the channel's bot; null if it has none, or has the chat. */
  closed(by: CallerName | null): HandoverChange | null {
    const bot = this.#channelBot();
    return bot && bot.handOverAfterSeconds !== null ? this.toBot(bot, by, "closed") : null;
  }

  /** What the organization's object says of the channel's bot. An earlier word changes nothing. */
  learn(bot: ChannelBot | undefined): void {
    const known = this.#channelBot();
    if (!bot || (known && bot.version < known.version)) return;
    if (JSON.stringify(known) !== JSON.stringify(bot)) this.#parts.storage.kv.put(BOT, bot);
    this.gone(bot.handOverAfterSeconds === null ? bot.version : bot.version - 1);
  }

  /** The bots up to this version are no longer the channel's. */
  gone(version: number): void {
    const { bot } = this.#stored();
    if (bot === null || bot > version) return;
    const change = this.toPeople(null, "bot_gone");
    if (change) this.#parts.details.changeHands(change);
  }

  /** When the bot has been silent for too long, Unix milliseconds; null if nothing waits for it. It can be in the past. */
  dueAt(): number | null {
    if (!this.#parts.adoption.identity()) return null;
    const { bot, since } = this.#stored();
    const seconds = bot === null ? null : (this.#channelBot()?.handOverAfterSeconds ?? null);
    if (seconds === null) return null;
    const waitingSince = this.#waitingForBot();
    return waitingSince === null ? null : Math.max(waitingSince, since) + seconds * 1_000;
  }

  /** Hands the chat to people, if its bot has been silent for too long. */
  run(now: number): void {
    const dueAt = this.dueAt();
    if (dueAt === null || dueAt > now) return;
    const change = this.toPeople(null, "bot_silent");
    if (change) this.#parts.details.changeHands(change);
  }

  forget(): void {
    this.#seen = undefined;
  }

  #change(
    bot: number | null,
    by: CallerName | null,
    reason: HandoverReason,
    waitsSince: number | null,
    countedAs?: HandedOver,
  ): HandoverChange {
    const { clock, storage } = this.#parts;
    const since = clock.now();
    const before = this.#stored();
    const count = before.count + 1;
    const counts = countedAs ? addCounts(before.counts ?? {}, this.#counted(before, countedAs, since)) : before.counts;
    const to: Handler = bot === null ? "people" : "bot";
    // What waits for people when the bot gets the chat waits for the bot.
    const isWaiting = bot !== null && this.#parts.report.activity().unansweredSince !== null;
    return {
      events: [{ type: "chat.handover", seq: null, note: { to, by, reason }, at: since }],
      write: (newest) => {
        const after = isWaiting && reason !== "closed" ? 0 : newest;
        const wait = waitsSince === null ? before.wait : { waitsSince, from: since, after: newest, count };
        const stored: Stored = { bot, count, since, after, ...(wait && { wait }), ...(counts && { counts }) };
        storage.kv.put(KEY, stored);
        this.#seen = undefined;
      },
      wait: waitsSince === null ? null : { waitsSince, from: since },
      isToPeople: bot === null,
    };
  }

  /** One handover, and how long the bot had dealt with the contact: since it wrote, or since the bot got the chat. */
  #counted({ since, after }: Stored, handedOver: HandedOver, now: number): HandoverCounts {
    const first = this.#parts.log.exchange.ofBotAndContact(after).find(({ isBot }) => !isBot);
    const held = first && (`held.${responseClass(now - Math.max(first.at, since))}` as const);
    return { [`handover.${handedOver}`]: 1, ...(held && { [held]: 1 }) };
  }

  /** When the contact first wrote since a person last did, Unix milliseconds; else now. */
  #waitsSince(): number {
    const { clock, log } = this.#parts;
    return log.exchange.firstSincePerson() ?? clock.now();
  }

  /** When the contact wrote the first message that no message of the bot followed; null if there is none. */
  #waitingForBot(): number | null {
    const { log, work } = this.#parts;
    const { seq } = log.newest();
    // Nothing waits in a chat that was closed.
    const from = Math.max(this.#stored().after, work.closedAfter() ?? 0);
    if (this.#seen?.from !== from) {
      this.#seen = { from, upTo: Math.max(from, log.exchange.newestOfBot()), waitingSince: null };
    }
    let { upTo, waitingSince } = this.#seen;
    if (upTo < seq) {
      for (const message of log.exchange.ofBotAndContact(upTo)) {
        waitingSince = message.isBot ? null : (waitingSince ?? message.at);
      }
      upTo = seq;
      this.#seen = { from, upTo, waitingSince };
    }
    return waitingSince;
  }

  #channelBot(): ChannelBot | null {
    return this.#parts.storage.kv.get<ChannelBot>(BOT) ?? this.#parts.adoption.identity()?.bot ?? null;
  }

  #stored(): Stored {
    const identity = this.#parts.adoption.identity();
    const stored = this.#parts.storage.kv.get<Stored>(KEY);
    return stored ?? { bot: identity?.bot?.version ?? null, count: 0, since: identity?.createdAt ?? 0, after: 0 };
  }
}
