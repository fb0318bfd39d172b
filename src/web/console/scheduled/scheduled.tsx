import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Chat, Message } from "../api.ts";
import { plural } from "../format.ts";
import { listen } from "../inbox/live.ts";
import { usePlace } from "../organization.ts";
import { Avatar } from "../parts/badge.tsx";
import { Screen } from "../parts/screen.tsx";
import { useSeen } from "../parts/seen.ts";
import { Empty, Listed, Loaded } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { usePages, useResource } from "../resource.ts";
import { may } from "../session.ts";
import { MessageRow } from "./message-row.tsx";

/** The list of chats learns of a change a few seconds later. */
const SETTLES_MS = 6_000;

/** What will be sent, by chat, the soonest first. */
export function Scheduled(): JSX.Element {
  const { organization, api, to } = usePlace();
  const pages = usePages(`list scheduled ${organization.id}`, "after", async (page, signal) => {
    const { chats, pagination } = await api.GET("/chats", { query: { ...page, scheduled: "true" }, signal });
    return { rows: chats, pagination };
  });
  const { reload } = pages.rows;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const forget = listen((event) => {
      if (event && event.type !== "message.scheduled") return;
      clearTimeout(timer);
      timer = setTimeout(reload, event ? SETTLES_MS : 0);
    });
    return () => {
      forget();
      clearTimeout(timer);
    };
  }, []);
  return (
    <Screen title="Scheduled" intro="Messages that are sent later, the soonest first.">
      <Listed
        pages={pages}
        empty={
          <Empty
            icon="clock"
            title="Nothing is scheduled"
            action={
              <a class="button button-main" href={to("inbox")}>
                Go to the inbox
              </a>
            }
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

function ScheduledChat({ chat }: { chat: Chat }): JSX.Element {
  const { api, to } = usePlace();
  const [element, isSeen] = useSeen<HTMLElement>();
  const { id, contact, channel, nextScheduledAt } = chat;
  const canRead = may("messages:read");
  const name = contact.name ?? contact.address;
  // The messages are loaded again if the list says that the next one is another.
  const key = isSeen && canRead ? `scheduled of ${id} ${nextScheduledAt}` : null;
  const messages = useResource<Message[]>(key, async (signal) => {
    return (await api.GET("/chats/{id}/scheduled", { path: { id }, query: { limit: 100 }, signal })).messages;
  });
  const { data } = messages;
  const put = (message: Message) => {
    const others = data?.filter((one) => one.id !== message.id) ?? [];
    messages.set(message.status === "SCHEDULED" ? [...others, message].sort(byTime) : others);
  };
  return (
    <section class="rows" ref={element}>
      <header class="row group-head">
        <Avatar name={name} />
        <div class="row-main">
          <h2>
            <a href={to(`inbox/${id}`)}>
              <bdi>{name}</bdi>
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
                <p class="row quiet">Nothing is scheduled any more.</p>
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
