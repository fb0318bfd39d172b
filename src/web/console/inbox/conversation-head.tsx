import type { Signal } from "@preact/signals";
import type { Chat, Member } from "../api.ts";
import { contactName } from "../names.ts";
import { usePlace } from "../organization.ts";
import { Avatar } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { may } from "../session.ts";
import { Assignee } from "./assignee.tsx";

interface ConversationHeadProps {
  chat: Chat;
  members: Member[];
  isSearching: Signal<boolean>;
  hasPanel: Signal<boolean>;
  onAnswered: () => void;
  onUnanswered: () => void;
  onAssign: (memberId: string | null) => void;
}

/** Who a chat is with, whose it is, and what opens beside its messages. */
export function ConversationHead(props: ConversationHeadProps) {
  const { chat, members, isSearching, hasPanel, onAnswered, onUnanswered, onAssign } = props;
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
        <p class="quiet small clip" dir="auto">
          {chat.channel.name}
        </p>
      </div>
      {chat.unansweredSince && may("chats:write") && (
        <Button onClick={onAnswered} title="Mark as answered (e)">
          <Icon name="check" />
          <span class="wide-only">Mark as answered</span>
        </Button>
      )}
      {!chat.unansweredSince && chat.lastMessage?.direction === "INBOUND" && may("chats:write") && (
        <Button onClick={onUnanswered} title="Mark as unanswered">
          <Icon name="again" />
          <span class="wide-only">Mark as unanswered</span>
        </Button>
      )}
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
