import { CommandError } from "../command-error.ts";
import { type Service, ServiceFault, type ServiceResponse, Unreachable } from "./service.ts";

/** A message, with at least its id. */
export interface Followed extends Record<string, unknown> {
  id: string;
}

const PAGE = 100;
const MAX_WAIT_SECONDS = 30;

/** Reads the new messages of a chat. Returns each message once, and loses none if a request fails. */
export class Follower {
  readonly #ask: (query: Record<string, string | number>, tag: string | null) => Promise<ServiceResponse>;
  /** The id of the newest message that was returned, or null. */
  #last: string | null = null;
  /** The ETag for the next request. */
  #tag: string | null = null;

  constructor(service: Service, chatId: string) {
    this.#ask = (query, tag) =>
      service.asClient("GET", `/chats/${chatId}/messages`, { query, headers: tag ? { "If-None-Match": tag } : {} });
  }

  /** Returns the newest `count` messages, oldest first. `next` continues after them. */
  async begin(count: number): Promise<Followed[]> {
    const messages = messagesIn(await this.#ask({ limit: Math.max(1, count) }, null));
    this.#last = messages.at(-1)?.id ?? null;
    return count === 0 ? [] : messages;
  }

  /** Returns the messages since the last call, oldest first, and whether more can be read immediately. */
  async next(): Promise<{ messages: Followed[]; hasMore: boolean }> {
    const query = this.#last === null ? { limit: PAGE } : { after: this.#last, limit: PAGE };
    const answer = await this.#ask(query, this.#tag);
    if (answer.status === 304) return { messages: [], hasMore: false };
    const newest = messagesIn(answer);
    const hasMore = (answer.body.pagination as { hasMore?: boolean } | undefined)?.hasMore === true;
    // Without a message to continue after, read backwards from the newest page.
    const isBackwards = this.#last === null && hasMore;
    const messages = isBackwards ? [...(await this.#before(newest[0]?.id ?? "")), ...newest] : newest;
    const last = messages.at(-1)?.id;
    this.#tag = last === undefined ? answer.headers.get("ETag") : null;
    this.#last = last ?? this.#last;
    return { messages, hasMore: hasMore && !isBackwards };
  }

  async #before(id: string): Promise<Followed[]> {
    const pages: Followed[][] = [];
    for (let oldest: string | undefined = id; oldest !== undefined; ) {
      const page = messagesIn(await this.#ask({ before: oldest, limit: PAGE }, null));
      pages.unshift(page);
      oldest = page.length === PAGE ? page[0]?.id : undefined;
    }
    return pages.flat();
  }
}

/**
 * The milliseconds to wait after `failures` failed requests in a row: at least `Retry-After`, else an exponential
 * back-off with jitter, up to 30 seconds.
 * @param random from 0 to 1
 * @throws the error, if a retry can't help
 */
export function waitAfter(error: unknown, failures: number, random: number): number {
  const isPassing = error instanceof Unreachable || (error instanceof ServiceFault && isTransient(error));
  if (!isPassing) throw error;
  const asked = error instanceof ServiceFault ? (error.retryAfter ?? 0) : 0;
  const backoff = Math.min(2 ** (failures - 1), MAX_WAIT_SECONDS);
  return Math.max(asked, backoff / 2 + (backoff / 2) * random) * 1_000;
}

/** Parses the seconds of an option. @throws CommandError with exit code 2 */
export function secondsOf(name: string, text: string): number {
  const seconds = Number(text);
  if (/^[\d.]+$/.test(text) && seconds >= 0.1 && seconds <= 3_600) return seconds;
  throw new CommandError(`--${name} must be a number of seconds from 0.1 to 3600.`, 2);
}

function isTransient({ status }: ServiceFault): boolean {
  return status === 429 || status >= 500;
}

function messagesIn({ body }: ServiceResponse): Followed[] {
  return [...(body.messages as Followed[])].reverse();
}
