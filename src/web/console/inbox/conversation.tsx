import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import type { Chat, Member } from "../api.ts";
import { dayOf } from "../format.ts";
import { useMembers, usePlace } from "../organization.ts";
import { Avatar } from "../parts/badge.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, Failure, Skeleton } from "../parts/states.tsx";
import { now } from "../parts/time.tsx";
import { say, sayError } from "../parts/toast.tsx";
import { may } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { Bubble, ScheduledBubble } from "./bubble.tsx";
import { Composer } from "./composer.tsx";
import { ContactPanel } from "./contact-panel.tsx";
import { ConversationStore } from "./conversation-store.ts";
import { listen } from "./live.ts";
import { MessagePanel } from "./message-panel.tsx";
import { linesOf } from "./timeline.ts";

interface ConversationProps {
  id: string;
  /** The chat, if the list has it. */
  known: Chat | null;
  onChat: (chat: Chat) => void;
}

const NARROW = "(max-width: 1350px)";

/** One chat: its messages, the composer, and what is known about the contact or a message. */
export function Conversation({ id, known, onChat }: ConversationProps): JSX.Element {
  const { api, to } = usePlace();
  const { route } = useLocation();
  const store = useMemo(() => new ConversationStore(api, id, known, onChat), [api, id]);
  const members = useMembers();
  const chosen = useSignal<string | null>(null);
  const hasPanel = useSignal(!matchMedia(NARROW).matches);

  useEffect(() => {
    void store.load();
    return listen((event) => (event ? store.take(event) : void store.load()));
  }, [store]);

  const chat = store.chat.value;
  const answered = () => {
    if (!chat?.unansweredSince) return;
    store.markAnswered().then(() => say("Marked as answered"), sayError);
  };
  useShortcuts([
    { keys: "r", label: "Write an answer", run: () => document.getElementById("composer")?.focus() },
    { keys: "e", label: "Mark the chat as answered", run: answered },
    { keys: "i", label: "Show or hide the details", run: () => (hasPanel.value = !hasPanel.value) },
    { keys: "Escape", label: "Close the chat", run: () => route(to("inbox")) },
  ]);

  const error = store.error.value;
  if (store.state.value === "gone") {
    return (
      <section class="conversation conversation-none" aria-label="Conversation">
        <Empty icon="inbox" title="This chat doesn’t exist any more">
          It was deleted.
        </Empty>
      </section>
    );
  }
  if (!chat) {
    return (
      <section class="conversation" aria-label="Conversation">
        {error ? <Failure error={error} onRetry={() => void store.load()} /> : <Skeleton rows={8} />}
      </section>
    );
  }
  const name = chat.contact.name ?? chat.contact.address;
  const message = store.messages.value.find((one) => one.id === chosen.value) ?? null;
  return (
    <>
      <section class="conversation" aria-label={`Conversation with ${name}`}>
        <header class="conversation-head">
          <a class="plain conversation-back" href={to("inbox")} aria-label="Back to the list">
            <Icon name="back" />
          </a>
          <Avatar name={name} />
          <div class="grow">
            <h1 class="clip">
              <bdi>{name}</bdi>
            </h1>
            <p class="quiet small clip">
              <bdi>{chat.channel.name}</bdi>
            </p>
          </div>
          {chat.unansweredSince && may("chats:write") && (
            <button type="button" class="button" onClick={answered} title="Mark as answered (e)">
              <Icon name="check" />
              <span class="wide-only">Mark as answered</span>
            </button>
          )}
          <button
            type="button"
            class="plain"
            aria-label="Details"
            title="Details (i)"
            aria-expanded={hasPanel.value}
            onClick={() => (hasPanel.value = !hasPanel.value)}
          >
            <Icon name="panel" />
          </button>
        </header>
        {error && <Failure error={error} onRetry={() => void store.load()} />}
        <Messages
          store={store}
          members={members}
          chosen={chosen.value}
          onChoose={(one) => {
            chosen.value = one;
            hasPanel.value = true;
          }}
        />
        {may("messages:send") ? (
          <Composer key={id} store={store} chat={chat} members={members} />
        ) : (
          <p class="composer-none">To answer, you need the permission messages:send.</p>
        )}
      </section>
      {hasPanel.value && (
        <aside class="panel" aria-label="Details">
          {message ? (
            <MessagePanel
              key={message.id}
              store={store}
              message={message}
              members={members}
              onClose={() => (chosen.value = null)}
            />
          ) : (
            <ContactPanel store={store} chat={chat} onClose={() => (hasPanel.value = false)} />
          )}
        </aside>
      )}
    </>
  );
}

interface MessagesProps {
  store: ConversationStore;
  members: Member[];
  chosen: string | null;
  onChoose: (messageId: string) => void;
}

/** How near to the end counts as being at the end, in pixels. */
const AT_END = 80;

function Messages({ store, members, chosen, onChoose }: MessagesProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const wasAtEnd = useRef(true);
  const heightBefore = useRef(0);
  const messages = store.messages.value;
  const lines = useMemo(() => linesOf(messages), [messages]);
  const names = useMemo(() => new Map(members.map(({ id, name }) => [id, name])), [members]);
  const hasOlder = store.hasOlder.value;
  const oldest = lines[0]?.key;

  // The reader stays where the reader was: at the end, or at the same message while older ones are put before it.
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    if (wasAtEnd.current) box.scrollTop = box.scrollHeight;
    else if (heightBefore.current > 0) box.scrollTop += box.scrollHeight - heightBefore.current;
    heightBefore.current = 0;
  }, [lines.length, oldest, store.state.value]);

  const older = () => {
    heightBefore.current = scroller.current?.scrollHeight ?? 0;
    wasAtEnd.current = false;
    void store.older();
  };
  if (store.state.value === "loading")
    return (
      <div class="messages">
        <Skeleton rows={6} />
      </div>
    );
  return (
    <div
      class="messages"
      role="log"
      aria-label="Messages"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
      tabIndex={0}
      ref={scroller}
      onScroll={({ currentTarget: box }) => {
        wasAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < AT_END;
        if (box.scrollTop < AT_END && hasOlder && heightBefore.current === 0) older();
      }}
    >
      {hasOlder && (
        <button type="button" class="link messages-older" onClick={older}>
          Show older messages
        </button>
      )}
      {lines.length === 0 && (
        <Empty icon="channel" title="No messages yet">
          Write the first one.
        </Empty>
      )}
      {lines.map((line) => {
        if (line.kind === "day") {
          return (
            <p key={line.key} class="day">
              <span>{dayOf(line.at, now.value)}</span>
            </p>
          );
        }
        const props = { message: line.message, isChosen: line.message.id === chosen, onChoose };
        const sender = line.message.senderId === null ? null : (names.get(line.message.senderId) ?? null);
        return line.kind === "scheduled" ? (
          <ScheduledBubble key={line.key} {...props} store={store} />
        ) : (
          <Bubble key={line.key} {...props} sender={line.isFirst ? sender : null} isFirst={line.isFirst} />
        );
      })}
    </div>
  );
}
