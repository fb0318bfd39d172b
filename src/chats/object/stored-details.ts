import { callOrganization } from "../../calls/call-organization.ts";
import type { ChatDetails, Marketing } from "../../model/chat.ts";
import type {
  Assignment,
  CallerName,
  ChangeAnswer,
  ChatChange,
  ChatIdentity,
  DetailsPatch,
  RefusedDraft,
} from "../../model/chat-answers.ts";
import { mergedMetadata } from "../../model/message.ts";
import { pick } from "../../model/pick.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import type { ChatLabels } from "./chat-labels.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { ChatWork, WorkChange } from "./chat-work.ts";
import { type Consent, consentEvent } from "./consent.ts";
import type { ChatFiles } from "./files/chat-files.ts";
import type { Handover, HandoverChange } from "./handover.ts";
import type { Adoption } from "./identity.ts";
import type { ChatTables } from "./log/chat-tables.ts";
import type { GivenBack } from "./log/exchange.ts";
import type { MessageLog } from "./log/message-log.ts";
import { crossingText } from "./send-conditions.ts";

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  tables: Pick<ChatTables, "onceWritten">;
  log: MessageLog;
  adoption: Adoption;
  report: ChatReporter;
  consent: Consent;
  work: ChatWork;
  handover: Pick<Handover, "closed">;
  scheduled: { handedOver(): void };
  labels: ChatLabels;
  alarm: StandingAlarm;
  files: Pick<ChatFiles, "keepChat">;
}

/** The chat's assignee up to the message `upTo`; null for nobody. */
interface FormerAssignee {
  upTo: number;
  assigneeId: string | null;
}

/** When the network's own agent last gave the conversation back, and up to which message. */
interface HandedBack {
  /** Unix milliseconds. */
  at: number;
  upTo: number;
  /** The organization's object knows who waits since then. */
  isReported?: true;
}

/** What a change stores. */
interface Changed {
  details?: ChatDetails | null;
  assignment?: Assignment | null;
  marketing?: Marketing | null;
  work?: WorkChange | null;
  handover?: HandoverChange | null;
  labels?: string[] | null;
}

/**
 * What clients change of a chat, besides its messages. Each change is answered once the organization's object has it. If
 * that object does not answer, the alarm repeats the report.
 */
export class StoredDetails {
  readonly #parts: Parts;
  /** The details that the chat of this life was created with. */
  #first: { life: number; details: ChatDetails } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The contact's name and person, and the metadata; null until a client changes one of them. */
  details(): ChatDetails | null {
    return this.#parts.storage.kv.get<ChatDetails>("details") ?? null;
  }

  /** The member whose chat it is; null for nobody. */
  assigneeId(): string | null {
    return this.#parts.storage.kv.get<string>("assignee") ?? null;
  }

  /** The chat's assignee when a message came, by its seq; null for nobody. Only while no report counts it. */
  assignees(): (seq: number) => string | null {
    const [former, now] = [this.#formerAssignees(), this.assigneeId()];
    return (seq) => {
      const then = former.find(({ upTo }) => seq <= upTo);
      return then ? then.assigneeId : now;
    };
  }

  /**
   * Changes the contact's name and person, the metadata, the assignee, the marketing and the state, all or nothing.
   * Unchanged fields make no event.
   * @param isRepeat an earlier call with the same change may have changed the chat
   * @throws ApiError `unavailable` if the organization's object does not answer to the first change
   */
  async patch(identity: ChatIdentity, change: ChatChange, isRepeat = false): Promise<ChangeAnswer> {
    const { name, metadata, personId } = change.details;
    const isOfPerson = personId !== undefined;
    const isOfDetails = name !== undefined || metadata !== undefined || isOfPerson;
    const before = isOfDetails ? await this.#current(identity, isOfPerson) : null;
    if (isOfDetails && !before) return { outcome: "unknown" };
    return this.#change(before?.() ?? null, change, isRepeat);
  }

  /** Sets the contact's person, if it has none. @throws as `patch` */
  async setPerson(identity: ChatIdentity, personId: string): Promise<ChangeAnswer> {
    const before = (await this.#current(identity, true))?.();
    if (!before) return { outcome: "unknown" };
    // Reports even if the person stays: a report of an earlier call may be missing.
    return before.personId ? this.#reported() : this.#change(before, { details: { personId } });
  }

  /**
   * Fills the contact's name and keys of the metadata where they are empty; null fills nothing.
   * Calls nobody if nothing is to be filled.
   * @throws as `patch`
   */
  async fill(identity: ChatIdentity, { name, metadata }: ChatDetails): Promise<void> {
    const current = await this.#current(identity);
    if (!current) return;
    const before = current();
    const missing = Object.entries(metadata).filter(([key]) => !before.metadata[key]);
    const details: DetailsPatch = {
      ...(name !== null && !before.name && { name }),
      ...(missing.length > 0 && { metadata: Object.fromEntries(missing) }),
    };
    if (Object.keys(details).length === 0) return;
    const { outcome } = await this.#change(before, { details });
    // The metadata has no room. The name must be saved anyway.
    if (outcome === "invalid" && details.name !== undefined) {
      await this.#change(before, { details: { name: details.name } });
    }
  }

  /**
   * Unassigns the chat if it is the member's. Reports the assignee in either case: the organization would not ask if it
   * knew.
   */
  free(memberId: string): Promise<ChangeAnswer> {
    if (this.assigneeId() === memberId) this.#store({ assignment: { assigneeId: null, by: null } });
    else this.#parts.report.repeatState();
    return this.#reported();
  }

  /** Gives the chat a label, or takes it off. @throws ApiError `unavailable` if the organization's object does not answer */
  async label(identity: ChatIdentity, labelId: string, isGiven: boolean): Promise<ChangeAnswer> {
    const change = await this.#parts.labels.change(identity, labelId, isGiven);
    if (change.outcome !== "ok") return change;
    this.#store({ labels: change.ids });
    return this.#reported();
  }

  /** Hands the chat over, and assigns it. The organization's object learns of it later. */
  changeHands(handover: HandoverChange | null, assignment: Assignment | null = null): void {
    const isAssigned = assignment === null || assignment.assigneeId === this.assigneeId();
    this.#store({ handover, assignment: isAssigned ? null : assignment });
    const wait = handover?.wait;
    if (wait) this.#parts.tables.onceWritten(() => this.#parts.report.handedOver(wait));
    if (handover?.isToPeople) this.#parts.scheduled.handedOver();
  }

  /** The organization's object knows what changed. @returns whether it does */
  async isReported(): Promise<boolean> {
    return (await this.#reported()).outcome === "ok";
  }

  /** The contact's messages so far need no answer. @param ifSeq the seq that the newest one must have; null for any */
  async answered(ifSeq: number | null = null): Promise<ChangeAnswer> {
    const refusal = this.#movedOn(ifSeq);
    if (refusal) return refusal;
    this.#parts.report.answered();
    return this.#reported();
  }

  /**
   * Takes an `answered` back: what the contact wrote since the last message to it waits again, and the chat is open.
   * @param by null if the caller runs an earlier version
   */
  async unanswered(by: CallerName | null): Promise<ChangeAnswer> {
    const { report, work } = this.#parts;
    if (!report.unanswered()) return { outcome: "nothing_unanswered" };
    work.waitsAgain(by);
    return this.#reported();
  }

  givenBack(): GivenBack {
    return this.#handedBack() ?? { upTo: 0, at: 0 };
  }

  /**
   * The network's own agent gave the conversation back at `at` (Unix milliseconds). What the contact wrote to it, and
   * nobody answered, waits for an answer. An earlier report, or the same one again, changes nothing.
   */
  async handedBack({ life }: ChatIdentity, at: number): Promise<ChangeAnswer> {
    const { adoption, log, report, storage, work } = this.#parts;
    const before = this.#handedBack();
    if (before && (at < before.at || (at === before.at && before.isReported))) return { outcome: "ok" };
    const handedBack: HandedBack = { at, upTo: before?.at === at ? before.upTo : log.newest().seq };
    storage.kv.put("handedBack", handedBack);
    const isWaiting = report.unanswered();
    if (isWaiting) work.waitsAgain(null);
    const answer: ChangeAnswer = isWaiting ? await this.#reported() : { outcome: "ok" };
    if (answer.outcome === "ok" && adoption.exists(life)) {
      storage.kv.put("handedBack", { ...handedBack, isReported: true } satisfies HandedBack);
    }
    return answer;
  }

  #handedBack(): HandedBack | null {
    return this.#parts.storage.kv.get<HandedBack>("handedBack") ?? null;
  }

  /**
   * The details as they are whenever it is called, as another patch may come first; null if the chat is gone.
   * @param withPerson whether they must have the person, which an object of an earlier version did not store
   */
  async #current(identity: ChatIdentity, withPerson = false): Promise<(() => ChatDetails) | null> {
    const stored = this.details();
    const isWhole = stored !== null && (!withPerson || stored.personId !== undefined);
    const first = isWhole ? stored : await this.#created(identity);
    return first && this.#parts.adoption.exists(identity.life) ? () => ({ ...first, ...this.details() }) : null;
  }

  /** The details that the chat was created with. Each stays until its first change, which is here. */
  async #created({ organizationId, chatId, life }: ChatIdentity): Promise<ChatDetails | null> {
    if (this.#first?.life === life) return this.#first.details;
    const chat = await callOrganization(this.#parts.env, organizationId, (organization) => organization.find(chatId));
    if (!chat) return null;
    // An organization's object of an earlier version knows no person.
    const details = { name: chat.contact.name, metadata: chat.metadata, personId: chat.contact.personId ?? null };
    this.#first = { life, details };
    return details;
  }

  /** @param before the details as they are; null if the change has none */
  #change(
    before: ChatDetails | null,
    { details: patch, assignment = null, marketing = null, state = null }: ChatChange,
    isRepeat = false,
  ): Promise<ChangeAnswer> | ChangeAnswer {
    const assigneeId = this.assigneeId();
    const expected = assignment?.ifAssigneeId;
    // A repeated call finds its own change.
    const isDone = isRepeat && assigneeId === assignment?.assigneeId;
    if (expected !== undefined && expected !== assigneeId && !isDone) return { outcome: "reassigned" };
    const work = state && this.#parts.work.changeTo(pick(state, "state", "snoozedUntil"), state.by);
    // As above.
    const refusal = state && !(isRepeat && !work) ? this.#movedOn(state.ifSeq) : null;
    if (refusal) return refusal;
    const details = before && changedDetails(before, patch);
    if (details?.faults) return { outcome: "invalid", faults: details.faults };
    const said = marketing && this.#parts.consent.changedBy(marketing.by, marketing.optedOut, Date.now());
    const changed = assignment?.assigneeId === assigneeId ? null : assignment;
    const handover = work && state?.state === "closed" ? this.#parts.handover.closed(state.by) : null;
    this.#store({ details: details?.after ?? null, assignment: changed, marketing: said, work, handover });
    if (work && state?.state === "closed") this.#parts.report.answered();
    return this.#reported();
  }

  /** The refusal of a change whose caller does not know the newest message; null if it may be made. */
  #movedOn(ifSeq: number | null | undefined): RefusedDraft | null {
    const text = ifSeq == null ? null : crossingText(ifSeq, this.#parts.log);
    return text === null ? null : { outcome: "refused", code: "chat_moved_on", text };
  }

  /** Stores what changes in one commit. Null stays as it is. */
  #store(changed: Changed): void {
    const {
      details = null,
      assignment = null,
      marketing = null,
      work = null,
      handover = null,
      labels = null,
    } = changed;
    if (!details && !assignment && !marketing && !work && !handover && !labels) return;
    const { consent, files, log, report, storage } = this.#parts;
    const about = { seq: null, at: Date.now() };
    const { assigneeId = null, by = null } = assignment ?? {};
    const facts = [
      ...(details || labels ? [{ ...about, type: "chat.updated" as const, note: null }] : []),
      ...(assignment ? [{ ...about, type: "chat.assigned" as const, note: { assigneeId, by } }] : []),
      ...(marketing ? [consentEvent(marketing)] : []),
      ...(work ? [work.event] : []),
      ...(handover?.events ?? []),
    ];
    log.commit(facts, () => {
      if (details) storage.kv.put("details", details);
      if (assignment) this.#assign(assigneeId);
      if (marketing) consent.write(marketing);
      work?.write();
      handover?.write(log.newest().seq);
      if (labels) this.#parts.labels.write(labels);
      files.keepChat();
    });
    report.stateChanged();
  }

  /** Earlier messages still count for the former assignee, who is stored for those that no report counts yet. */
  #assign(assigneeId: string | null): void {
    const { log, report, storage } = this.#parts;
    const former = this.#formerAssignees().filter(({ upTo }) => upTo > report.countedUpTo);
    const upTo = log.newest().seq;
    if (upTo > (former.at(-1)?.upTo ?? report.countedUpTo)) {
      storage.kv.put("formerAssignees", [...former, { upTo, assigneeId: this.assigneeId() }]);
    }
    if (assigneeId === null) storage.kv.delete("assignee");
    else storage.kv.put("assignee", assigneeId);
  }

  #formerAssignees(): FormerAssignee[] {
    return this.#parts.storage.kv.get<FormerAssignee[]>("formerAssignees") ?? [];
  }

  async #reported(): Promise<ChangeAnswer> {
    const { alarm, report } = this.#parts;
    await alarm.by(report.changed());
    return { outcome: (await report.settle(true)) ? "ok" : "not_reported" };
  }
}

/** The details after a patch; `after` is null if it changes none of them. */
function changedDetails(
  before: ChatDetails,
  { name = before.name, metadata, personId = before.personId }: DetailsPatch,
) {
  const merged = mergedMetadata(before.metadata, metadata);
  if (merged.faults) return { faults: merged.faults };
  const after = { ...before, name, metadata: merged.metadata, ...(personId !== undefined && { personId }) };
  return { after: JSON.stringify(after) === JSON.stringify(before) ? null : after };
}
