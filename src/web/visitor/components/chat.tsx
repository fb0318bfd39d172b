import { isFinal } from "../connection.ts";
import type { SessionView } from "../session.ts";
import type { TabStorage } from "../stored.ts";
import { Composer } from "./composer.tsx";
import { Icon } from "./icons.tsx";
import { MessageList } from "./message-list.tsx";
import { ConnectionStatus, RefusalNotice } from "./notices.tsx";
import type { Actions, Words } from "./words.ts";

interface ChatProps {
  view: SessionView;
  words: Words;
  storage: TabStorage;
  actions: Actions;
}

/** The whole chat: header, connection status, messages and composer. */
export function ChatView({ view, words, storage, actions }: ChatProps) {
  const { texts, title, user } = words;
  const ended = typeof view.link === "number" && isFinal(view.link);
  const { entries, outbox } = view.conversation;
  const isEmpty = entries.length === 0 && outbox.length === 0;
  return (
    // The header is inside of `main`: a page that shows the chat in a frame has a banner of its own.
    <main class="chat">
      <header class="header">
        <span class="avatar" aria-hidden="true">
          {Array.from(title)[0]?.toLocaleUpperCase()}
        </span>
        <div class="names">
          <h1 class="title" dir="auto">
            {title}
          </h1>
          {user !== null && !ended && (
            <p class="user" title={user}>
              {texts.as} <bdi>{user}</bdi>
            </p>
          )}
        </div>
        {actions.close && (
          <button type="button" class="plain" aria-label={texts.close} onClick={actions.close}>
            <Icon name="close" />
          </button>
        )}
      </header>
      <div class="main">
        <ConnectionStatus link={view.link} texts={texts} alone={isEmpty} />
        <MessageList view={view} words={words} actions={actions} />
        <RefusalNotice notice={view.notice} words={words} />
        {!ended && (
          <Composer
            texts={texts}
            locale={words.locale}
            storage={storage}
            onSend={actions.write}
            onTyping={actions.typing}
          />
        )}
      </div>
    </main>
  );
}
