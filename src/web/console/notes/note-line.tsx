import type { ComponentChildren } from "preact";
import type { Member } from "../api.ts";
import { exactTime, timeOfDay } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { currentSession, may } from "../session.ts";
import { piecesOf } from "./mentions.ts";
import type { Note, NotesStore } from "./notes-store.ts";

interface NoteLineProps {
  store: NotesStore;
  note: Note;
  members: readonly Member[];
  /** What a person does with a draft. */
  children: ComponentChildren;
}

/** A note among the messages. It looks different from them, and says who sees it. */
export function NoteLine({ store, note, members, children }: NoteLineProps) {
  const { id, author, content, mentions, createdAt, draft } = note;
  const at = Date.parse(createdAt);
  const isOwn = author.id === currentSession().member?.id;
  const mentioned = members.filter((member) => mentions.includes(member.id));
  const erase = (
    <Confirm title="Delete this note?" submit="Delete" done="Deleted" onSubmit={() => store.delete(id)}>
      <p>Its text is deleted permanently. This can’t be undone.</p>
    </Confirm>
  );
  return (
    <article id={id} class="note-line">
      <p class="line small">
        <Icon name="note" />
        <span class="grow">
          <b>{draft ? "Draft" : "Note"}</b> by <bdi>{author.name ?? "the operator"}</bdi>, seen by your team only
        </span>
        <time dateTime={createdAt} title={exactTime(at)}>
          {timeOfDay(at)}
        </time>
        {!draft && ((isOwn && may("notes:write")) || may("chats:erase")) && (
          <Button icon="close" aria-label="Delete the note" opens={erase} />
        )}
      </p>
      <p class="text" dir="auto">
        {piecesOf(content, mentioned).map(({ text, member }) => (member ? <b key={member.id}>{text}</b> : text))}
      </p>
      {children}
    </article>
  );
}
