import type { ChannelRecord } from "../../calls/channel-record.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import { syncTemplates } from "../templates/sync.ts";
import type { CurrentChannel } from "./current-channel.ts";

const DAY_MS = 86_400_000;
/** The wait after a sync that failed or got no answer from the network. */
const RETRY_MS = 3_600_000;
/** The wait after news of the network. However much news there is, a sync begins at most once in this time. */
const SOON_MS = 60_000;

/** When the channel's templates are synced next, Unix milliseconds. */
interface Plan {
  channelId: string;
  at: number;
}

interface Parts {
  env: Env;
  kv: Pick<SyncKvStorage, "get" | "put" | "delete">;
  channel: CurrentChannel;
}

/** Syncs the templates of a channel whose settings name an account: once a day, and soon after news of the network. */
export class TemplateSyncs implements DuePart {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * The channel was read. Its plan begins and ends with the account in its settings.
   * @returns whether there is a new plan
   */
  follow({ id, settings }: Pick<ChannelRecord, "id" | "settings">): boolean {
    const isPlanned = this.#plan() !== undefined;
    if ((settings.wabaId !== undefined) === isPlanned) return false;
    if (isPlanned) this.#parts.kv.delete("templates");
    else this.#put(id, Date.now() + DAY_MS);
    return !isPlanned;
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
    // First, so that a sync that always fails is not repeated at once.
    this.#put(channelId, now + RETRY_MS);
    const record = await this.#parts.channel.record(channelId);
    if (record?.settings.wabaId === undefined) {
      this.#parts.kv.delete("templates");
      return;
    }
    const answer = await syncTemplates(this.#parts.env, record);
    const isUnfinished = answer.outcome === "away" || answer.outcome === "refused";
    if (isUnfinished) console.warn({ event: "templates_not_synced", channelId, cause: answer.description });
    const next = this.#plan();
    // News that came meanwhile may be missing in what the network listed.
    if (answer.outcome !== "away" && next && next.at >= now + RETRY_MS) this.#put(channelId, now + DAY_MS);
  }

  #plan(): Plan | undefined {
    return this.#parts.kv.get<Plan>("templates");
  }

  #put(channelId: string, at: number): void {
    this.#parts.kv.put("templates", { channelId, at } satisfies Plan);
  }
}
