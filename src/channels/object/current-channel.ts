import { type ChannelRecord, type ChannelRow, channelRecord } from "../../calls/channel-record.ts";
import type { ErasableKv } from "../../platform/object/erasable-kv.ts";
import { ADAPTERS } from "../registry.ts";
import type { SendingConfig } from "./permits.ts";

/** The channel as the directory had it last. */
export class CurrentChannel {
  readonly #env: Env;
  readonly #kv: Pick<ErasableKv, "get" | "put" | "isErased">;
  readonly #changed: (record: ChannelRecord) => Promise<void>;
  #last: ChannelRecord | null = null;

  /** @param changed the channel was read, and differs from what was known */
  constructor(
    env: Env,
    kv: Pick<ErasableKv, "get" | "put" | "isErased">,
    changed: (record: ChannelRecord) => Promise<void>,
  ) {
    this.#env = env;
    this.#kv = kv;
    this.#changed = changed;
  }

  /** The channel; null if it is being deleted, and from its erasure on whatever a cache says. */
  async record(channelId: string): Promise<ChannelRecord | null> {
    const record = await channelRecord(this.#env, channelId);
    // Reads can end in a different order than they started.
    const isOld = record !== null && this.#last !== null && record.readAt < this.#last.readAt;
    if (!isOld) await this.#keep(record);
    return this.#last;
  }

  /** Reads the channel again after the operator changed it. */
  async refresh(channelId: string): Promise<ChannelRecord | null> {
    const record = await channelRecord(this.#env, channelId, { fresh: "now" });
    await this.#keep(record);
    return this.#last;
  }

  /** How the channel sends; null if it is being deleted or is a web channel. */
  async sendingConfig(channelId: string): Promise<SendingConfig | null> {
    return sendingConfigOf(await this.record(channelId));
  }

  /** The channel's row, with sealed secrets; null if this object never read it. */
  storedRow(): ChannelRow | null {
    return this.#kv.get<ChannelRow>("row") ?? null;
  }

  /** Call before all storage is deleted. */
  forget(): void {
    this.#last = null;
  }

  /** Keeps the record, and its row for isolates that need it while the directory is down. */
  async #keep(read: ChannelRecord | null): Promise<void> {
    const record = this.#kv.isErased ? null : read;
    if (record === this.#last) return;
    const isNew = record && JSON.stringify(record.row) !== JSON.stringify(this.#last?.row ?? this.storedRow());
    if (isNew) this.#kv.put("row", record.row);
    this.#last = record;
    if (record) await this.#changed(record);
  }
}

/** The sending configuration of a channel; null if it is being deleted or is a web channel. */
export function sendingConfigOf(record: ChannelRecord | null): SendingConfig | null {
  if (!record || record.kind === "web") return null;
  const { kind, credentials, credentialsVersion, settings } = record;
  return { credentials, credentialsVersion, perSecond: settings.perSecond ?? ADAPTERS[kind].defaults.perSecond };
}
