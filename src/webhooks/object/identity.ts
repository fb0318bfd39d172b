import { prepareSchema } from "../../platform/object/schema-steps.ts";
import { type WebhookConfig, WebhookConfiguration } from "./configuration.ts";

/** Which webhook an object is of, and its configuration. A webhook that exists gets its tables. */
export class WebhookIdentity {
  readonly #storage: DurableObjectStorage;
  readonly #schema: readonly string[];
  readonly #configuration: WebhookConfiguration;
  #id: string | null = null;

  /** @param schema the steps of the tables' schema */
  constructor(env: Env, storage: DurableObjectStorage, schema: readonly string[]) {
    this.#storage = storage;
    this.#schema = schema;
    this.#configuration = new WebhookConfiguration(env, storage.kv);
  }

  /** The webhook's id, also in an alarm; empty if nothing is stored. */
  get id(): string {
    this.#id ??= this.#configuration.storedId();
    return this.#id ?? "";
  }

  /** A call names the webhook, and may be the first one. */
  set id(id: string) {
    this.#id = id;
  }

  /** Whether the object has tables. */
  get isStored(): boolean {
    return this.#storage.kv.get("schema") !== undefined;
  }

  /** Brings tables that exist up to date. */
  prepare(): void {
    if (this.isStored) prepareSchema(this.#storage, this.#schema);
  }

  /** The webhook's configuration; null if it was deleted. @param version see `WebhookConfiguration.read` */
  async config(version?: number): Promise<WebhookConfig | null> {
    const { id } = this;
    const config = id === "" ? null : await this.#configuration.read(id, version);
    if (config) prepareSchema(this.#storage, this.#schema);
    return config;
  }

  /** Reads the webhook's row again after it changed. */
  refresh(): Promise<void> {
    return this.#configuration.refresh(this.id);
  }

  /** Call before all storage is deleted. */
  reset(): void {
    this.#configuration.reset();
  }

  /** Logs a warning that names the webhook. */
  warn(fields: { event: string } & Record<string, unknown>): void {
    console.warn({ ...fields, webhookId: this.id });
  }
}
