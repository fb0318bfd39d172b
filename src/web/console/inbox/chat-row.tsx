import type { Chat, Message } from "../api.ts";
import { LabelMarks } from "../labels/label-marks.tsx";
import type { Label } from "../labels/use-labels.ts";
import { contactName } from "../names.ts";
import { Avatar } from "../parts/badge.tsx";
import { Icon } from "../parts/icon.tsx";
import { Time } from "../parts/time.tsx";
import { may } from "../session.ts";
import { unread } from "../unread.ts";
import { STATUSES } from "./bubble.tsx";
import type { View } from "./chat-rows.ts";
import { textIn } from "./drafts.ts";
import { Network } from "./network.tsx";
import { WorkState } from "./work-state.tsx";

interface ChatRowProps {
  chat: Chat;
  view: View;
  isOpen: boolean;
  href: string;
  /** The name of the chat's assignee; null for nobody. */
  assignee: string | null;
  /** Whether the network does not say which channel it is. */
  hasChannelName: boolean;
  /** All labels of the organization. */
  labels: readonly Label[];
  /** The chat is dragged; null once it no longer is. Absent if the person may not give it to anybody. */
  onDrag?: ((chat: Chat | null) => void) | undefined;
}

/** A chat in the list. */
export function ChatRow({ chat, view, isOpen, href, onDrag, assignee, hasChannelName, labels }: ChatRowProps) {
  const { contact, channel, lastMessage, unansweredSince, nextScheduledAt } = chat;
  const isNew = unread.value.has(chat.id);
  const inView = view === "unanswered" ? unansweredSince : view === "mentions" && chat.mention?.createdAt;
  const at = inView || chat.lastMessageAt;
  // The open chat shows it in its text box.
  const draft = isOpen ? "" : textIn(chat.id).value.trim();
  return (
    <a
      class={`chat-row${unansweredSince ? " chat-row-waits" : ""}`}
      href={href}
      aria-current={isOpen ? "true" : undefined}
      // Chromium ends a drag whose first event changes the page.
      onDragStart={onDrag && (() => setTimeout(onDrag, 0, chat))}
      onDragEnd={onDrag && (() => setTimeout(onDrag, 0, null))}
    >
      <Avatar {...contact} />
      <span class="grow">
        <span class="between">
          <strong class="grow clip chat-row-name" dir="auto">
            {contactName(chat)}
          </strong>
          <span class="quiet small">
            {view === "scheduled" && nextScheduledAt ? <Time at={nextScheduledAt} future /> : at && <Time at={at} />}
          </span>
        </span>
        <span class="between">
          {draft === "" && lastMessage?.direction === "OUTBOUND" && <StatusMark status={lastMessage.status} />}
          <span class="grow clip note chat-row-text" dir="auto">
            {draft === "" ? (
              previewOf(chat)
            ) : (
              <>
                Draft: <bdi>{draft}</bdi>
              </>
            )}
          </span>
          {isNew && <span class="count">New</span>}
          {unansweredSince && (
            <span class={isNew ? "hidden" : "dot"}>
              <span class="hidden">Unanswered</span>
            </span>
          )}
        </span>
        <span class="between quiet small">
          <span class="line chat-row-channel">
            <Network channel={channel} />
            {hasChannelName && (
              <span class="clip" dir="auto">
                {channel.name}
              </span>
            )}
          </span>
          {chat.labels.length > 0 && (
            <span class="clip">
              <span class="hidden">Labels:</span> <LabelMarks labels={chat.labels} all={labels} />
            </span>
          )}
          <WorkState chat={chat} />
          {assignee && (
            <span class="clip" dir="auto">
              <span class="hidden">Assigned to</span> {assignee}
            </span>
          )}
        </span>
      </span>
    </a>
  );
}

function previewOf({ lastMessage, lastMessageAt }: Chat): string {
  if (lastMessage) return lastMessage.text || "Deleted message";
  return lastMessageAt !== null && !may("messages:read") ? "You can’t read messages" : "No messages yet";
}

/** The status of the organization's last message. The list does not know who sent it. */
function StatusMark({ status }: { status: Message["status"] }) {
  const { word, icon } = STATUSES[status];
  const isFailed = status === "FAILED";
  return (
    <span class={isFailed ? "chat-row-mark note failed" : "chat-row-mark note quiet"}>
      {icon && <Icon name={icon} />}
      <span class={isFailed ? "" : "hidden"}>{word}:</span>
    </span>
  );
}
