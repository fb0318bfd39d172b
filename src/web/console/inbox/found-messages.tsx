import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { excerptOf } from "../../../model/marked-text.ts";
import { ParleyError } from "../api.ts";
import { number, plural } from "../format.ts";
import { follow, route } from "../location.ts";
import { contactName } from "../names.ts";
import { byName, useMembers, usePlace } from "../organization.ts";
import { type PageQuery, usePages } from "../pages.ts";
import { TextButton } from "../parts/button.tsx";
import { Failure, Skeleton } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { mayTurnSearch, useSearchState } from "../search-state.ts";
import { currentSession } from "../session.ts";
import { NOBODY } from "./chat-rows.ts";
import { FilterSelect } from "./filter-select.tsx";
import { groupsOf, type Hit, hitsAfter, writerOf } from "./hits.ts";
import { listen } from "./live.ts";

const PAGE = 20;
/** A page can be empty before the end. Then the next ones are asked for, up to this number. */
const MOST_PAGES = 5;
const DAY_MS = 86_400_000;
/** How much of a message is shown. */
const BEFORE = 40;
const SHOWN = 200;

const WRITERS = [
  { id: "INBOUND", name: "Contacts" },
  { id: "OUTBOUND", name: "Us" },
];
const TIMES = [
  { id: "1", name: "Last 24 hours" },
  { id: "7", name: "Last 7 days" },
  { id: "30", name: "Last 30 days" },
  { id: "365", name: "Last 12 months" },
];

interface FoundMessagesProps {
  text: string;
  /** Only messages of this channel; null for all. */
  channel: string | null;
  openId: string | null;
  addressOf: (chat: { id: string }) => string;
}

/** The messages of all chats that contain a text. */
export function FoundMessages({ text, channel, ...shown }: FoundMessagesProps) {
  const { to } = usePlace();
  const { member } = currentSession();
  const members = byName(useMembers());
  const state = useSearchState();
  const assignee = useSignal<string | null>(null);
  const direction = useSignal<string | null>(null);
  const days = useSignal<string | null>(null);
  const whose = [
    ...(member ? [{ id: member.id, name: "My chats" }] : []),
    { id: NOBODY, name: "Unassigned chats" },
    ...members.filter(({ id }) => id !== member?.id),
  ];
  // The cursors of a search belong to its time.
  const since = useMemo(
    () => days.value && new Date(Date.now() - Number(days.value) * DAY_MS).toISOString(),
    [text, days.value],
  );
  const filter = { channel, assignee: assignee.value, direction: direction.value, since };
  const query = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null));
  return (
    <section aria-label="Messages">
      <h2 class="found-title">Messages</h2>
      {state?.state === "off" ? (
        <p class="found-none">
          The search in messages is off.{" "}
          {mayTurnSearch() ? (
            <a class="link" href={to("settings")}>
              Turn it on in the settings
            </a>
          ) : (
            "A manager can turn it on in the settings."
          )}
        </p>
      ) : (
        <>
          <div class="line found-filters">
            <FilterSelect
              label="Whose chats"
              value={assignee.value}
              all="All chats"
              options={whose}
              onChange={(id) => (assignee.value = id)}
            />
            <FilterSelect
              label="Who wrote"
              value={direction.value}
              all="Anybody"
              options={WRITERS}
              onChange={(id) => (direction.value = id)}
            />
            <FilterSelect
              label="When"
              value={days.value}
              all="Any time"
              options={TIMES}
              onChange={(id) => (days.value = id)}
            />
          </div>
          {state?.state === "filling" && (
            <p class="found-none">
              Older messages are still being prepared for the search: {number(state.done)} of {number(state.total)}{" "}
              chats so far.
            </p>
          )}
          <Hits {...shown} text={text} query={query} />
        </>
      )}
    </section>
  );
}

interface HitsProps extends Omit<FoundMessagesProps, "channel"> {
  query: Record<string, string | null>;
}

function Hits({ text, query, openId, addressOf }: HitsProps) {
  const { organization, api, refresh } = usePlace();
  const members = useMembers();
  const opened = useSignal("");
  const load = async ({ before }: PageQuery, signal?: AbortSignal) => {
    for (let page = before ?? "", pages = 1; ; pages++) {
      const asked = { ...query, search: text, limit: PAGE, ...(page && { before: page }) };
      const { messages, pagination } = await api
        .GET("/messages", { query: asked, signal })
        .catch(async (error: unknown) => {
          // Somebody turned it off since the search began: the section says so.
          if (error instanceof ParleyError && error.code === "search_off") await refresh();
          throw error;
        });
      const next = pagination.cursor;
      if (messages.length === 0 && next !== null && pages < MOST_PAGES) page = next;
      else return { rows: messages.map((one): Hit => ({ ...one, page })), pagination };
    }
  };
  const key = `get /messages ${organization.id} ${JSON.stringify([text, query])}`;
  const { rows, hasMore, isLoadingMore, more } = usePages(key, "before", load);
  const latest = useRef(rows);
  latest.current = rows;
  useEffect(
    () =>
      listen((event) => {
        const { data, set } = latest.current;
        if (data && event) set(hitsAfter(data, event));
      }),
    [],
  );
  if (!rows.data && rows.error) return <Failure error={rows.error} onRetry={rows.reload} />;
  if (!rows.data) return <Skeleton rows={3} />;
  const open = (event: MouseEvent, { message, chat }: Hit) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    opened.value = message.id;
    // Who opens it by a key goes on through the list.
    (event.detail === 0 ? route : follow)(addressOf(chat));
    location.replace(`#${message.id}`);
  };
  return (
    <>
      {rows.error && <Failure error={rows.error} onRetry={rows.reload} />}
      <p class="hidden" role="status">
        {rows.isLoading ? "" : `${plural(rows.data.length, "message")} found`}
      </p>
      {groupsOf(rows.data).map((hits) => {
        const [first] = hits;
        return (
          <div key={`${first.page} ${first.chat.id}`}>
            <h3 class="between found-chat">
              <span class="clip" dir="auto">
                {contactName(first.chat)}
              </span>
              <span class="clip small" dir="auto">
                {first.chat.channel.name}
              </span>
            </h3>
            <ul>
              {hits.map((hit) => (
                <li key={hit.message.id}>
                  <a
                    class="found-message"
                    href={`${addressOf(hit.chat)}#${hit.message.id}`}
                    aria-current={hit.chat.id === openId && hit.message.id === opened.value ? "true" : undefined}
                    onClick={(event) => open(event, hit)}
                  >
                    <span class="between small quiet">
                      <span class="clip" dir="auto">
                        {writerOf(hit, members)}
                      </span>
                      <Time at={hit.message.createdAt} />
                    </span>
                    <span class="found-text" dir="auto">
                      <Excerpt text={hit.message.text} search={text} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
      {rows.data.length === 0 && (
        <p class="found-none">{hasMore ? "Not in the newest messages" : "No matching messages"}</p>
      )}
      {hasMore && (
        <div class="day">
          <TextButton aria-busy={isLoadingMore} onClick={more}>
            {isLoadingMore ? "Searching…" : "Show older messages"}
          </TextButton>
        </div>
      )}
    </>
  );
}

function Excerpt({ text, search }: { text: string; search: string }) {
  const parts = useMemo(() => excerptOf(text, search, BEFORE, SHOWN), [text, search]);
  return <>{parts.map((part, n) => (part.isMatch ? <mark key={n}>{part.text}</mark> : part.text))}</>;
}
