import { readOrganization } from "../../db/active-organization.ts";
import { prepareSchema } from "../../platform/object/schema-steps.ts";
import type { ChannelTable } from "./channel-table.ts";
import { findChannelRow } from "./configuration.ts";
import { ORGANIZATION_SCHEMA } from "./schema.ts";
import type { Settings } from "./settings.ts";

/**
 * Whether an organization and its channels exist. An object starts empty, and reading creates nothing. Before its first
 * write it asks D1 whether the organization exists, and before the first write for a channel, whether the channel does.
 */
export class Existence {
  readonly #env: Env;
  readonly #storage: DurableObjectStorage;
  readonly #channels: ChannelTable;
  readonly #settings: Pick<Settings, "setLimit">;
  #id: string | undefined;
  /** How often the organization was closed or deleted. D1's answer to an earlier query may be outdated. */
  #closings = 0;

  constructor(env: Env, storage: DurableObjectStorage, channels: ChannelTable, settings: Pick<Settings, "setLimit">) {
    this.#env = env;
    this.#storage = storage;
    this.#channels = channels;
    this.#settings = settings;
  }

  /** The organization's id; undefined while the object is empty. */
  get id(): string | undefined {
    return this.isReady() ? this.#id : undefined;
  }

  /** Whether the object has its tables. Creates nothing. */
  isReady(): boolean {
    if (this.#id === undefined) {
      const id = this.#storage.kv.get<string>("organization");
      // Before `#id` is set: if this throws, the next caller tries again.
      if (id !== undefined) prepareSchema(this.#storage, ORGANIZATION_SCHEMA);
      this.#id = id;
    }
    return this.#id !== undefined;
  }

  /** Whether the organization exists, by D1 if the object is empty. @throws if D1 does not answer */
  async exists(organizationId: string): Promise<boolean> {
    if (this.isReady()) return true;
    const closings = this.#closings;
    const row = await readOrganization(this.#env, organizationId);
    if (closings !== this.#closings) return this.exists(organizationId);
    if (row) this.#prepare(organizationId);
    return row !== undefined;
  }

  /**
   * Whether the organization has this channel, by D1 if it is new here. True for one that is closed.
   * @throws if D1 does not answer
   */
  async knows(organizationId: string, channelId: string): Promise<boolean> {
    if (this.isReady() && this.#channels.get(channelId)) return true;
    const closings = this.#closings;
    const row = await findChannelRow(this.#env, organizationId, channelId);
    if (closings !== this.#closings) return this.knows(organizationId, channelId);
    if (!row || (row.organization.erasingAt !== null && !this.isReady())) return false;
    this.#prepare(organizationId);
    this.#settings.setLimit(row.organization.limits);
    this.#channels.add(row.channel);
    return true;
  }

  /** The organization was closed. */
  closed(): void {
    this.#closings++;
  }

  forget(): void {
    this.#closings++;
    this.#id = undefined;
  }

  #prepare(organizationId: string): void {
    if (this.isReady()) return;
    this.#storage.kv.put("organization", organizationId);
    this.isReady();
  }
}
