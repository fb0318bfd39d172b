import { callOrganization } from "../../organizations/call-organization.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import type { ChatDetails } from "../chat.ts";
import { mergedMetadata } from "../message.ts";
import type { ChangeAnswer, ChatIdentity, DetailsPatch } from "../rpc.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { Adoption } from "./identity.ts";
import type { MessageLog } from "./log/message-log.ts";

/** What changes need of their chat. */
interface ChangeHost {
  env: Env;
  storage: DurableObjectStorage;
  log: MessageLog;
  adoption: Pick<Adoption, "exists">;
  report: Pick<ChatReporter, "answered" | "changed" | "settle" | "stateChanged">;
  alarm: Pick<StandingAlarm, "by">;
}

/**
 * What clients change of a chat, besides its messages. Each change is answered once the organization's object has it. If
 * that object does not answer, the alarm repeats the report.
 */
export class StoredDetails {
  readonly #host: ChangeHost;

  constructor(host: ChangeHost) {
    this.#host = host;
  }

  /** The contact's name and the metadata; null until a client changes them. */
  details(): ChatDetails | null {
    return this.#host.storage.kv.get<ChatDetails>("details") ?? null;
  }

  /**
   * Changes the contact's name and the metadata. A patch that changes nothing makes no event.
   * @throws ApiError `unavailable` if the organization's object does not answer to the first change
   */
  async patch(identity: ChatIdentity, { name, metadata }: DetailsPatch): Promise<ChangeAnswer> {
    const first = this.details() ?? (await this.#created(identity));
    if (!first || !this.#host.adoption.exists(identity.life)) return { outcome: "unknown" };
    // Another patch may have come first.
    const before = this.details() ?? first;
    const merged = mergedMetadata(before.metadata, metadata);
    if (merged.faults) return { outcome: "invalid", faults: merged.faults };
    const after = { name: name === undefined ? before.name : name, metadata: merged.metadata };
    if (JSON.stringify(after) !== JSON.stringify(before)) this.#store(after);
    return this.#reported();
  }

  /** The contact's messages so far need no answer. */
  answered(): Promise<ChangeAnswer> {
    this.#host.report.answered();
    return this.#reported();
  }

  /** The details that the chat was created with. */
  async #created({ organizationId, chatId }: ChatIdentity): Promise<ChatDetails | null> {
    const chat = await callOrganization(this.#host.env, organizationId, (organization) => organization.find(chatId));
    return chat && { name: chat.contact.name, metadata: chat.metadata };
  }

  #store(details: ChatDetails): void {
    const { log, report, storage } = this.#host;
    log.commit([{ type: "chat.updated", seq: null, note: null, at: Date.now() }], () => {
      storage.kv.put("details", details);
    });
    report.stateChanged();
  }

  async #reported(): Promise<ChangeAnswer> {
    const { alarm, report } = this.#host;
    await alarm.by(report.changed());
    return { outcome: (await report.settle(true)) ? "ok" : "not_reported" };
  }
}
