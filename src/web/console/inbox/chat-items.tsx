import type { Signal } from "@preact/signals";
import type { Channel, Chat } from "../api.ts";
import type { Label } from "../labels/use-labels.ts";
import { contactName } from "../names.ts";
import type { ChatListStore } from "./chat-list-store.ts";
import { ChatRow } from "./chat-row.tsx";
import type { Filter } from "./chat-rows.ts";

interface ChatItemsProps {
  rows: readonly Chat[];
  filter: Filter;
  channels: readonly Channel[];
  openId: string | null;
  addressOf: (chat: Pick<Chat, "id" | "mention">) => string;
  selected: Signal<readonly Chat[]>;
  /** Selects a chat, or no longer. Null if the person may change none. */
  onSelect: ((chat: Chat) => void) | null;
  /** The name of a member. */
  nameOf: (memberId: string) => string;
  /** All labels of the organization. */
  labels: readonly Label[];
  /** A chat is dragged; null once it no longer is. Absent if the person may not give it to anybody. */
  onDrag?: ((chat: Chat | null) => void) | undefined;
}

/** A list of chats, from which its filter can be left. */
export interface ChatRowsProps extends Omit<ChatItemsProps, "rows"> {
  store: ChatListStore;
  filter: Filter;
  onFilter: (filter: Filter) => void;
}

/** Chats as rows that can be opened, selected and dragged. */
export function ChatItems(props: ChatItemsProps) {
  const { rows, filter, channels, openId, addressOf, selected, onSelect, onDrag, nameOf, labels } = props;
  const selectedIds = new Set(selected.value.map(({ id }) => id));
  return (
    <ul class={selectedIds.size > 0 ? "chats-selecting" : ""}>
      {rows.map((chat) => (
        <li key={chat.id} class="chat-item">
          {onSelect && (
            <input
              type="checkbox"
              aria-label={`Select ${contactName(chat)}`}
              title="Select (x)"
              // The key x selects the open chat. A stop of Tab at each row would be one too many.
              tabIndex={-1}
              checked={selectedIds.has(chat.id)}
              onChange={() => onSelect(chat)}
            />
          )}
          <ChatRow
            chat={chat}
            view={filter.view}
            isOpen={chat.id === openId}
            href={addressOf(chat)}
            onDrag={onDrag}
            hasChannelName={channels.filter(({ kind }) => kind === chat.channel.kind).length !== 1}
            assignee={chat.assigneeId && nameOf(chat.assigneeId)}
            labels={labels}
          />
        </li>
      ))}
    </ul>
  );
}
