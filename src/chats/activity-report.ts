import type { Outcome } from "../channels/adapter.ts";
import type { AttemptCounts, QueueReport } from "../channels/attempt-counts.ts";
import { callObject } from "../platform/call-object.ts";
import { addCounts } from "../platform/counts.ts";
import { WriteBehind } from "../platform/write-behind.ts";
import type { ChatIdentity } from "./identity.ts";
import type { MessageLog } from "./log/message-log.ts";

/** With the channel object's own delay this keeps the list of chats less than 10 s behind. */
export const REPORT_AFTER_MS = 2_000;

/** What the chat object gives to its report. `depth` is how many messages wait. */
interface ReportHost {
  kv: SyncKvStorage;
  env: Env;
  log: MessageLog;
  identity(): ChatIdentity | undefined;
  depth(): number;
}

/** `seq` and `at`, Unix milliseconds, are those of the newest message. */
type ChatState = { identity: ChatIdentity; seq: number; at: number; depth: number };

/**
 * A chat's reports to its channel: when the chat was last active, what waits in it, and how attempts ended. The seq and
 * the depth of the last report are stored. Attempts that are not reported yet are lost with the instance.
 */
export class ActivityReport extends WriteBehind<ChatState> {
  protected readonly delayMs = REPORT_AFTER_MS;
  protected readonly retryMs = 30_000;
  readonly #host: ReportHost;
  #attempts: AttemptCounts = {};
  /** The attempts of a report that is in progress or whose answer was lost. A repeat has the same id. */
  #report: Pick<QueueReport, "id" | "attempts"> | null = null;

  constructor(host: ReportHost) {
    super();
    this.#host = host;
  }

  /** An attempt at delivery is over. */
  attempted({ outcome }: Outcome): void {
    this.#attempts = addCounts(this.#attempts, { [outcome]: 1 });
  }

  protected current(): ChatState | null {
    const identity = this.#host.identity();
    if (!identity) return null;
    const { seq, at } = this.#host.log.newest();
    const depth = this.#host.depth();
    const isReported = seq <= this.#reportedSeq() && depth === this.#reportedDepth();
    if (isReported && !this.#report && Object.keys(this.#attempts).length === 0) return null;
    return { identity, seq, at, depth };
  }

  protected async write({ identity, seq, at, depth }: ChatState): Promise<void> {
    if (!this.#report) {
      this.#report = { id: crypto.randomUUID(), attempts: this.#attempts };
      this.#attempts = {};
    }
    const report = this.#report;
    const { channelId, chatId, createdAt } = identity;
    const oldest = depth > 0 ? this.#host.log.head()?.message.createdAt : undefined;
    const hasQueue = depth > 0 || this.#reportedDepth() > 0 || Object.keys(report.attempts).length > 0;
    const queue = { ...report, channelId, depth, oldest: oldest === undefined ? null : Date.parse(oldest) };
    await callObject(this.#host.env.CHANNELS, channelId, (channel) =>
      channel.reportActivity(chatId, seq > this.#reportedSeq() ? at : 0, hasQueue ? queue : undefined),
    );
    if (this.#host.identity()?.createdAt !== createdAt) {
      // The chat was deleted meanwhile, and perhaps created again. The channel may have learned that before this report.
      await callObject(this.#host.env.CHANNELS, channelId, (channel) => channel.removeChat(chatId));
    }
    this.#report = null;
  }

  protected override written({ seq, depth }: ChatState): void {
    if (seq > this.#reportedSeq()) this.#host.kv.put("reported", seq);
    if (depth !== this.#reportedDepth()) this.#host.kv.put("reportedDepth", depth);
  }

  protected failure({ identity }: ChatState) {
    return { event: "activity_not_reported", chatId: identity.chatId };
  }

  #reportedSeq(): number {
    return this.#host.kv.get<number>("reported") ?? 0;
  }

  #reportedDepth(): number {
    return this.#host.kv.get<number>("reportedDepth") ?? 0;
  }
}
