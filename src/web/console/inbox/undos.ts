import type { StagedFile } from "../../shared/files/stage.ts";
import { type Message, ParleyError } from "../api.ts";
import { say, sayError, sayFailure } from "../parts/toast.tsx";
import type { ConversationStore } from "./conversation-store.ts";

/** A message that can still be taken back, and what comes back into the composer then. */
export interface UndoPart {
  messageId: string;
  text: string;
  file: StagedFile | null;
  /** The message that it answers. */
  answered: Message | null;
}

/** A send that can still be taken back: of several messages, if it had several files. */
interface Undoable {
  parts: UndoPart[];
  isUndoing?: boolean;
  removeToast: () => void;
}

/** Takes back what one composer sent. @param to whom it writes to */
export function undosOf(store: ConversationStore, to: string, onUndone: (parts: readonly UndoPart[]) => void) {
  /** The last send, while it can be taken back. */
  let last: Undoable | null = null;
  let begun = 0;

  /** Another message may have gone out meanwhile. It has an undo of its own. */
  const forget = (sent: Undoable) => {
    if (last === sent) last = null;
  };

  /** Takes a send back, as far as that is not too late. It can be tried again if an answer is lost. */
  async function undo(sent: Undoable): Promise<void> {
    if (sent.isUndoing) return;
    sent.isUndoing = true;
    const undone: UndoPart[] = [];
    begun++;
    try {
      for (const part of sent.parts.toReversed()) {
        await store.cancel(part.messageId);
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
    if (undone.length > 0) onUndone(undone);
    if (sent.parts.length > 0) return;
    sent.removeToast();
    forget(sent);
  }

  return {
    /** How many undos were begun. */
    begun: () => begun,
    /** Offers an undo. @param isSameSend whether the message belongs to the send of the one before it */
    offer(part: UndoPart, forMs: number, isSameSend: boolean): void {
      const before = isSameSend ? last : null;
      before?.removeToast();
      const sent: Undoable = { parts: [...(before?.parts ?? []), part], removeToast: () => {} };
      const action = { label: "Undo (Esc)", run: () => void undo(sent), isByEscape: true, to };
      sent.removeToast = say("Sending", action, forMs);
      last = sent;
      setTimeout(() => forget(sent), forMs);
    },
  };
}
