import type { JSX } from "preact";
import { isFinal } from "../connection.ts";
import type { SessionView } from "../session.ts";
import type { Kept } from "../stored.ts";
import { Composer } from "./composer.tsx";
import { Icon } from "./icons.tsx";
import { MessageList } from "./message-list.tsx";
import { ConnectionStatus, RefusalNotice } from "./notices.tsx";
import type { Actions, Words } from "./words.ts";

interface ChatProps {
  view: SessionView;
  words: Words;
  kept: Kept;
  actions: Actions;
}

/** The whole chat: who it is with, what was said, how things stand, and the box. */
export function Chat({ view, words, kept, actions }: ChatProps): JSX.Element {
  const { texts, title, user } = words;
  const ended = typeof view.link === "number" && isFinal(view.link);
  const { entries, outbox } = view.conversation;
  const isEmpty = entries.length === 0 && outbox.length === 0;
  return (
    <div class="chat">
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
      <main class="main">
        <ConnectionStatus link={view.link} texts={texts} alone={isEmpty} />
        <MessageList view={view} words={words} actions={actions} />
        <RefusalNotice notice={view.notice} words={words} />
        {!ended && <Composer texts={texts} locale={words.locale} kept={kept} onSend={actions.write} />}
      </main>
    </div>
  );
}
