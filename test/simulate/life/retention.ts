import type { ChatRetention } from "../../../src/model/chat-answers.ts";

const DAY = 86_400_000;
/** A chat deletes at most this long after its organization's object confirmed the retention. */
const LAG_MS = 180_000;

/** How long the channel keeps its messages, as its organization's object knows it, and how long it kept them before. */
export class ChannelRetention {
  /** Times are those of the world. */
  readonly #changes: { at: number; retention: ChatRetention }[] = [
    { at: Number.NEGATIVE_INFINITY, retention: { days: null, version: 0 } },
  ];

  get current(): ChatRetention {
    return (this.#changes.at(-1) as { retention: ChatRetention }).retention;
  }

  /** @returns what the chats are told */
  change(days: number | null, now: number): ChatRetention {
    const retention = { days, version: this.#changes.length };
    this.#changes.push({ at: now, retention });
    return retention;
  }

  /** How long a message that is deleted `now` must have been kept, in milliseconds. */
  leastMs(now: number): number {
    const since = this.#changes.findLastIndex(({ at }) => at <= now - LAG_MS);
    const held = this.#changes.slice(Math.max(0, since)).map(({ retention: { days } }) => days);
    return Math.min(...held.map((days) => (days === null ? Number.POSITIVE_INFINITY : days * DAY)));
  }
}
