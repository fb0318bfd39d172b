import type { Member } from "../api.ts";
import { say, sayError, sayFailure, sayUndoable } from "../parts/toast.tsx";
import { currentSession } from "../session.ts";
import { assignedText, memberName } from "./assignee.tsx";
import type { ConversationStore } from "./conversation-store.ts";

/** What assigns the chat that the person sees. */
export function assigning(store: ConversationStore, members: readonly Member[]) {
  const { member } = currentSession();
  const seen = store.chat.value?.assigneeId ?? null;
  const nameOf = (memberId: string | null) => memberId && memberName(memberId, members);

  /** @param before the assignee that the chat must have */
  const assign = (memberId: string | null, before = seen) => {
    const work = async () => {
      const isGiven = await store.assign(memberId, before);
      if (isGiven) sayUndoable(assignedText(nameOf(memberId)), async () => assign(before, memberId));
      else sayFailure(`Somebody was faster: ${assignedText(nameOf(store.chat.value?.assigneeId ?? null))}`);
    };
    store.once("assign", work).catch(sayError);
  };

  /** Assigns the chat to the person, or to nobody if it is theirs. */
  const takeOrFree = () => {
    if (!member || !store.chat.value) return;
    if (seen === null || seen === member.id) return assign(seen === null ? member.id : null);
    // It may be theirs since a moment ago, and the person has not seen that. So the key alone takes it from nobody.
    const remove = say(assignedText(nameOf(seen)), {
      label: "Take over",
      run: () => {
        remove();
        assign(member.id, seen);
      },
    });
  };

  return { assign, takeOrFree };
}
