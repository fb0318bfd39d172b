import type { Note, NotesStore } from "../notes/notes-store.ts";
import { Button, MainButton } from "../parts/button.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { may } from "../session.ts";
import type { ConversationStore } from "./conversation-store.ts";

interface DraftActsProps {
  store: ConversationStore;
  notes: NotesStore;
  note: Note;
}

/** What a person does with a draft. */
export function DraftActs({ store, notes, note }: DraftActsProps) {
  if (!may("notes:write")) return null;
  const take = (isSent: boolean) => (store.drafted.value = { note, isSent });
  return (
    <p class="line">
      {may("messages:send") && (
        <>
          <MainButton onClick={() => take(true)}>Send</MainButton>
          <Button onClick={() => take(false)}>Edit</Button>
        </>
      )}
      <Button
        opens={
          <Confirm title="Drop this draft?" submit="Drop" done="Dropped" onSubmit={() => notes.delete(note.id)}>
            <p>Its text is deleted permanently, and nothing is sent. This can’t be undone.</p>
          </Confirm>
        }
      >
        Drop
      </Button>
    </p>
  );
}
