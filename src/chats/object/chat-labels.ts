import { callOrganization } from "../../calls/call-organization.ts";
import type { ChatIdentity, RefusedDraft, Unknown } from "../../model/chat-answers.ts";
import { MAX_LABELS_OF_CHAT } from "../../model/label.ts";
import { type Adoption, UNKNOWN } from "./identity.ts";

const KEY = "labels";

interface Parts {
  env: Env;
  storage: { kv: SyncKvStorage };
  adoption: Pick<Adoption, "exists">;
}

/** The ids that a chat is to have; null if it has them. */
export type Labeling = { outcome: "ok"; ids: string[] | null } | RefusedDraft | Unknown;

/**
 * The ids of a chat's labels, in the order in which it got them. Their names are the organization's: see `LabelTable`. A
 * label that was deleted stays here until the chat gets another one, and nobody sees it.
 */
export class ChatLabels {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  ids(): string[] {
    return this.#parts.storage.kv.get<string[]>(KEY) ?? [];
  }

  /** Stores the ids, in the commit of their event. */
  write(ids: string[]): void {
    if (ids.length > 0) this.#parts.storage.kv.put(KEY, ids);
    else this.#parts.storage.kv.delete(KEY);
  }

  /**
   * What changes if the chat gets a label, or loses it: nothing if that is so already. Asks the organization's object
   * which of the labels there are.
   * @throws ApiError `unavailable` if that object does not answer
   */
  async change({ organizationId, life }: ChatIdentity, labelId: string, isGiven: boolean): Promise<Labeling> {
    const { adoption, env } = this.#parts;
    const asked = [...new Set([...this.ids(), labelId])];
    const found = await callOrganization(env, organizationId, (organization) => organization.labelsAmong(asked));
    if (!adoption.exists(life)) return UNKNOWN;
    if (!found.includes(labelId)) return { outcome: "refused", code: "label_not_found" };
    // Read again: another call may have changed them meanwhile. An id is never used again, so the
    // organization will never have one that it lacks now.
    const before = this.ids();
    if (before.includes(labelId) === isGiven) return { outcome: "ok", ids: null };
    const others = before.filter((id) => id !== labelId && (found.includes(id) || !asked.includes(id)));
    if (!isGiven) return { outcome: "ok", ids: others };
    if (others.length < MAX_LABELS_OF_CHAT) return { outcome: "ok", ids: [...others, labelId] };
    const text = `The chat already has ${MAX_LABELS_OF_CHAT} labels. Take one off first`;
    return { outcome: "refused", code: "label_limit", text };
  }
}
