import { type Signal, signal } from "@preact/signals";
import type { UploadFile } from "../../shared/files/repeat-upload.ts";
import type { FileStage } from "../../shared/files/stage.ts";
import { type Chat, type Message, ParleyError, textOf } from "../api.ts";
import { drafts } from "../in-tab.ts";
import { contactName } from "../names.ts";
import type { Place } from "../organization.ts";
import { say, sayError } from "../parts/toast.tsx";
import { serviceNow } from "../service-clock.ts";
import { currentSession, may } from "../session.ts";
import type { ConversationStore } from "./conversation-store.ts";
import { begunAt, type Draft, stageOf, textIn, type Undecided, undecidedSends } from "./drafts.ts";
import { sayFailedIn } from "./say-failed.ts";
import { undoMs } from "./undo.ts";
import { type UndoPart, undosOf } from "./undos.ts";
import { unfilledIn } from "./unfilled.ts";
import { uploadStaged, uploadTo } from "./upload-staged.ts";

/** The service refuses a send across a message that is due within 15 seconds. The clocks may differ by a little. */
const SOON_MS = 17_000;

const STILL_SENDING = new ParleyError("The last message is still being sent. Try again in a moment.", {
  status: null,
  code: "busy",
});

const MOVED_ON = new ParleyError("The chat has newer messages.", { status: null, code: "chat_moved_on" });

/** A send about which the person is asked first: others wrote meanwhile, or its text is not whole. */
export interface Conflict {
  draft: Draft;
  /** What they wrote. */
  ahead: readonly Message[];
  /** A placeholder in the text that nobody filled; empty if it has none. */
  unfilled: string;
}

type Times = Pick<Draft, "scheduledAt" | "expiresAt">;

/**
 * What waits in one composer, and its sends: each once, in their order, and not across others' messages. A send that can
 * be undone **is** a message scheduled five seconds ahead (`undoMs`), and undoing it cancels that message. So the service
 * sends it even if the tab is closed meanwhile, and an undo that is too late is refused.
 */
export class Sending {
  readonly isBusy = signal(false);
  readonly conflict = signal<Conflict | null>(null);
  readonly text: Signal<string>;
  readonly stage: FileStage;
  readonly upload: UploadFile;
  readonly #store: ConversationStore;
  readonly #chat: Chat;
  readonly #place: Place;
  readonly #undos: ReturnType<typeof undosOf>;
  /** The member in whose name is sent. */
  senderId: string | null = null;
  readonly #senderKnown = Promise.withResolvers<void>();
  /** Whether the next message belongs to the send of the one before it. */
  #isSameSend = false;
  /** The text with a placeholder that nobody filled about which the person was asked last. */
  #asked = "";
  /** Two sends that can both be undone stay in their order, whatever the clock says meanwhile. */
  #lastDueAt = 0;

  constructor(store: ConversationStore, chat: Chat, place: Place) {
    this.#store = store;
    this.#chat = chat;
    this.#place = place;
    this.text = textIn(chat.id);
    this.stage = stageOf(chat.id);
    this.upload = uploadTo(place.organization.id, chat.id);
    this.#undos = undosOf(store, contactName(chat), (parts) => this.#putBack(parts));
    const { member } = currentSession();
    if (member) this.sendsAs(member.id);
  }

  /** The member in whose name is sent; null without members. The operator's sends wait until it is known. */
  sendsAs(memberId: string | null): void {
    this.senderId = memberId;
    this.#senderKnown.resolve();
  }

  /** The text was changed, so a refused one is no longer what the person would send. */
  write(text: string): void {
    this.text.value = text;
    drafts.save(this.#chat.id, text);
    if (text === "") this.#store.draftId.value = null;
    const { draft } = this.conflict.value ?? {};
    if (draft && !draft.templateId && !draft.interactive) this.conflict.value = null;
  }

  /** @param hasBegun whether something waits. What others write from its beginning on may be unknown to the person */
  begins(hasBegun: boolean): void {
    if (!hasBegun) begunAt.save(this.#chat.id, null);
    else if (begunAt.read(this.#chat.id) === null) this.#knows();
  }

  /** The person knows all that is on the page, and goes on with what waits. */
  #knows(): void {
    begunAt.save(this.#chat.id, { seq: this.#store.newestSeq() });
  }

  /**
   * What the person may not know of: what others of the company sent since the message was begun, and what others wrote
   * so lately that it can't have been read. Else two people answer the same question.
   */
  #unknown(): Message[] {
    const begun = begunAt.read(this.#chat.id);
    if (!may("messages:read")) return [];
    return this.#store.messages.value.filter((message) => {
      const { seq, direction, origin } = message;
      if (seq === null || seq <= (begun?.seq ?? 0) || this.#store.known.isOwn(message)) return false;
      // Away messages come from the service, and a send passes over them too.
      if (origin === "away") return false;
      return this.#store.known.isUnknown(message) || (begun !== null && direction === "OUTBOUND");
    });
  }

  /** Whether no text and no file waits. */
  isEmpty(): boolean {
    return this.text.value.trim() === "" && this.stage.files.length === 0;
  }

  /** Sends what waits, and says how it went. Never throws. */
  async sendWaiting(isAnyway = false, { scheduledAt, expiresAt }: Times = {}): Promise<void> {
    const times = { ...(scheduledAt && { scheduledAt }), ...(expiresAt && { expiresAt }) };
    if (!this.isEmpty()) await this.deliverWaiting(times, isAnyway).catch(this.#failed);
  }

  /** Sends what waits. If others wrote meanwhile, `conflict` asks. @throws ParleyError for any other refusal */
  async deliverWaiting(times: Times, isAnyway = false): Promise<void> {
    const draftId = this.#store.draftId.value;
    const draft = { content: this.text.value.trim(), ...times, ...(draftId && { draftId }) };
    if (this.#asksWhole(draft)) return;
    if (this.stage.files.length > 0) await this.#sendFiles(this.#answering(draft), isAnyway);
    else await this.deliver({ type: "TEXT", ...draft }, isAnyway);
  }

  /** Sends something else, as `deliverWaiting` does. @throws ParleyError */
  async deliver(draft: Draft, isAnyway = false): Promise<void> {
    if (this.#asksWhole(draft)) return;
    await this.#deliver(this.#answering(draft), isAnyway);
  }

  /** Sends what the person was asked about. If it was only the text, others may have written too. Never throws. */
  async sendAnyway({ draft, unfilled }: Conflict): Promise<void> {
    const isAnyway = unfilled === "";
    const isDraft = draft.draftId && draft.draftId !== this.#store.draftId.value;
    const isOther =
      isDraft || draft.templateId || draft.interactive || (isAnyway && draft.scheduledAt && !draft.mediaId);
    if (isOther) await this.#send(draft, isAnyway);
    else await this.sendWaiting(isAnyway, draft);
  }

  /** Sends a draft, or puts it into the text. The service sends each draft once. Never throws. */
  async takeDraft({
    note: { id, content },
    isSent,
  }: NonNullable<ConversationStore["drafted"]["value"]>): Promise<void> {
    this.#store.drafted.value = null;
    if (isSent) return this.deliver({ type: "TEXT", content, draftId: id }).catch(this.#failed);
    this.#store.draftId.value = id;
    this.write([this.text.value, content].filter(Boolean).join("\n"));
    this.#store.write();
  }

  /** Asks about a text with a placeholder that nobody filled, once. @returns whether it asks */
  #asksWhole(draft: Draft): boolean {
    const unfilled = draft.templateId ? "" : unfilledIn(draft.content);
    if (unfilled === "" || draft.content === this.#asked) return false;
    this.#asked = draft.content;
    this.conflict.value = { draft: this.#answering(draft), ahead: [], unfilled };
    return true;
  }

  #answering(draft: Draft): Draft {
    const answered = this.#store.answered.value;
    return answered ? { ...draft, replyTo: answered.id } : draft;
  }

  async #send(draft: Draft, isAnyway: boolean): Promise<void> {
    await this.#deliver(draft, isAnyway).catch(this.#failed);
  }

  async #deliver(draft: Draft, isAnyway: boolean): Promise<void> {
    if (this.isBusy.value) throw STILL_SENDING;
    const ahead = isAnyway || this.#isRepeat(draft) ? [] : this.#unknown();
    if (ahead.length > 0) return this.#ask(draft, ahead);
    this.isBusy.value = true;
    await this.#senderKnown.promise;
    const undecided = this.#decided(draft, isAnyway);
    undecidedSends.save(this.#chat.id, undecided);
    try {
      const message = await this.#store.send(undecided.body, undecided.key);
      undecidedSends.save(this.#chat.id, null);
      this.conflict.value = null;
      this.#sent(draft, message);
    } catch (error) {
      const isKnown = error instanceof ParleyError && error.status !== null && error.status < 500;
      if (isKnown) undecidedSends.save(this.#chat.id, null);
      if (error instanceof ParleyError && error.code === "note_not_found") this.#store.draftId.value = null;
      if (!(error instanceof ParleyError && error.code === "chat_moved_on")) throw error;
      this.isBusy.value = false;
      await this.#onConflict(draft);
    } finally {
      this.isBusy.value = false;
    }
  }

  /**
   * Uploads the files that are staged now, and sends each as a message, the first with the draft. What could not be sent
   * stays staged, and says why. A file that is taken away meanwhile is not sent, and an undo stops the rest. Never throws.
   */
  async #sendFiles(draft: Draft, isAnyway: boolean): Promise<void> {
    if (this.isBusy.value) return sayError(STILL_SENDING);
    const keys = this.stage.files.map(({ key }) => key);
    const begun = this.#undos.begun();
    this.isBusy.value = true;
    const isUploaded = await uploadStaged(this.stage, keys, this.upload).finally(() => (this.isBusy.value = false));
    if (!isUploaded) return;
    this.conflict.value = null;
    let next = draft;
    const { scheduledAt, expiresAt } = draft;
    const times = { ...(scheduledAt != null && { scheduledAt }), ...(expiresAt != null && { expiresAt }) };
    for (const key of keys) {
      const mediaId = this.stage.file(key)?.mediaId;
      if (this.#undos.begun() !== begun) break;
      if (mediaId == null) continue;
      await this.#send({ ...next, content: next.content === "" ? mediaId : next.content, mediaId }, isAnyway);
      // A send that failed has said so, or asks.
      if (this.stage.file(key)) break;
      this.#isSameSend = true;
      next = { content: "", ...times };
    }
    this.#isSameSend = false;
  }

  /** Whether the service may have the draft already. */
  #isRepeat(draft: Draft): boolean {
    return JSON.stringify(undecidedSends.read(this.#chat.id)?.draft) === JSON.stringify(draft);
  }

  #ask(draft: Draft, ahead: readonly Message[]): void {
    this.conflict.value = { draft, ahead, unfilled: "" };
    this.#knows();
    if (!this.#store.isShown) this.#failed(MOVED_ON);
  }

  /** Says that a message was not sent, and whose it was: its person may have gone on to another chat. */
  readonly #failed = (error: unknown): void => {
    sayFailedIn(this.#chat, textOf(error), (name) => `Your message to ${name} was not sent.`);
  };

  /** The body of a send, and its key. The repeat of a send whose answer was lost is the same, so it sends nothing twice. */
  #decided(draft: Draft, isAnyway: boolean): Undecided {
    const { id, channel } = this.#chat;
    const before = undecidedSends.read(id);
    if (before && this.#isRepeat(draft)) return before;
    const dueAt = Math.max(serviceNow() + undoMs(channel.kind), this.#lastDueAt + 1);
    const waits = draft.scheduledAt === undefined && dueAt > serviceNow();
    const body: Draft = {
      ...draft,
      ...(this.senderId !== null && { senderId: this.senderId }),
      ...(waits && { scheduledAt: new Date(dueAt).toISOString() }),
      // Who may not read messages does not know the newest one.
      ...(!isAnyway && may("messages:read") && { ifSeq: this.#store.newestSeq() }),
    };
    if (waits) this.#lastDueAt = dueAt;
    return { key: crypto.randomUUID(), draft, body };
  }

  /** What was sent leaves the composer, unless the composer has something else by now. */
  #sent(draft: Draft, { id: messageId, status, scheduledAt = "" }: Message): void {
    this.#store.takeIfFree(() => this.#takesFor()).catch(sayError);
    const text = draft.templateId || draft.content === draft.mediaId ? "" : draft.content;
    const file = draft.mediaId == null ? null : this.stage.sent(draft.mediaId);
    const answered = draft.replyTo == null ? null : (this.#store.byId.value.get(draft.replyTo) ?? null);
    if (answered !== null && this.#store.answered.value === answered) this.#store.answered.value = null;
    if (text !== "" && this.text.value.trim() === text) this.write("");
    if (draft.scheduledAt !== undefined) {
      say("Scheduled");
      return;
    }
    const leftMs = Date.parse(scheduledAt) - serviceNow();
    const isUndoable = status === "SCHEDULED" && leftMs > 0;
    if (file) setTimeout(() => this.stage.release(file), isUndoable ? leftMs : 0);
    if (isUndoable) this.#undos.offer({ messageId, text, file, answered }, leftMs, this.#isSameSend);
  }

  /** The member whose chat it becomes, if it is nobody's; null for no change. */
  async #takesFor(): Promise<string | null> {
    const { member } = currentSession();
    return member && may("chats:write") && (await this.#place.refresh()).assignOnAnswer ? member.id : null;
  }

  /** What was taken back waits again, above what was written since. */
  #putBack(parts: readonly UndoPart[]): void {
    const texts = [...parts.map(({ text }) => text), this.text.value];
    this.write(texts.filter((text) => text !== "").join("\n"));
    this.stage.putBack(parts.flatMap(({ file }) => file ?? []));
    const { answered } = this.#store;
    answered.value = parts.find((part) => part.answered)?.answered ?? answered.value;
    this.#store.goOn();
  }

  /** Others wrote meanwhile, or will in a moment. Messages sent from here don't count. */
  async #onConflict(draft: Draft): Promise<void> {
    const before = this.#store.newestSeq();
    await this.#store.load();
    const soon = serviceNow() + SOON_MS;
    const isAhead = ({ seq, status, scheduledAt }: Message) =>
      status === "SCHEDULED" ? Date.parse(scheduledAt ?? "") <= soon : (seq ?? 0) > before;
    const ahead = this.#store.messages.value.filter(isAhead);
    const isOwn = ahead.length > 0 && ahead.every((message) => this.#store.known.isOwn(message));
    if (isOwn) {
      const hasScheduled = ahead.some(({ status }) => status === "SCHEDULED");
      await this.#send(draft, hasScheduled);
    } else this.#ask(draft, ahead);
  }
}
