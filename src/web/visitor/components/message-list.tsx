import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PageFacts } from "../../../channels/web/page-facts.ts";
import { hasEarlier } from "../conversation.ts";
import type { SessionView } from "../session.ts";
import { fill } from "../texts.ts";
import { type Line, timelineOf } from "../timeline.ts";
import type { AskContact } from "./ask-contact.tsx";
import { Bubble } from "./bubble.tsx";
import { Icon } from "./icons.tsx";
import { useScroll } from "./use-scroll.ts";
import type { Actions, Words } from "./words.ts";

interface MessageListProps {
  view: SessionView;
  facts: PageFacts;
  words: Words;
  actions: Actions;
  onAnswer: (id: string) => void;
}

const SETTLE_MS = 300;

/**
 * The messages. The log exists before the first message and is silent while history is added, so that a screen reader
 * announces each new message once and never the history.
 */
export function MessageList({ view, facts, words, actions, onAnswer }: MessageListProps) {
  const { texts } = words;
  // After a final close code, nothing can be sent or loaded.
  const ended = typeof view.link === "number";
  const lines = timelineOf(view.conversation, ended, view.reacting);
  const log = useRef<HTMLDivElement>(null);
  const scroll = useScroll(lines);
  const live = useLive(view.conversation.caughtUp && view.older !== "loading");
  const Ask = useAskContact(facts.askContact !== "never" && words.user === null && view.link === "online");
  const now = Date.now();
  const hasOlder = !ended && hasEarlier(view.conversation);
  const isLoading = lines.length === 0 && view.link === "connecting";
  const empty = lines.length === 0 && (view.conversation.caughtUp || view.link === "offline");

  // The button disappears after the last page. Then its focus moves to the list, not to the top of the page.
  const hadOlder = useRef(hasOlder);
  useLayoutEffect(() => {
    if (hadOlder.current && !hasOlder && document.activeElement === document.body) scroll.ref.current?.focus();
    hadOlder.current = hasOlder;
  });

  return (
    <div class="list">
      <section
        class="scroller"
        data-scroller
        ref={scroll.ref}
        onScroll={scroll.onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll the list
        tabIndex={0}
        aria-label={texts.conversation}
      >
        {hasOlder && (
          <div class="older">
            {/* Not disabled while loading, because it would lose the focus. */}
            <button type="button" class="pill" onClick={actions.loadOlder} aria-busy={view.older === "loading"}>
              {view.older === "loading" ? texts.loading : texts.earlier}
            </button>
            <p role="status" class="trouble">
              {view.older === "failed" && texts.earlierFailed}
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
              <Starters starters={facts.starters} label={texts.starters} onStart={(text) => actions.write(text)} />
            )}
          </div>
        )}
        <div
          role="log"
          class="log"
          ref={log}
          aria-label={texts.messages}
          aria-live={live ? "polite" : "off"}
          aria-relevant="additions"
        >
          {lines.map((line) => (
            <Day
              key={line.key}
              line={line}
              words={words}
              now={now}
              view={view}
              ended={ended}
              actions={actions}
              onAnswer={onAnswer}
            />
          ))}
        </div>
        {Ask && !ended && <Ask view={view} facts={facts} words={words} actions={actions} />}
      </section>
      <p role="status" class={view.typing ? "typing" : "hidden"}>
        {view.typing && (view.typing.name === null ? texts.writing : fill(texts.typing, { name: view.typing.name }))}
      </p>
      {scroll.unseen && (
        <button type="button" class="pill to-newest" onClick={scroll.toNewest}>
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

interface DayProps {
  line: Line;
  words: Words;
  now: number;
  view: SessionView;
  ended: boolean;
  actions: Actions;
  onAnswer: (id: string) => void;
}

function Day({ now, ...of }: DayProps) {
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
    if (isWanted && !form) void import("./ask-contact.tsx").then(show, () => {});
  }, [isWanted]);
  return form;
}

/** Whether screen readers announce new messages: shortly after the history is complete. */
function useLive(settled: boolean): boolean {
  const [live, setLive] = useState(false);
  useEffect(() => {
    if (!settled) {
      setLive(false);
      return;
    }
    const timer = setTimeout(() => setLive(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [settled]);
  return settled && live;
}
