import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import type { Channel } from "../api.ts";
import { number, plural } from "../format.ts";
import { useGet, usePlace } from "../organization.ts";
import { usePages } from "../pages.ts";
import { Badge } from "../parts/badge.tsx";
import { Copyable } from "../parts/copy.tsx";
import { LastDays } from "../parts/history-chart.tsx";
import { Icon } from "../parts/icon.tsx";
import { ListScreen, RowMain } from "../parts/list-screen.tsx";
import { useSeen } from "../parts/seen.ts";
import { may } from "../session.ts";

/** A channel of the list, and how many messages wait in it; undefined if that is not known. */
interface ListedChannel {
  channel: Channel;
  waiting: number | undefined;
}

export function ChannelList() {
  const { organization, api, to } = usePlace();
  const pages = usePages<ListedChannel>(`list /channels ${organization.id}`, "page", async (query, signal) => {
    // Both lists have the same order and pages.
    const [{ channels, pagination }, stats] = await Promise.all([
      api.GET("/channels", { query, signal }),
      may("stats:read") ? api.GET("/stats", { query, signal }) : null,
    ]);
    const depths = new Map(stats?.channels.map(({ id, queue }) => [id, queue.depth]));
    return { rows: channels.map((channel) => ({ channel, waiting: depths.get(channel.id) })), pagination };
  });
  return (
    <ListScreen
      title="Channels"
      intro="Where your contacts write to you."
      icon="channel"
      pages={pages}
      create={may("channels:write") ? { label: "New channel", opens: to("channels/new") } : null}
      empty={{
        title: "No channel yet",
        text: "A web chat works within a minute.",
        command: 'npx parley channels create --kind web --name "Our site"',
      }}
    >
      {(row) => <ChannelRow key={row.channel.id} row={row} />}
    </ListScreen>
  );
}

function ChannelRow({ row: { channel, waiting } }: { row: ListedChannel }) {
  const { to } = usePlace();
  const [element, isSeen] = useSeen<HTMLLIElement>();
  const { id, name, kind, health } = channel;
  const { label, icon } = DESCRIPTIONS[kind];
  return (
    <li class="row" ref={element}>
      <span class="kind">
        <Icon name={icon} />
      </span>
      <RowMain name={name} href={to(`channels/${id}`)} mark={<Health health={health} />}>
        <p class="row-detail">
          {label} · <Copyable text={id} />
        </p>
        {health.reason !== null && <p class="row-detail failed">{health.reason}</p>}
        {health.warnings.map(({ code, text }) => (
          <p key={code} class="row-detail warn">
            {text}
          </p>
        ))}
      </RowMain>
      <div class="key-use">
        {isSeen && may("stats:read") && <LastDays of={id} label={`Messages sent by ${name}`} />}
      </div>
      <div class="row-aside">
        {isSeen && may("chats:read") && <ChatCount id={id} />}
        {waiting !== undefined && waiting > 0 && <span class="warn">{number(waiting)} waiting</span>}
      </div>
    </li>
  );
}

/** Whether a channel works, as far as the network has proved it. */
export function Health({ health }: { health: Pick<Channel["health"], "state" | "isVerified"> }) {
  if (health.state === "broken") return <Badge tone="bad" label="Broken" />;
  if (health.isVerified) return <Badge tone="good" label="Works" />;
  return (
    <span title="The network has not accepted a message yet">
      <Badge tone="quiet" label="Not verified yet" />
    </span>
  );
}

/** How many chats a channel has. @param isBare without the word */
export function ChatCount({ id, isBare = false }: { id: string; isBare?: boolean }) {
  const chats = useGet("/chats", { query: { channel: id, limit: 1 } });
  const total = chats.data?.pagination.total;
  if (total === undefined) return <span class="quiet">…</span>;
  return <span>{isBare ? number(total) : plural(total, "chat")}</span>;
}
