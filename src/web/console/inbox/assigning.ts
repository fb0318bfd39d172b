import { type Member, textOf } from "../api.ts";
import { currentPath } from "../location.ts";
import { say, sayUndoable } from "../parts/toast.tsx";
import { currentSession } from "../session.ts";
import { assignedText, memberName } from "./assignee.tsx";
import type { ConversationStore } from "./conversation-store.ts";
import { sayFailedIn } from "./say-failed.ts";

/** What assigns the chat that the person sees. */
export function assigning(store: ConversationStore, members: readonly Member[]) {
  const { member } = currentSession();
  const seen = store.chat.value?.assigneeId ?? null;
  const nameOf = (memberId: string | null) => memberId && memberName(memberId, members);

  /** @param before the assignee that the chat must have */
  const assign = (memberId: string | null, before = seen) => {
    const path = currentPath.value;
    const work = async () => {
      const isGiven = await store.assign(memberId, before);
      if (isGiven) sayUndoable(assignedText(nameOf(memberId)), async () => assign(before, memberId), path);
      else {
        const owner = assignedText(nameOf(store.chat.value?.assigneeId ?? null));
        sayFailedIn(store.chat.value, `Somebody was faster: ${owner}`);
      }
    };
    store.once("assign", work).catch((error: unknown) => sayFailedIn(store.chat.value, textOf(error)));
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
