import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useLongList } from "../../shared/long-list/use-long-list.tsx";
import type { Member, Message } from "../api.ts";
import { dayOf, plural } from "../format.ts";
import { LazyExtra } from "../lazy.tsx";
import { NoteLine } from "../notes/note-line.tsx";
import type { NotesStore } from "../notes/notes-store.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Missing } from "../parts/screen.tsx";
import { Empty, Skeleton } from "../parts/states.tsx";
import { now } from "../parts/time.tsx";
import { sayFailure } from "../parts/toast.tsx";
import { may } from "../session.ts";
import { Bubble, ScheduledBubble } from "./bubble.tsx";
import type { ConversationStore } from "./conversation-store.ts";
import { leadNowhere, leadTo } from "./lead-to.ts";
import { linesOf, newestSeq } from "./timeline.ts";

interface MessagesProps {
  store: ConversationStore;
  notes: NotesStore;
  members: Member[];
  chosen: string | null;
  onChoose: (messageId: string) => void;
}

/** Older messages are loaded when the scrolling rests this long: what is put before moving messages would move them. */
const REST_MS = 100;

/** The messages of a chat. What one reads stays in its place, and a button counts what is new below. */
export function Messages(props: MessagesProps) {
  if (props.store.state.value !== "loading") return <Log {...props} />;
  return (
    <div class="messages">
      <Skeleton rows={6} />
    </div>
  );
}

function Log({ store, notes, members, chosen, onChoose }: MessagesProps) {
  const messages = store.messages.value;
  const allNotes = notes.notes.value;
  const from = store.shownFrom();
  const lines = useMemo(() => linesOf(messages, allNotes, from), [messages, allNotes, from]);
  const names = useMemo(() => new Map(members.map(({ id, name }) => [id, name])), [members]);
  /** What sent each failed message again. */
  const repeats = useMemo(() => new Map(messages.map((message) => [message.resendOf, message])), [messages]);
  const newest = useMemo(() => newestSeq(messages), [messages]);

  const placed = (message: Message, run: { isFirst: boolean; isWithin: boolean }) => {
    const props = { message, isChosen: message.id === chosen, onChoose, store };
    if (message.seq === null) return <ScheduledBubble {...props} />;
    // Until the names are there, they have their room.
    const unknown = members.length === 0 ? "\u00a0" : null;
    const writer = message.author?.name ?? message.author?.id ?? null;
    const sender = message.senderId === null ? writer : (names.get(message.senderId) ?? unknown);
    return <Bubble {...props} {...run} sender={sender} again={repeats.get(message.id)} />;
  };
  const list = useLongList(lines, newest, true, ({ key, message, note, isNewDay, ...run }) => (
    <Fragment key={key}>
      {isNewDay && (
        <p class="day">
          <span>{dayOf(Date.parse((message ?? note).createdAt), now.value)}</span>
        </p>
      )}
      {note ? (
        <NoteLine store={notes} note={note} members={members}>
          {note.draft && (
            <LazyExtra>{({ DraftActs }) => <DraftActs store={store} notes={notes} note={note} />}</LazyExtra>
          )}
        </NoteLine>
      ) : (
        placed(message, run)
      )}
    </Fragment>
  ));

  // Who sends wants to see it.
  useLayoutEffect(() => list.toEnd(), [store.sends.value]);

  const isLoadingOlder = store.isLoadingOlder.value;
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(rest.current), []);
  const loadOlder = () => {
    const { scrollTop = 0, clientHeight = 0 } = list.box.current ?? {};
    // After a failure only the button tries again.
    if (scrollTop < clientHeight && store.hasOlder.value && !store.error.value) void store.older();
  };

  const reached = useRef("");
  /** Loads a note that a link leads to, and the messages around it, once. */
  const reachNote = (id: string) => {
    if (!id.startsWith("note_") || reached.current === id) return;
    reached.current = id;
    const reach = async () => {
      const note = await notes.reach(id);
      if (!note) {
        leadNowhere();
        sayFailure("The note was deleted.");
      } else await store.reach(() => store.shownFrom() <= note.afterSeq);
    };
    void reach()
      .catch(store.failed)
      .finally(() => (reached.current = ""));
  };

  // A link to a message or a note leads there once it is loaded, also if it is not drawn. Without the hash, the same link
  // leads there again.
  useEffect(() => {
    const jump = () => {
      const { hash, pathname } = location;
      // The address of another chat, which is drawn in a moment.
      if (!pathname.endsWith(store.chat.value?.id ?? "")) return;
      const index = lines.findIndex(({ key }) => `#${key}` === hash);
      if (index < 0) return reachNote(hash.slice(1));
      list.show(index, () => {
        // Another link was followed in the meantime.
        if (location.hash !== hash) return;
        leadTo(hash.slice(1));
        leadNowhere();
      });
    };
    jump();
    addEventListener("hashchange", jump);
    return () => removeEventListener("hashchange", jump);
  }, [lines]);

  return (
    <div
      class="messages"
      role="log"
      aria-label="Messages"
      aria-live={list.isLive() ? "polite" : "off"}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
      tabIndex={0}
      ref={list.box}
      onScroll={() => {
        list.onScroll();
        clearTimeout(rest.current);
        rest.current = setTimeout(loadOlder, REST_MS);
      }}
    >
      {store.hasOlder.value && (
        <Button class="link messages-older" aria-busy={isLoadingOlder} onClick={() => void store.older()}>
          {isLoadingOlder ? "Loading…" : "Show older messages"}
        </Button>
      )}
      {!may("messages:read") ? (
        <Missing permission="messages:read" title="You can’t read messages" />
      ) : (
        lines.length === 0 && (
          <Empty icon="channel" title="No messages yet">
            Write the first one.
          </Empty>
        )
      )}
      <div class="lines" ref={list.log}>
        {list.drawn}
      </div>
      {list.below() > 0 && (
        <Button class="button messages-below" onClick={() => list.toEnd()}>
          <Icon name="down" /> {plural(list.below(), "new message")}
        </Button>
      )}
    </div>
  );
}
