import type { Signal } from "@preact/signals";
import type { Chat, Member } from "../api.ts";
import { contactName } from "../names.ts";
import { usePlace } from "../organization.ts";
import { Avatar } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { may } from "../session.ts";
import { Assignee } from "./assignee.tsx";
import { Network } from "./network.tsx";
import type { Work } from "./use-work.ts";
import { WorkState } from "./work-state.tsx";

interface ConversationHeadProps {
  chat: Chat;
  members: Member[];
  isSearching: Signal<boolean>;
  hasPanel: Signal<boolean>;
  work: Work;
  onSnooze: () => void;
  onAssign: (memberId: string | null) => void;
}

/** Who a chat is with, whose it is, and what opens beside its messages. */
export function ConversationHead(props: ConversationHeadProps) {
  const { chat, members, isSearching, hasPanel, work, onSnooze, onAssign } = props;
  return (
    <header class="conversation-head">
      <a class="plain conversation-back" href={usePlace().to("inbox")} aria-label="Back to the list">
        <Icon name="back" />
      </a>
      <Avatar {...chat.contact} />
      <div class="grow">
        <h1 class="clip" dir="auto">
          {contactName(chat)}
        </h1>
        <p class="quiet small clip">
          <WorkState chat={chat} />
          {(chat.state !== "open" || chat.handler === "bot") && " · "}
          <Network channel={chat.channel} /> <bdi>{chat.channel.name}</bdi>
        </p>
      </div>
      {may("chats:write") && <WorkButtons chat={chat} work={work} onSnooze={onSnooze} />}
      <Assignee id={chat.assigneeId} members={members} onAssign={may("chats:write") ? onAssign : null} />
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
  );
}

/** What moves the work on the chat on. */
function WorkButtons({ chat, work, onSnooze }: Pick<ConversationHeadProps, "chat" | "work" | "onSnooze">) {
  const { unansweredSince, lastMessage, state, handler } = chat;
  return (
    <>
      {handler === "bot" ? (
        <Button title="Take over (h)" onClick={work.takeOver}>
          Take over
        </Button>
      ) : (
        <>
          {unansweredSince ? (
            <Button icon="check" aria-label="Mark as answered" title="Mark as answered (e)" onClick={work.answer} />
          ) : (
            lastMessage?.direction === "INBOUND" && (
              <Button icon="again" aria-label="Mark as unanswered" title="Mark as unanswered" onClick={work.unanswer} />
            )
          )}
          <Button icon="clock" aria-label="Snooze" title="Snooze (s)" onClick={onSnooze} />
        </>
      )}
      {state === "open" ? (
        <Button class={handler === "bot" ? "button wide-only" : "button"} onClick={work.close} title="Close (c)">
          <Icon name="done" />
          <span class="wide-only">Close</span>
        </Button>
      ) : (
        <Button onClick={work.reopen} title="Reopen (o)">
          <Icon name="inbox" />
          <span class="wide-only">Reopen</span>
        </Button>
      )}
    </>
  );
}
