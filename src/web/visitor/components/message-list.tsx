import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { fetchPart } from "../../shared/fetch-part.ts";
import { useLongList } from "../../shared/long-list/use-long-list.tsx";
import { hasEarlier, newestSeq } from "../conversation.ts";
import { fill } from "../texts.ts";
import { timelineOf } from "../timeline.ts";
import type { AskContact, AskContactProps } from "./ask-contact.tsx";
import { Bubble, type BubbleProps, showMessage } from "./bubble.tsx";
import { Icon } from "./icons.tsx";

interface MessageListProps extends AskContactProps {
  onAnswer: (id: string) => void;
}

/**
 * The messages. The log exists before the first message and is silent while history is added, so that a screen reader
 * announces each new message once and never the history.
 */
export function MessageList({ view, facts, words, session, asked, onAnswer }: MessageListProps) {
  const { texts } = words;
  // After a final close code, nothing can be sent or loaded.
  const ended = typeof view.link === "number";
  const { conversation, older, reacting } = view;
  const lines = useMemo(() => timelineOf(conversation, ended, reacting), [conversation, ended, reacting]);
  const now = Date.now();
  const jump = (seq: number) =>
    list.show(
      lines.findIndex((line) => line.seq === seq),
      () => showMessage(seq),
    );
  const isComplete = conversation.caughtUp && older !== "loading";
  const list = useLongList(lines, newestSeq(conversation), isComplete, (line) => (
    <Day
      key={line.key}
      line={line}
      words={words}
      now={now}
      view={view}
      ended={ended}
      session={session}
      onAnswer={onAnswer}
      onJump={jump}
    />
  ));
  const hasOlder = !ended && hasEarlier(conversation);
  const Ask = useAskContact(facts.askContact !== "never" && words.user === null && view.link === "online");
  const isLoading = lines.length === 0 && view.link === "connecting";
  const empty = lines.length === 0 && (conversation.caughtUp || view.link === "offline");

  // The button disappears after the last page. Then its focus moves to the list, not to the top of the page.
  const hadOlder = useRef(hasOlder);
  useLayoutEffect(() => {
    if (hadOlder.current && !hasOlder && document.activeElement === document.body) list.box.current?.focus();
    hadOlder.current = hasOlder;
  });

  // Who writes wants to see it.
  const last = lines.at(-1);
  useLayoutEffect(() => {
    if (last?.progress === "sending") list.toEnd();
  }, [last?.key]);

  return (
    <div class="list">
      <section
        class="scroller"
        data-scroller
        ref={list.box}
        onScroll={() => list.onScroll()}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll the list
        tabIndex={0}
        aria-label={texts.conversation}
      >
        {hasOlder && (
          <div class="older">
            {/* Not disabled while loading, because it would lose the focus. */}
            <button type="button" class="pill" onClick={() => session.loadOlder()} aria-busy={older === "loading"}>
              {older === "loading" ? texts.loading : texts.earlier}
            </button>
            <p role="status" class="trouble">
              {older === "failed" && texts.earlierFailed}
            </p>
          </div>
        )}
        {isLoading && (
          <div class="skeleton" aria-hidden="true">
            <i />
            <i />
            <i />
          </div>
        )}
        {empty && (
          <div class="empty">
            <p class="empty-title">{texts.emptyTitle}</p>
            <p class="greeting" dir="auto">
              {facts.greeting ?? texts.emptyText}
            </p>
            {!ended && (
              <Starters starters={facts.starters} label={texts.starters} onStart={(text) => session.write(text)} />
            )}
          </div>
        )}
        <div
          role="log"
          class="log"
          ref={list.log}
          aria-label={texts.messages}
          aria-live={list.isLive() ? "polite" : "off"}
          aria-relevant="additions"
        >
          {list.drawn}
        </div>
        {Ask && !ended && <Ask view={view} facts={facts} words={words} session={session} asked={asked} />}
      </section>
      <p role="status" class={view.typing ? "typing" : "hidden"}>
        {view.typing && (view.typing.name === null ? texts.writing : fill(texts.typing, { name: view.typing.name }))}
      </p>
      {list.below() > 0 && (
        <button
          type="button"
          class="pill to-newest"
          onClick={() => {
            list.toEnd();
            list.box.current?.focus({ preventScroll: true });
          }}
        >
          <Icon name="down" />
          {texts.newMessages}
        </button>
      )}
    </div>
  );
}

/** What the visitor can begin with in one tap. */
function Starters(props: { starters: string[]; label: string; onStart: (text: string) => void }) {
  const { starters, label, onStart } = props;
  if (starters.length === 0) return null;
  return (
    <fieldset class="choices starters">
      <legend class="hidden">{label}</legend>
      {starters.map((text) => (
        <button key={text} type="button" class="pill" dir="auto" onClick={() => onStart(text)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

function Day({ now, ...of }: BubbleProps & { now: number }) {
  const { line, words } = of;
  return (
    <>
      {line.newDay && <p class="day">{words.times.day(line.at, now)}</p>}
      <Bubble {...of} />
    </>
  );
}

/** The form that asks for a name and an address. Few pages need it, so it is fetched, and again on a new connection. */
function useAskContact(isWanted: boolean): typeof AskContact | null {
  const [form, setForm] = useState<typeof AskContact | null>(null);
  useEffect(() => {
    const show = (found: typeof import("./ask-contact.tsx")) => setForm(() => found.AskContact);
    if (isWanted && !form) void fetchPart(/\/ask-contact-/, () => import("./ask-contact.tsx")).then(show, () => {});
  }, [isWanted]);
  return form;
}
