import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Chat } from "../api.ts";
import { Lazy } from "../lazy.tsx";
import { route } from "../location.ts";
import { contactName } from "../names.ts";
import { NotesStore } from "../notes/notes-store.ts";
import { useAll, usePlace } from "../organization.ts";
import { Avatar } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, Failure, Skeleton } from "../parts/states.tsx";
import { say, sayError, sayFailure } from "../parts/toast.tsx";
import { currentSession, may } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { Assignee, assignedText, memberName, sayAssigned } from "./assignee.tsx";
import { canAct } from "./bubble.tsx";
import { Composer } from "./composer.tsx";
import { ContactPanel } from "./contact-panel.tsx";
import { ConversationStore } from "./conversation-store.ts";
import { listen } from "./live.ts";
import { Messages } from "./messages.tsx";
import { endTyping, typists } from "./typing.ts";
import { useRead } from "./use-read.ts";

interface ConversationProps {
  id: string;
  /** The chat, if the list has it. */
  known: Chat | null;
  onChat: (chat: Chat) => void;
}

const NARROW = "(max-width: 1350px)";

/** One chat: its messages, the composer, and what is known about the contact or a message. */
export function Conversation({ id, known, onChat }: ConversationProps) {
  const { api, to } = usePlace();
  const store = useMemo(() => new ConversationStore(api, id, known, onChat), [api, id]);
  const { data: members = [], isLoading } = useAll("members");
  const chosen = useSignal<string | null>(null);
  const isSearching = useSignal(false);
  const hasPanel = useSignal(!matchMedia(NARROW).matches);
  const notes = useMemo(() => new NotesStore(api, id, () => store.shownFrom()), [store]);
  const { isNote, begins } = store.writing.value;

  useEffect(() => {
    const load = () => {
      void store.load();
      notes.load().catch(store.failed);
    };
    load();
    return listen((event) => {
      if (!event) return load();
      if (event.chatId === id && /^message\.(received|created)$/.test(event.type)) endTyping(id);
      store.take(event);
      notes.take(event);
    });
  }, [store]);
  useRead(store);
  const shownFrom = store.shownFrom();
  const isReady = store.state.value === "ready";
  useEffect(() => {
    if (isReady) notes.older().catch(store.failed);
  }, [notes, isReady, shownFrom]);

  const chat = store.chat.value;
  const answered = () => {
    if (!chat?.unansweredSince) return;
    store.markAnswered().then(() => say("Marked as answered"), sayError);
  };
  const answer = () => {
    const message = store.messages.value.find((one) => one.id === chosen.value);
    store.write(message && canAct(message) ? message : null);
  };
  const writeNote = may("notes:write") ? () => store.writeNote() : null;
  const { member } = currentSession();
  const nameOf = (memberId: string | null) => memberId && memberName(memberId, everybody);
  const assign = (assigneeId: string | null, ifAssigneeId = chat?.assigneeId ?? null) => {
    store.assign(assigneeId, ifAssigneeId).then((isGiven) => {
      if (isGiven) sayAssigned(nameOf(assigneeId));
      else sayFailure(`Somebody was faster: ${assignedText(nameOf(store.chat.value?.assigneeId ?? null))}`);
    }, sayError);
  };
  const everybody = member && !members.some(({ id }) => id === member.id) ? [member, ...members] : members;
  const takeOrFree = () => {
    const { assigneeId = null } = chat ?? {};
    if (!member) return;
    if (assigneeId === null || assigneeId === member.id) return assign(assigneeId === null ? member.id : null);
    // It may be theirs since a moment ago, and the person has not seen that. So the key alone takes it from nobody.
    const remove = say(assignedText(nameOf(assigneeId)), {
      label: "Take over",
      run: () => {
        remove();
        assign(member.id, assigneeId);
      },
    });
  };
  useShortcuts([
    { keys: "r", label: "Reply, to the selected message if there is one", run: answer },
    { keys: "f", label: "Find in this conversation", run: () => (isSearching.value = may("messages:read")) },
    { keys: "e", label: "Mark the chat as answered", run: answered },
    ...(member && may("chats:write")
      ? [{ keys: "a", label: "Assign the chat to yourself, or unassign it", run: takeOrFree }]
      : []),
    ...(writeNote ? [{ keys: "w", label: "Write a note, for your team only", run: writeNote }] : []),
    { keys: "i", label: "Show or hide the details", run: () => (hasPanel.value = !hasPanel.value) },
    { keys: "Escape", label: "Undo the last message, or close the chat", run: () => route(to("inbox")) },
  ]);

  const error = store.error.value;
  if (store.state.value === "gone") {
    return <NoConversation title="There is no such chat">It may have been deleted.</NoConversation>;
  }
  if (!chat) {
    return (
      <section class="conversation" aria-label="Conversation">
        {error ? <Failure error={error} onRetry={() => void store.load()} /> : <Skeleton rows={8} />}
      </section>
    );
  }
  const name = contactName(chat);
  const writers = [...typists.value.values()].filter((one) => one.chatId === id).map((one) => one.name ?? name);
  const message = store.messages.value.find((one) => one.id === chosen.value) ?? null;
  return (
    <>
      <section class="conversation" aria-label={`Conversation with ${name}`}>
        <header class="conversation-head">
          <a class="plain conversation-back" href={to("inbox")} aria-label="Back to the list">
            <Icon name="back" />
          </a>
          <Avatar {...chat.contact} />
          <div class="grow">
            <h1 class="clip" dir="auto">
              {name}
            </h1>
            <p class="quiet small clip" dir="auto">
              {chat.channel.name}
            </p>
          </div>
          {chat.unansweredSince && may("chats:write") && (
            <Button onClick={answered} title="Mark as answered (e)">
              <Icon name="check" />
              <span class="wide-only">Mark as answered</span>
            </Button>
          )}
          <Assignee id={chat.assigneeId} members={everybody} onAssign={may("chats:write") ? assign : null} />
          {may("messages:read") && (
            <Button
              icon="search"
              aria-label="Find in this conversation"
              title="Find in this conversation (f)"
              onClick={() => (isSearching.value = !isSearching.value)}
            />
          )}
          <Button
            icon="panel"
            aria-label="Details"
            title="Details (i)"
            aria-expanded={hasPanel.value}
            onClick={() => (hasPanel.value = !hasPanel.value)}
          />
        </header>
        {isSearching.value && (
          <Lazy>{({ SearchBar }) => <SearchBar store={store} onClose={() => (isSearching.value = false)} />}</Lazy>
        )}
        {error && <Failure error={error} onRetry={() => void store.load()} />}
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
        <p class={writers.length === 0 ? "hidden" : "typing quiet small"} role="status">
          {writers.length > 0 && (
            <>
              <bdi>{writers.join(", ")}</bdi> {writers.length > 1 ? "are" : "is"} typing…
            </>
          )}
        </p>
        {isNote && (
          <div class="composer">
            <Lazy>
              {({ NoteComposer }) => (
                <NoteComposer
                  key={id}
                  chatId={id}
                  store={notes}
                  members={everybody}
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
            members={everybody}
            isLoadingMembers={isLoading && everybody.length === 0}
            isAside={isNote}
            onNote={writeNote}
          />
        ) : (
          !isNote && (
            <p class="composer-none">
              To answer, you need the permission messages:send.{" "}
              {writeNote && (
                <Button class="link" onClick={writeNote}>
                  Write a note
                </Button>
              )}
            </p>
          )
        )}
      </section>
      {hasPanel.value && (
        <aside class="panel" aria-label="Details">
          {message ? (
            <Lazy>
              {({ MessagePanel }) => (
                <MessagePanel
                  key={message.id}
                  store={store}
                  message={message}
                  members={members}
                  onClose={() => (chosen.value = null)}
                />
              )}
            </Lazy>
          ) : (
            <ContactPanel store={store} chat={chat} onClose={() => (hasPanel.value = false)} />
          )}
        </aside>
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
