import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { asParleyError, type Member, textOf } from "../api.ts";
import { drafts } from "../in-tab.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { TextBox } from "../parts/text-box.tsx";
import type { NotesStore } from "./notes-store.ts";
import { matchesOf, mentionsIn, queryAt } from "./written-mentions.ts";

interface NoteComposerProps {
  chatId: string;
  store: NotesStore;
  members: readonly Member[];
  /** Each time that the person begins, the box takes the keys. */
  begins: number;
  onAdded: () => void;
  /** @param answers whether the person goes on with an answer */
  onClose: (answers: boolean) => void;
}

const MAX_MATCHES = 6;

/** The text box of a note. It has its own text, color and button, and never sends a message. */
export function NoteComposer({ chatId, store, members, begins, onAdded, onClose }: NoteComposerProps) {
  const kept = `note ${chatId}`;
  const id = useId();
  const text = useSignal(drafts.read(kept) ?? "");
  const caret = useSignal(0);
  const at = useSignal(0);
  const isBusy = useSignal(false);
  const failure = useSignal("");
  /** If two members have the same name, the chosen one is meant. */
  const chosen = useRef<Member[]>([]);
  /** The same note, sent again after its answer was lost, is stored once. */
  const attempt = useRef({ text: "", key: "" });
  const box = useRef<HTMLTextAreaElement>(null);

  const readers = members.filter(({ permissions }) => permissions.includes("notes:read"));
  const query = queryAt(text.value, caret.value);
  const found = query ? matchesOf(query.words, readers, MAX_MATCHES) : [];
  // A name that is whole needs no help.
  const matches = found.length === 1 && found[0]?.name === query?.words ? [] : found;
  const current = matches[Math.min(at.value, matches.length - 1)];

  const change = (next: string, place: number) => {
    text.value = next;
    caret.value = place;
    at.value = 0;
    failure.value = "";
    drafts.save(kept, next);
  };
  const mention = (member: Member) => {
    if (!query || !box.current) return;
    chosen.current = [member, ...chosen.current];
    const before = `${text.value.slice(0, query.from)}@${member.name} `;
    const next = before + text.value.slice(caret.value).replace(/^ /, "");
    change(next, before.length);
    // The caret stands behind the name, also if more text follows.
    box.current.value = next;
    box.current.focus();
    box.current.setSelectionRange(before.length, before.length);
  };
  const add = async () => {
    const content = text.value.trim();
    if (attempt.current.text !== content) attempt.current = { text: content, key: crypto.randomUUID() };
    const mentions = mentionsIn(content, [...chosen.current, ...readers]);
    isBusy.value = true;
    try {
      await store.add(content, mentions, attempt.current.key);
      attempt.current = { text: "", key: "" };
      if (text.value.trim() === content) change("", 0);
      onAdded();
    } catch (cause) {
      const error = asParleyError(cause);
      const refused = error.errors.flatMap(({ path }) => {
        const memberId = mentions[Number(/^mentions\.(\d+)$/.exec(path)?.[1])];
        // Who was removed may no longer be among the members.
        return [...chosen.current, ...members].find(({ id }) => id === memberId)?.name ?? [];
      });
      failure.value = refused.length > 0 ? `${refused.join(", ")} can’t read notes.` : textOf(error);
    } finally {
      isBusy.value = false;
    }
  };

  return (
    <TextBox
      id={id}
      class="note-box"
      box={box}
      value={text.value}
      begins={begins}
      isEmpty={text.value.trim() === ""}
      isBusy={isBusy.value}
      onSubmit={() => void add()}
      hint="Ctrl Enter adds the note"
      failure={failure.value}
      placeholder="Write a note. @ mentions somebody"
      aria-autocomplete="list"
      aria-controls={matches.length > 0 ? `${id}-list` : undefined}
      aria-activedescendant={current && `${id}-${current.id}`}
      onInput={({ currentTarget: { value, selectionEnd } }) => change(value, selectionEnd)}
      onSelect={({ currentTarget }) => (caret.value = currentTarget.selectionEnd)}
      onKeyDown={(event) => {
        if (current && event.key === "ArrowDown") at.value = (at.value + 1) % matches.length;
        else if (current && event.key === "ArrowUp") at.value = (at.value + matches.length - 1) % matches.length;
        else if (current && (event.key === "Enter" || event.key === "Tab")) mention(current);
        else if (event.key === "Escape" && current) caret.value = 0;
        else if (event.key === "Escape") onClose(false);
        else return;
        event.preventDefault();
      }}
      bar={(hint, submit) => (
        <>
          {hint}
          <Button class="link end" onClick={() => onClose(true)}>
            Write a message
          </Button>
          <button class="button note-add" {...submit}>
            Add note
          </button>
        </>
      )}
    >
      <label class="note-box-label small" for={id}>
        <Icon name="note" /> Note, seen by your team only
      </label>
      {matches.length > 0 && (
        <div role="listbox" id={`${id}-list`} class="note-matches" aria-label="Members">
          {matches.map((member) => (
            <div
              key={member.id}
              id={`${id}-${member.id}`}
              class="item"
              role="option"
              tabIndex={-1}
              aria-selected={member === current}
              // The text keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => mention(member)}
              onKeyDown={(event) => event.key === "Enter" && mention(member)}
            >
              <bdi>{member.name}</bdi>
            </div>
          ))}
        </div>
      )}
    </TextBox>
  );
}
