import { signal } from "@preact/signals";
import { repeatUpload, type UploadFile } from "../../shared/files/repeat-upload.ts";
import type { FileStage, StagedFile } from "../../shared/files/stage.ts";
import { type Member, type Message, ParleyError } from "../api.ts";
import { say, sayError, sayFailure } from "../parts/toast.tsx";
import { serviceNow } from "../service-clock.ts";
import { may } from "../session.ts";
import type { ConversationStore } from "./conversation-store.ts";
import { type Draft, stageOf, type Undecided, undecidedSends } from "./drafts.ts";

/** The service refuses a send across a message that is due within 15 seconds. The clocks may differ by a little. */
const SOON_MS = 17_000;

const LOST = "The file couldn’t be sent. Check your connection.";

const STILL_SENDING = new ParleyError("The last message is still being sent. Try again in a moment.", {
  status: null,
  code: "busy",
});

/** A message that can still be taken back, and what comes back into the composer then. */
interface UndoPart {
  messageId: string;
  text: string;
  file: StagedFile | null;
  /** The message that it answers. */
  answered: Message | null;
}

/** A send that can still be taken back: of several messages, if it had several files. */
export interface Undoable {
  parts: UndoPart[];
  isUndoing?: boolean;
  removeToast: () => void;
}

/** A send that was refused because others wrote meanwhile. */
export interface Conflict {
  draft: Draft;
  /** Who wrote, as a sentence. */
  by: string;
}

/** What a send needs to know of the composer, as it is now. */
export interface ComposerState {
  /** The member in whose name is sent; null without members. */
  sender: string | null;
  /** Those whom the person may see, and the person. */
  members: readonly Pick<Member, "id" | "name">[];
  /** The member whose chat it becomes, if it is nobody's; null for no change. */
  takesFor: () => Promise<string | null>;
  /** How long a send can be undone; 0 sends at once. */
  undoMs: number;
  /** A text was sent and leaves the box, unless the box has another one by now. */
  onSent: (text: string) => void;
  /** Messages were taken back. */
  onUndone: (parts: readonly UndoPart[]) => void;
}

/**
 * The sends of one composer: each once, in their order, and not across others' messages. A send that can be undone **is**
 * a message scheduled five seconds ahead (`undoMs`), and undoing it cancels that message. So the service sends it even if
 * the tab is closed meanwhile, and an undo that is too late is refused.
 */
export class Sending {
  readonly isBusy = signal(false);
  readonly conflict = signal<Conflict | null>(null);
  /** Set at each drawing of the composer. */
  state: ComposerState = {
    sender: null,
    members: [],
    takesFor: async () => null,
    undoMs: 0,
    onSent: () => {},
    onUndone: () => {},
  };
  readonly stage: FileStage;
  readonly #store: ConversationStore;
  readonly #senderKnown = Promise.withResolvers<void>();
  /** The last send, while it can be taken back. */
  #undoable: Undoable | null = null;
  /** Whether the next message belongs to the send of the one before it. */
  #isSameSend = false;
  #undos = 0;
  readonly #chatId: string;
  /** The messages that were sent from here. */
  readonly #ownIds = new Set<string>();
  /** Two sends that can both be undone stay in their order, whatever the clock says meanwhile. */
  #lastDueAt = 0;

  constructor(store: ConversationStore, chatId: string) {
    this.#store = store;
    this.#chatId = chatId;
    this.stage = stageOf(chatId);
  }

  /** The sender in `state` is known. What was sent before waits for it. */
  senderIsKnown(): void {
    this.#senderKnown.resolve();
  }

  /** Sends, and says how it went. Never throws. @param isAnyway send though others wrote meanwhile */
  async send(draft: Draft, isAnyway = false): Promise<void> {
    await this.deliver(draft, isAnyway).catch(sayError);
  }

  /**
   * Uploads the files that are staged now, and sends each as a message, the first with the draft. What could not be sent
   * stays staged, and says why. A file that is taken away meanwhile is not sent, and an undo stops the rest. Never throws.
   */
  async sendFiles(draft: Draft, upload: UploadFile, isAnyway = false): Promise<void> {
    if (this.isBusy.value) return sayError(STILL_SENDING);
    const keys = this.stage.files.map(({ key }) => key);
    const undos = this.#undos;
    this.isBusy.value = true;
    const isUploaded = await this.#uploadAll(keys, upload).finally(() => (this.isBusy.value = false));
    if (!isUploaded) return;
    this.conflict.value = null;
    let next = draft;
    const { scheduledAt, expiresAt } = draft;
    const times = { ...(scheduledAt != null && { scheduledAt }), ...(expiresAt != null && { expiresAt }) };
    for (const key of keys) {
      const mediaId = this.stage.file(key)?.mediaId;
      if (this.#undos !== undos) break;
      if (mediaId == null) continue;
      await this.send({ ...next, content: next.content === "" ? mediaId : next.content, mediaId }, isAnyway);
      // A send that failed has said so, or asks.
      if (this.stage.file(key)) break;
      this.#isSameSend = true;
      next = { content: "", ...times };
    }
    this.#isSameSend = false;
  }

  /** Sends. If others wrote meanwhile, `conflict` asks. @throws ParleyError for any other refusal */
  async deliver(draft: Draft, isAnyway = false): Promise<void> {
    if (this.isBusy.value) throw STILL_SENDING;
    this.isBusy.value = true;
    await this.#senderKnown.promise;
    const undecided = this.#decided(draft, isAnyway);
    undecidedSends.save(this.#chatId, undecided);
    try {
      const message = await this.#store.send(undecided.body, undecided.key);
      undecidedSends.save(this.#chatId, null);
      this.conflict.value = null;
      this.#sent(draft, message);
    } catch (error) {
      const isKnown = error instanceof ParleyError && error.status !== null && error.status < 500;
      if (isKnown) undecidedSends.save(this.#chatId, null);
      if (!(error instanceof ParleyError && error.code === "chat_moved_on")) throw error;
      this.isBusy.value = false;
      await this.#onConflict(draft);
    } finally {
      this.isBusy.value = false;
    }
  }

  /** Takes a send back, as far as that is not too late. It can be tried again if an answer is lost. */
  async undo(sent: Undoable): Promise<void> {
    if (sent.isUndoing) return;
    sent.isUndoing = true;
    const undone: UndoPart[] = [];
    this.#undos++;
    try {
      for (const part of sent.parts.toReversed()) {
        await this.#store.cancel(part.messageId);
        undone.unshift(part);
        sent.parts = sent.parts.filter((one) => one !== part);
      }
    } catch (error) {
      const isTooLate = error instanceof ParleyError && error.code === "not_cancelable";
      if (isTooLate) sent.parts = [];
      if (isTooLate) sayFailure("Too late to undo: already sent");
      else sayError(error);
    }
    sent.isUndoing = false;
    if (undone.length > 0) this.state.onUndone(undone);
    if (sent.parts.length > 0) return;
    sent.removeToast();
    // Another message may have gone out meanwhile. It has an undo of its own.
    if (this.#undoable === sent) this.#undoable = null;
  }

  /** The text was changed, so a refused one is no longer what the person would send. */
  corrected(): void {
    const { draft } = this.conflict.value ?? {};
    if (draft && !draft.templateId && !draft.interactive) this.conflict.value = null;
  }

  /** The body of a send, and its key. The repeat of a send whose answer was lost is the same, so it sends nothing twice. */
  #decided(draft: Draft, isAnyway: boolean): Undecided {
    const before = undecidedSends.read(this.#chatId);
    if (before && JSON.stringify(before.draft) === JSON.stringify(draft)) return before;
    const { sender, undoMs } = this.state;
    const dueAt = Math.max(serviceNow() + undoMs, this.#lastDueAt + 1);
    const waits = draft.scheduledAt === undefined && dueAt > serviceNow();
    const body: Draft = {
      ...draft,
      ...(sender !== null && { senderId: sender }),
      ...(waits && { scheduledAt: new Date(dueAt).toISOString() }),
      // Who may not read messages does not know the newest one.
      ...(!isAnyway && may("messages:read") && { ifSeq: this.#store.newestSeq() }),
    };
    if (waits) this.#lastDueAt = dueAt;
    return { key: crypto.randomUUID(), draft, body };
  }

  #sent(draft: Draft, { id: messageId, status, scheduledAt = "" }: Message): void {
    this.#ownIds.add(messageId);
    this.#store.takeIfFree(this.state.takesFor).catch(sayError);
    const text = draft.templateId || draft.content === draft.mediaId ? "" : draft.content;
    const file = draft.mediaId == null ? null : this.stage.sent(draft.mediaId);
    const answered = draft.replyTo == null ? null : (this.#store.byId.value.get(draft.replyTo) ?? null);
    if (answered !== null && this.#store.answered.value === answered) this.#store.answered.value = null;
    if (text !== "") this.state.onSent(text);
    if (draft.scheduledAt !== undefined) {
      say("Scheduled");
      return;
    }
    const undoMs = Date.parse(scheduledAt) - serviceNow();
    const isUndoable = status === "SCHEDULED" && undoMs > 0;
    if (file) setTimeout(() => this.stage.release(file), isUndoable ? undoMs : 0);
    if (!isUndoable) return;
    const before = this.#isSameSend ? this.#undoable : null;
    before?.removeToast();
    const parts = [...(before?.parts ?? []), { messageId, text, file, answered }];
    const undoable: Undoable = { parts, removeToast: () => {} };
    const action = { label: "Undo (Esc)", run: () => void this.undo(undoable), isByEscape: true };
    undoable.removeToast = say("Sending", action, undoMs);
    this.#undoable = undoable;
    setTimeout(() => {
      if (this.#undoable === undoable) this.#undoable = null;
    }, undoMs);
  }

  /** @returns whether all of these files that are still staged are uploaded. Each that is not says why */
  async #uploadAll(keys: readonly string[], upload: UploadFile): Promise<boolean> {
    const { stage } = this;
    for (const key of keys) {
      const staged = stage.file(key);
      if (!staged || staged.mediaId !== null) continue;
      const { file, stop } = staged;
      stage.update(key, { trouble: null });
      const onProgress = (share: number) => stage.update(key, { share });
      const answer = await repeatUpload(upload, { file, key, signal: stop.signal, onProgress }, () => navigator.onLine);
      if (answer === null) continue;
      if (answer.outcome === "stored") stage.update(key, { share: null, mediaId: answer.mediaId });
      else {
        const trouble = answer.outcome === "lost" ? LOST : answer.trouble.message;
        stage.update(key, { share: null, trouble });
      }
    }
    const left = keys.flatMap((key) => stage.file(key) ?? []);
    return left.length > 0 && left.every(({ mediaId }) => mediaId !== null);
  }

  /** Others wrote meanwhile, or will in a moment. Messages sent from here don't count. */
  async #onConflict(draft: Draft): Promise<void> {
    const before = this.#store.newestSeq();
    await this.#store.load();
    const soon = serviceNow() + SOON_MS;
    const isAhead = ({ seq, status, scheduledAt }: Message) =>
      status === "SCHEDULED" ? Date.parse(scheduledAt ?? "") <= soon : (seq ?? 0) > before;
    const ahead = this.#store.messages.value.filter(isAhead);
    const isOwn = ahead.length > 0 && ahead.every(({ id }) => this.#ownIds.has(id));
    if (isOwn)
      await this.send(
        draft,
        ahead.some(({ status }) => status === "SCHEDULED"),
      );
    else this.conflict.value = { draft, by: whoWrote(ahead, this.state.members) };
  }
}

function whoWrote(ahead: readonly Message[], members: ComposerState["members"]): string {
  const answer = ahead.find(({ direction }) => direction === "OUTBOUND");
  if (answer) return `${members.find(({ id }) => id === answer.senderId)?.name ?? "A colleague"} answered meanwhile.`;
  return ahead.length > 0 ? "The contact wrote meanwhile." : "The chat has newer messages.";
}
