import { useSignal } from "@preact/signals";
import type { Chat } from "../api.ts";
import { contactName } from "../names.ts";
import { usePlace } from "../organization.ts";
import { say, sayError } from "../parts/toast.tsx";
import { currentSession } from "../session.ts";
import { assignedText } from "./assignee.tsx";
import { NOBODY } from "./chat-rows.ts";

interface DropTargetsProps {
  /** The chat that is dragged. */
  chat: Chat;
  /** To whom it can be given. */
  whose: readonly { id: string; name: string }[];
  onChat: (chat: Chat) => void;
}

/** Where a chat can be dropped, to give it to somebody. The menu in the conversation and the key `a` assign it too. */
export function DropTargets({ chat, whose, onChat }: DropTargetsProps) {
  const { api } = usePlace();
  const { member } = currentSession();
  const over = useSignal<string | null>(null);
  const give = async (assigneeId: string | null, name: string) => {
    const body = { assigneeId, ifAssigneeId: chat.assigneeId };
    onChat((await api.PATCH("/chats/{id}", { path: { id: chat.id }, body })).chat);
    // Another chat may be open.
    say(`${contactName(chat)}: ${assignedText(assigneeId && (assigneeId === member?.id ? member.name : name))}`);
  };
  return (
    <ul class="drop-targets" aria-hidden="true">
      {whose.map(({ id, name }) => (
        <li
          key={id}
          class={over.value === id ? "drop-over" : ""}
          dir="auto"
          onDragOver={(event) => {
            event.preventDefault();
            over.value = id;
          }}
          onDragLeave={() => (over.value = null)}
          onDrop={(event) => {
            event.preventDefault();
            give(id === NOBODY ? null : id, name).catch(sayError);
          }}
        >
          {name}
        </li>
      ))}
    </ul>
  );
}
