import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Member } from "../api.ts";
import { dayOf, plural } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Missing } from "../parts/screen.tsx";
import { Empty, Skeleton } from "../parts/states.tsx";
import { now } from "../parts/time.tsx";
import { may } from "../session.ts";
import { Bubble, ScheduledBubble } from "./bubble.tsx";
import type { ConversationStore } from "./conversation-store.ts";
import { linesOf, newestSeq } from "./timeline.ts";

interface MessagesProps {
  store: ConversationStore;
  members: Member[];
  chosen: string | null;
  onChoose: (messageId: string) => void;
}

/** How near to the end counts as being at the end, in pixels. */
const AT_END = 80;

/** The messages of a chat. What one reads stays in its place, and a button counts what is new below. */
export function Messages({ store, members, chosen, onChoose }: MessagesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const wasAtEnd = useRef(true);
  const heightBefore = useRef(0);
  const seenSeq = useRef(0);
  const below = useSignal(0);
  const messages = store.messages.value;
  const lines = useMemo(() => linesOf(messages), [messages]);
  const names = useMemo(() => new Map(members.map(({ id, name }) => [id, name])), [members]);
  /** What sent each failed message again. */
  const repeats = useMemo(() => new Map(messages.map((message) => [message.resendOf, message])), [messages]);
  const hasOlder = store.hasOlder.value;
  const oldest = lines[0]?.key;
  const isLoading = store.state.value === "loading";

  const look = () => {
    if (wasAtEnd.current) seenSeq.current = newestSeq(messages);
    below.value = messages.filter(({ seq }) => (seq ?? 0) > seenSeq.current).length;
  };
  const toEnd = () => {
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  };

  // The reader stays at the end, or at the same message while older ones are put before it.
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    if (wasAtEnd.current) toEnd();
    else if (heightBefore.current > 0) box.scrollTop += box.scrollHeight - heightBefore.current;
    heightBefore.current = 0;
    look();
  }, [lines.length, oldest, isLoading]);

  // What appears below, such as a notice at the composer, hides none of the last messages.
  useEffect(() => {
    if (!scroller.current) return;
    const observer = new ResizeObserver(() => wasAtEnd.current && toEnd());
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [isLoading]);

  // Who sends wants to see it.
  useEffect(toEnd, [store.sends.value]);

  const older = () => {
    heightBefore.current = scroller.current?.scrollHeight ?? 0;
    wasAtEnd.current = false;
    void store.older();
  };
  if (isLoading)
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
        look();
        if (box.scrollTop < AT_END && hasOlder && heightBefore.current === 0) older();
      }}
    >
      {hasOlder && (
        <Button class="link messages-older" onClick={older}>
          Show older messages
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
      {lines.map((line) => {
        if (line.kind === "day") {
          return (
            <p key={line.key} class="day">
              <span>{dayOf(line.at, now.value)}</span>
            </p>
          );
        }
        const props = { message: line.message, isChosen: line.message.id === chosen, onChoose, store };
        const sender = line.message.senderId === null ? null : (names.get(line.message.senderId) ?? null);
        return line.kind === "scheduled" ? (
          <ScheduledBubble key={line.key} {...props} />
        ) : (
          <Bubble
            key={line.key}
            {...props}
            sender={sender}
            isFirst={line.isFirst}
            again={repeats.get(line.message.id)}
          />
        );
      })}
      {below.value > 0 && (
        <Button class="button messages-below" onClick={toEnd}>
          <Icon name="down" /> {plural(below.value, "new message")}
        </Button>
      )}
    </div>
  );
}
