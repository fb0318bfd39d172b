import type { ChannelRecord } from "../../calls/channel-record.ts";
import type { ChannelNews } from "../../model/channel-warning.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import { ADAPTERS, networkOf } from "../registry.ts";
import type { CurrentChannel } from "./current-channel.ts";

const DAY_MS = 86_400_000;
/** The wait after news of the network. However much news there is, it is asked at most once in this time. */
const SOON_MS = 60_000;

/** When the network is asked next, Unix milliseconds. */
interface Plan {
  channelId: string;
  at: number;
}

interface Parts {
  env: Env;
  kv: Pick<SyncKvStorage, "get" | "put">;
  channel: CurrentChannel;
}

/** Asks the network how the channel is: once a day, and soon after a report that does not say it. */
export class Questions implements DuePart {
  readonly #parts: Parts;
  readonly #answered: (channelId: string, news: ChannelNews) => Promise<void>;

  constructor(parts: Parts, answered: (channelId: string, news: ChannelNews) => Promise<void>) {
    this.#parts = parts;
    this.#answered = answered;
  }

  /** The channel was read. @returns whether there is a new plan */
  follow({ id, kind }: Pick<ChannelRecord, "id" | "kind">): boolean {
    if (kind === "web" || !ADAPTERS[kind].isAskedDaily || this.#plan()) return false;
    this.#put(id, Date.now() + DAY_MS);
    return true;
  }

  /** The network has news. */
  soon(channelId: string): void {
    const at = Date.now() + SOON_MS;
    if ((this.#plan()?.at ?? Number.POSITIVE_INFINITY) > at) this.#put(channelId, at);
  }

  dueAt(): number | null {
    return this.#plan()?.at ?? null;
  }

  async run(now: number): Promise<void> {
    const plan = this.#plan();
    if (!plan || plan.at > now) return;
    const { channelId } = plan;
    this.#put(channelId, now + DAY_MS);
    const record = await this.#parts.channel.record(channelId);
    if (!record || record.kind === "web") return;
    const { kind, credentials } = record;
    const answer = await ADAPTERS[kind].inspect?.(credentials, networkOf(this.#parts.env, kind));
    if (answer?.answer === "accepted" && answer.news) await this.#answered(channelId, answer.news);
    else
      console.warn({
        event: "channel_not_asked",
        channelId,
        cause: answer && "description" in answer && answer.description,
      });
  }

  #plan(): Plan | undefined {
    return this.#parts.kv.get<Plan>("questions");
  }

  #put(channelId: string, at: number): void {
    this.#parts.kv.put("questions", { channelId, at } satisfies Plan);
  }
}
