import { useEffect } from "preact/hooks";
import type { Chat, Message } from "../api.ts";
import { dayOf, exactTime, plural, timeOfDay } from "../format.ts";
import { type Filter, isScheduling, OPEN_CHATS } from "../inbox/chat-rows.ts";
import { listen } from "../inbox/live.ts";
import { ScheduledActions } from "../inbox/scheduled-actions.tsx";
import { useChats } from "../inbox/use-chats.ts";
import { contactName } from "../names.ts";
import { usePlace } from "../organization.ts";
import { Avatar } from "../parts/badge.tsx";
import { MainButton } from "../parts/button.tsx";
import { Listed, Loaded } from "../parts/loaded.tsx";
import { Screen } from "../parts/screen.tsx";
import { useSeen } from "../parts/seen.ts";
import { Empty } from "../parts/states.tsx";
import { now, Time, untilThen } from "../parts/time.tsx";
import { useResource } from "../resource.ts";
import { may } from "../session.ts";

const SCHEDULED: Filter = { ...OPEN_CHATS, view: "scheduled" };

/** What will be sent, by chat, the soonest first. */
export function Scheduled() {
  const { to } = usePlace();
  const store = useChats(SCHEDULED);
  const pages = {
    rows: {
      data: store.state.value === "loading" ? undefined : store.rows.value,
      error: store.error.value,
      reload: () => void store.load(),
    },
    hasMore: store.hasMore.value,
    isLoadingMore: false,
    more: () => void store.more(),
  };
  return (
    <Screen title="Scheduled" intro="Messages that are sent later, the soonest first.">
      <Listed
        pages={pages}
        empty={
          <Empty
            icon="clock"
            title="Nothing is scheduled"
            action={<MainButton href={to("inbox")}>Go to the inbox</MainButton>}
            command='npx parley send <chat> "Good morning" --at "tomorrow at 9:00"'
          >
            In a chat, the menu beside Send schedules a message.
          </Empty>
        }
      >
        {(chats) => chats.map((chat) => <ScheduledChat key={chat.id} chat={chat} />)}
      </Listed>
    </Screen>
  );
}

function ScheduledChat({ chat }: { chat: Chat }) {
  const { api, to } = usePlace();
  const [element, isSeen] = useSeen<HTMLElement>();
  const { id, contact, channel, nextScheduledAt } = chat;
  const canRead = may("messages:read");
  const load = async (signal: AbortSignal) => {
    return (await api.GET("/chats/{id}/scheduled", { path: { id }, query: { limit: 100 }, signal })).messages;
  };
  // The messages are loaded again if the list says that the next one is another.
  const messages = useResource<Message[]>(isSeen && canRead ? `scheduled of ${id}` : null, load, nextScheduledAt);
  const { data, reload } = messages;
  useEffect(() => listen((event) => event?.chatId === id && isScheduling(event) && reload()), [id]);
  const put = (message: Message) => {
    const others = data?.filter((one) => one.id !== message.id) ?? [];
    messages.set(message.status === "SCHEDULED" ? [...others, message].sort(byTime) : others);
  };
  return (
    <section class="rows" ref={element}>
      <header class="row group-head">
        <Avatar {...contact} />
        <div class="row-main">
          <h2>
            <a href={to(`inbox/${id}`)}>
              <bdi>{contactName(chat)}</bdi>
            </a>
          </h2>
          <p class="quiet">
            <bdi>{channel.name}</bdi>
            {data && ` · ${plural(data.length, "message")}`}
          </p>
        </div>
        {nextScheduledAt && (!data || data.length > 0) && (
          <p class="quiet">
            Next <Time at={nextScheduledAt} future />
          </p>
        )}
      </header>
      {canRead && (
        <Loaded resource={messages} rows={1}>
          {(rows) =>
            rows.length === 0 ? (
              <div class="group-rows">
                <p class="row quiet">Nothing is scheduled now.</p>
              </div>
            ) : (
              <ul class="group-rows">
                {rows.map((message) => (
                  <MessageRow key={message.id} message={message} onMessage={put} onGone={messages.reload} />
                ))}
              </ul>
            )
          }
        </Loaded>
      )}
    </section>
  );
}

function byTime(one: Message, other: Message): number {
  return Date.parse(one.scheduledAt ?? "") - Date.parse(other.scheduledAt ?? "");
}

interface RowProps {
  message: Message;
  /** The message was moved, sent or canceled. */
  onMessage: (message: Message) => void;
  /** It was sent or canceled elsewhere. */
  onGone: () => void;
}

/** A scheduled message, with what can be done until it is sent. */
function MessageRow({ message, onMessage, onGone }: RowProps) {
  const { api } = usePlace();
  const { id, chatId, text, type, expiresAt } = message;
  const at = Date.parse(message.scheduledAt ?? message.createdAt);
  const path = { id: chatId, messageId: id };
  return (
    <li class="row">
      <p class="message-when" title={exactTime(at)}>
        <strong>{timeOfDay(at)}</strong>
        <span class="quiet">{dayOf(at, now.value)}</span>
      </p>
      <div class="row-main">
        <p class="text" dir="auto">
          {text || `A file: ${type.toLowerCase()}`}
        </p>
        <p class="row-detail">
          {untilThen(at)}
          {expiresAt && (
            <>
              {" · not after "}
              <Time at={expiresAt} future />
            </>
          )}
        </p>
      </div>
      {may("messages:send") && (
        <div class="line row-actions">
          <ScheduledActions
            at={at}
            label="More for this message"
            hasButton
            move={async (scheduledAt) => {
              onMessage((await api.PATCH("/chats/{id}/messages/{messageId}", { path, body: { scheduledAt } })).message);
            }}
            cancel={async () => {
              onMessage((await api.POST("/chats/{id}/messages/{messageId}/cancel", { path })).message);
            }}
            onGone={onGone}
          />
        </div>
      )}
    </li>
  );
}
