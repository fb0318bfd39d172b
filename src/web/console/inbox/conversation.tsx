import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import type { Chat, Member } from "../api.ts";
import { holdKeys, takeKeys } from "../held-keys.ts";
import { Lazy, LazyDialog, LazyExtra } from "../lazy.tsx";
import { isFollowed, route } from "../location.ts";
import { contactName } from "../names.ts";
import type { NotesStore } from "../notes/notes-store.ts";
import { useAll, usePlace } from "../organization.ts";
import { TextButton } from "../parts/button.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { Empty, Failure, Skeleton } from "../parts/states.tsx";
import { Toasts } from "../parts/toast.tsx";
import { currentSession, may } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { assigning } from "./assigning.ts";
import { canAct } from "./bubble.tsx";
import { Composer } from "./composer.tsx";
import { ConversationHead } from "./conversation-head.tsx";
import type { ConversationStore } from "./conversation-store.ts";
import { Messages } from "./messages.tsx";
import { typists } from "./typing.ts";
import { useKnown } from "./use-known.ts";
import { useRead } from "./use-read.ts";
import { useStores } from "./use-stores.ts";
import { useWork } from "./use-work.ts";

interface ConversationProps {
  id: string;
  /** The chat, if the list has it. */
  known: Chat | null;
  onChat: (chat: Chat) => void;
}

const NARROW = "(max-width: 1350px)";

/** One chat: its messages, what the person writes, and what is known about the contact or a message. */
export function Conversation({ id, known, onChat }: ConversationProps) {
  const { to } = usePlace();
  const { store, notes, load } = useStores(id, known, onChat);
  const { data: members = [], isLoading } = useAll("members");
  const chosen = useSignal<string | null>(null);
  const isSearching = useSignal(false);
  const hasPanel = useSignal(!matchMedia(NARROW).matches);
  useRead(store);
  useKnown(store);
  const work = useWork(store);

  const { member } = currentSession();
  const everybody = member && !members.some(({ id }) => id === member.id) ? [member, ...members] : members;
  const { assign, takeOrFree } = assigning(store, everybody);
  const chat = store.chat.value;
  const message = store.messages.value.find((one) => one.id === chosen.value) ?? null;
  const label = <LazyDialog>{({ LabelsDialog }) => <LabelsDialog store={store} />}</LazyDialog>;
  const snooze = () =>
    openDialog(
      <LazyDialog>{({ SnoozeDialog }) => <SnoozeDialog onSnooze={work.snooze} chat={store.chat} />}</LazyDialog>,
    );
  useLayoutEffect(() => {
    if (!isFollowed.value) return;
    isFollowed.value = false;
    // On a phone the keyboard would cover the chat.
    if (!matchMedia("(pointer: coarse)").matches) store.goOn();
  }, [isFollowed.value, store]);
  const closeSearch = () => (isSearching.value = false);
  /** Closes what is open: the search, the details, or the chat. */
  const leave = () => {
    if (isSearching.value) closeSearch();
    else if (hasPanel.value) {
      chosen.value = null;
      hasPanel.value = false;
    } else route(to("inbox"));
  };
  const writeNote = may("notes:write") ? () => store.writeNote() : null;
  useShortcuts([
    {
      keys: "r",
      label: "Reply, to the selected message if there is one",
      run: () => store.write(message && canAct(message) ? message : null),
    },
    {
      keys: "f",
      label: "Find in this conversation",
      run: () => {
        if (!may("messages:read")) return;
        if (!isSearching.value) holdKeys(closeSearch);
        isSearching.value = true;
        document.getElementById("conversation-search")?.focus();
      },
    },
    ...(may("chats:write")
      ? [
          { keys: "e", label: "Mark the chat as answered", run: work.answer },
          { keys: "c", label: "Close the chat", run: work.close },
          { keys: "s", label: "Snooze the chat", run: snooze },
          { keys: "o", label: "Reopen the chat", run: work.reopen },
          { keys: "h", label: "Take the chat over from the bot", run: work.takeOver },
          { keys: "l", label: "Label the chat", run: () => openDialog(label) },
        ]
      : []),
    ...(member && may("chats:write")
      ? [{ keys: "a", label: "Assign the chat to yourself, or unassign it", run: takeOrFree }]
      : []),
    ...(writeNote ? [{ keys: "w", label: "Write a note, for your team only", run: writeNote }] : []),
    { keys: "i", label: "Show or hide the details", run: () => (hasPanel.value = !hasPanel.value) },
    { keys: "Escape", label: "Undo the last message, or close search, details or chat", run: leave },
  ]);

  const error = store.error.value;
  const isClosed = store.state.value === "gone" || (!chat && error !== null);
  // There is nothing to write in.
  useEffect(() => {
    if (isClosed) takeKeys();
  }, [isClosed]);
  if (store.state.value === "gone") {
    return <NoConversation title="There is no such chat">It may have been deleted.</NoConversation>;
  }
  if (!chat) {
    return (
      <section class="conversation" aria-label="Conversation">
        <Toasts />
        {error ? <Failure error={error} onRetry={() => void load()} /> : <Skeleton rows={8} />}
      </section>
    );
  }
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the key r does the same */}
      <section
        class="conversation"
        aria-label={`Conversation with ${contactName(chat)}`}
        onClick={({ target }) => meansToWrite(target) && store.goOn()}
      >
        <ConversationHead
          chat={chat}
          members={everybody}
          isSearching={isSearching}
          hasPanel={hasPanel}
          work={{
            ...work,
            // The button goes, and the keys are the text's.
            answer: () => {
              work.answer();
              store.goOn();
            },
            unanswer: () => {
              work.unanswer();
              store.goOn();
            },
          }}
          onSnooze={snooze}
          onAssign={assign}
        />
        {isSearching.value && <Lazy>{({ SearchBar }) => <SearchBar store={store} onClose={closeSearch} />}</Lazy>}
        <LazyExtra>{({ ReachLinked }) => <ReachLinked store={store} />}</LazyExtra>
        <Toasts />
        {error && <Failure error={error} onRetry={() => void load()} />}
        <Messages
          store={store}
          notes={notes}
          members={everybody}
          chosen={chosen.value}
          onChoose={(one) => {
            chosen.value = one;
            hasPanel.value = true;
          }}
        />
        <Writers chat={chat} />
        <Writing
          store={store}
          notes={notes}
          chat={chat}
          members={everybody}
          isLoadingMembers={isLoading && everybody.length === 0}
          onNote={writeNote}
        />
      </section>
      {hasPanel.value && (
        <aside class="panel" aria-label="Details">
          <Lazy>
            {({ ContactPanel, MessagePanel }) =>
              message ? (
                <MessagePanel
                  key={message.id}
                  store={store}
                  message={message}
                  members={members}
                  onClose={() => (chosen.value = null)}
                />
              ) : (
                <ContactPanel store={store} chat={chat} work={work} onClose={() => (hasPanel.value = false)} />
              )
            }
          </Lazy>
        </aside>
      )}
    </>
  );
}

/** Whether a click means the conversation itself: no control of it, and no text that is being selected. */
function meansToWrite(target: EventTarget | null): boolean {
  if (!(target instanceof Element) || matchMedia("(pointer: coarse)").matches) return false;
  const control = target.closest(
    "a, button, input, select, textarea, label, summary, video, audio, [role=menu], dialog",
  );
  return control === null && getSelection()?.isCollapsed !== false;
}

/** Who is typing in a chat. */
function Writers({ chat }: { chat: Chat }) {
  const writers = [...typists.value.values()].filter(({ chatId }) => chatId === chat.id);
  return (
    <p class={writers.length === 0 ? "hidden" : "typing quiet small"} role="status">
      {writers.length > 0 && (
        <>
          <bdi>{writers.map(({ name }) => name ?? contactName(chat)).join(", ")}</bdi>{" "}
          {writers.length > 1 ? "are" : "is"} typing…
        </>
      )}
    </p>
  );
}

interface WritingProps {
  store: ConversationStore;
  notes: NotesStore;
  chat: Chat;
  members: Member[];
  isLoadingMembers: boolean;
  /** Begins a note; null if the person may write none. */
  onNote: (() => void) | null;
}

/** Where the person writes: a note, or a message. */
function Writing({ store, notes, chat, members, isLoadingMembers, onNote }: WritingProps) {
  const { isNote, begins } = store.writing.value;
  const { id } = chat;
  return (
    <>
      {isNote && (
        <div class="composer">
          <Lazy>
            {({ NoteComposer }) => (
              <NoteComposer
                key={id}
                chatId={id}
                store={notes}
                members={members}
                begins={begins}
                onAdded={() => store.sends.value++}
                onClose={(answers) => (answers ? store.write() : store.closeNote())}
              />
            )}
          </Lazy>
        </div>
      )}
      {may("messages:send") ? (
        <Composer
          key={id}
          store={store}
          chat={chat}
          members={members}
          isLoadingMembers={isLoadingMembers}
          isAside={isNote}
          onNote={onNote}
        />
      ) : (
        !isNote && (
          <p class="composer-none">
            To answer, you need the permission messages:send.{" "}
            {onNote && <TextButton onClick={onNote}>Write a note</TextButton>}
          </p>
        )
      )}
    </>
  );
}

/** In place of a chat. */
export function NoConversation({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="conversation conversation-none" aria-label="Conversation">
      <Empty icon="inbox" title={title}>
        {children}
      </Empty>
    </section>
  );
}
