import { signal } from "@preact/signals";
import { type Member, type Message, ParleyError } from "../api.ts";
import { say, sayError, sayFailure } from "../parts/toast.tsx";
import { serviceNow } from "../service-clock.ts";
import { may } from "../session.ts";
import type { ConversationStore, Draft } from "./conversation-store.ts";
import { type Undecided, undecidedSends } from "./drafts.ts";

/** The service refuses a send across a message that is due within 15 seconds. The clocks may differ by a little. */
const SOON_MS = 17_000;

const STILL_SENDING = new ParleyError("The last message is still being sent. Try again in a moment.", {
  status: null,
  code: "busy",
});

/** A send that can still be taken back. */
export interface Undoable {
  messageId: string;
  /** What comes back into the box. */
  text: string;
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
  /** How long a send can be undone; 0 sends at once. */
  undoMs: number;
  /** A text was sent and leaves the box, unless the box has another one by now. */
  onSent: (text: string) => void;
  /** A text was taken back. */
  onUndone: (text: string) => void;
}

/**
 * The sends of one composer: each once, in their order, and not across others' messages. A send that can be undone **is**
 * a message scheduled five seconds ahead (`undoMs`), and undoing it cancels that message. So the service sends it even if
 * the tab is closed meanwhile, and an undo that is too late is refused.
 */
export class Sending {
  readonly isBusy = signal(false);
  readonly conflict = signal<Conflict | null>(null);
  readonly undoable = signal<Undoable | null>(null);
  /** Set at each drawing of the composer. */
  state: ComposerState = { sender: null, members: [], undoMs: 0, onSent: () => {}, onUndone: () => {} };
  readonly #store: ConversationStore;
  readonly #chatId: string;
  /** The messages that were sent from here. */
  readonly #ownIds = new Set<string>();
  /** Two sends that can both be undone stay in their order, whatever the clock says meanwhile. */
  #lastDueAt = 0;

  constructor(store: ConversationStore, chatId: string) {
    this.#store = store;
    this.#chatId = chatId;
  }

  /** Sends, and says how it went. Never throws. @param isAnyway send though others wrote meanwhile */
  async send(draft: Draft, isAnyway = false): Promise<void> {
    await this.deliver(draft, isAnyway).catch(sayError);
  }

  /** Sends. If others wrote meanwhile, `conflict` asks. @throws ParleyError for any other refusal */
  async deliver(draft: Draft, isAnyway = false): Promise<void> {
    if (this.isBusy.value) throw STILL_SENDING;
    this.isBusy.value = true;
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

  /** Takes a send back. It can be tried again if the answer is lost. */
  async undo(sent: Undoable): Promise<void> {
    try {
      await this.#store.cancel(sent.messageId);
      this.state.onUndone(sent.text);
    } catch (error) {
      const isTooLate = error instanceof ParleyError && error.code === "not_cancelable";
      if (!isTooLate) return sayError(error);
      sayFailure("Too late to undo: already sent");
    }
    this.undoable.value = null;
    sent.removeToast();
  }

  /** The text was changed, so a refused one is no longer what the person would send. */
  corrected(): void {
    if (this.conflict.value && !this.conflict.value.draft.templateId) this.conflict.value = null;
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
    const text = draft.templateId ? "" : draft.content;
    if (text !== "") this.state.onSent(text);
    if (draft.scheduledAt !== undefined) {
      say("Scheduled");
      return;
    }
    const undoMs = Date.parse(scheduledAt) - serviceNow();
    if (status !== "SCHEDULED" || undoMs <= 0) return;
    const undoable: Undoable = { messageId, text, removeToast: () => {} };
    undoable.removeToast = say("Sending", { label: "Undo (Esc)", run: () => void this.undo(undoable) }, undoMs);
    this.undoable.value = undoable;
    setTimeout(() => {
      if (this.undoable.value === undoable) this.undoable.value = null;
    }, undoMs);
  }

  /** Others wrote meanwhile, or will in a moment. What was sent from here is no reason to ask. */
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
