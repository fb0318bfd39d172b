import { useState } from "preact/hooks";
import { isRemoved } from "../../shared/message/extras.ts";
import { isFinal } from "../connection.ts";
import type { TabStorage } from "../stored.ts";
import { fill } from "../texts.ts";
import type { AskContactProps } from "./ask-contact.tsx";
import { quotedOf } from "./bubble.tsx";
import { Composer } from "./composer.tsx";
import { Icon } from "./icons.tsx";
import { MessageList } from "./message-list.tsx";
import { ConnectionStatus, RefusalNotice, UploadStatus } from "./notices.tsx";
import type { Words } from "./words.ts";

interface ChatProps extends AskContactProps {
  storage: TabStorage;
  /** Null outside the widget. */
  onClose: (() => void) | null;
}

/** The whole chat: header, connection status, messages and composer. */
export function ChatView({ view, facts, words, storage, session, asked, onClose }: ChatProps) {
  const { texts, title, user } = words;
  const [answeredId, setAnsweredId] = useState(() => storage.answered());
  const ended = typeof view.link === "number" && isFinal(view.link);
  const { entries, outbox } = view.conversation;
  const isEmpty = entries.length === 0 && outbox.length === 0;
  // As it is now: it may have been edited or redacted meanwhile.
  const answered = answeredId === "" ? undefined : entries.find(({ message }) => message.id === answeredId)?.message;
  const answer = (id: string) => {
    setAnsweredId(id);
    storage.saveAnswered(id);
  };
  return (
    // A page that shows the chat in a frame has a banner and a `main` of its own.
    <main class="chat" aria-label={title}>
      <header class="header">
        <Mark logoUrl={facts.logoUrl} title={title} />
        <div class="names">
          <h1 class="title">
            <bdi>{title}</bdi>
          </h1>
          {!facts.isOpen && !ended && <p class="user away">{awayText(facts.changesAt, words)}</p>}
          {user !== null && !ended && (
            <p class="user" title={user}>
              {texts.as} <bdi>{user}</bdi>
            </p>
          )}
        </div>
        {onClose && (
          <button type="button" class="plain" aria-label={texts.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      <div class="main">
        <ConnectionStatus link={view.link} texts={texts} alone={isEmpty} />
        <MessageList
          view={view}
          facts={facts}
          words={words}
          session={session}
          asked={asked}
          onAnswer={(id) => {
            answer(id);
            document.getElementById("message")?.focus();
          }}
        />
        <UploadStatus uploading={view.uploading} locale={words.locale} />
        <RefusalNotice notice={view.notice} words={words} />
        {!ended && (
          <Composer
            texts={texts}
            locale={words.locale}
            storage={storage}
            canUpload={view.canUpload}
            answered={
              answered && !isRemoved(answered) ? { id: answered.id, quoted: quotedOf(answered, words, null) } : null
            }
            onUnanswer={() => answer("")}
            session={session}
          />
        )}
      </div>
    </main>
  );
}

/** The company's logo, or the first letter of the title until it is there, and if it is gone. */
function Mark({ logoUrl, title }: { logoUrl: string | null; title: string }) {
  return (
    <span class="avatar" aria-hidden="true">
      {Array.from(title)[0]?.toLocaleUpperCase()}
      {logoUrl !== null && (
        <img
          key={logoUrl}
          src={logoUrl}
          alt=""
          width={36}
          height={36}
          referrerpolicy="no-referrer"
          onError={({ currentTarget }) => currentTarget.remove()}
        />
      )}
    </span>
  );
}

/** When the company is back, by the visitor's clock. */
function awayText(changesAt: string | null, { texts, times }: Words): string {
  return changesAt === null ? texts.away : fill(texts.awayUntil, { time: times.soon(Date.parse(changesAt)) });
}
