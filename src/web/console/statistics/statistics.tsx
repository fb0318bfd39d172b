import { useSignal } from "@preact/signals";
import type { Schemas } from "../api.ts";
import { Health } from "../channels/channel-list.tsx";
import { number } from "../format.ts";
import { MOST, useGet, usePlace } from "../organization.ts";
import { Button, MainButton } from "../parts/button.tsx";
import { CHANNEL_PARTS, HistoryChart, KEY_PARTS, numbersOf } from "../parts/history-chart.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Screen } from "../parts/screen.tsx";
import { useSeen } from "../parts/seen.ts";
import { Empty } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { may } from "../session.ts";
import { Conversations } from "./conversations.tsx";
import { LabelNumbers } from "./label-numbers.tsx";

type ChannelStats = Schemas["ChannelStats"];
type KeyStats = Schemas["KeyStats"];

/** How much the channels and keys are used. */
export function Statistics() {
  const { to } = usePlace();
  const page = useSignal(1);
  const stats = useGet("/stats", { query: { limit: MOST, page: page.value } });
  return (
    <Screen
      title="Statistics"
      intro="Numbers can be a minute late. Days are in UTC."
      actions={
        <Button aria-busy={stats.isLoading} onClick={stats.reload}>
          Refresh
        </Button>
      }
    >
      <Loaded resource={stats}>
        {({ channels, keys, members, pagination: { totalPages } }) =>
          page.value === 1 && channels.length + keys.length === 0 ? (
            <Empty
              icon="chart"
              title="Nothing to count yet"
              action={<MainButton href={to("channels")}>Set up a channel</MainButton>}
              command="npx parley stats"
            >
              Channels count deliveries, and keys count requests.
            </Empty>
          ) : (
            <>
              {totalPages > 1 && (
                <Tabs
                  label="Channels, members and keys"
                  choices={Array.from({ length: totalPages }, (_, n) => ({
                    value: n + 1,
                    label: `${n * MOST + 1}–${(n + 1) * MOST}`,
                  }))}
                  chosen={page.value}
                  onChoose={(chosen) => (page.value = chosen)}
                />
              )}
              {channels.length + members.length > 0 && (
                <Conversations channels={channels} members={members} version={String(stats.loadedAt)} />
              )}
              {may("chats:read") && <LabelNumbers version={String(stats.loadedAt)} />}
              {channels.length > 0 && <Channels key={stats.loadedAt} channels={channels} />}
              {keys.length > 0 && <Keys key={stats.loadedAt} keys={keys} />}
            </>
          )
        }
      </Loaded>
    </Screen>
  );
}

function Channels({ channels }: { channels: ChannelStats[] }) {
  const columns = ["Channel", "State", { number: "Waiting" }, ...CHANNEL_PARTS.map(({ label }) => ({ number: label }))];
  return (
    <section class="section">
      <h2>Channels</h2>
      <Table caption="Deliveries by channel, since each was created" columns={columns}>
        {channels.map(({ id, name, health, queue, attempts, received }) => (
          <tr key={id}>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td>
              <Health health={health} />
            </td>
            <td class="number">
              {number(queue.depth)}
              {queue.oldest && (
                <p class="quiet">
                  oldest <Time at={queue.oldest} long />
                </p>
              )}
            </td>
            <Numbers of={{ attempts, received }} />
          </tr>
        ))}
      </Table>
      <Charts of={channels} />
    </section>
  );
}

function Keys({ keys }: { keys: KeyStats[] }) {
  const { to } = usePlace();
  const used = keys.filter(({ updatedAt }) => updatedAt !== null);
  const columns = ["Key", ...KEY_PARTS.map(({ label }) => ({ number: label })), { number: "Last used" }];
  return (
    <section class="section">
      <h2>Keys</h2>
      <Table caption="Requests by key, since each was created" columns={columns}>
        {keys.map(({ id, name, admitted, refused, updatedAt }) => (
          <tr key={id}>
            <th scope="row">
              <bdi>{may("keys:read") ? <a href={to(`keys/${id}`)}>{name}</a> : name}</bdi>
            </th>
            <Numbers of={{ admitted, refused }} />
            <td class="number">{updatedAt === null ? "Never" : <Time at={updatedAt} long />}</td>
          </tr>
        ))}
      </Table>
      <Charts of={used} />
    </section>
  );
}

function Numbers({ of }: { of: Parameters<typeof numbersOf>[0] }) {
  return (
    <>
      {numbersOf(of).map((count, n) => (
        <td key={n} class="number">
          {number(count)}
        </td>
      ))}
    </>
  );
}

/** A chart for each channel or key. */
function Charts({ of }: { of: { id: string; name: string }[] }) {
  return (
    <div class="grid">
      {of.map(({ id, name }) => (
        <ChartBox key={id} id={id} name={name} />
      ))}
    </div>
  );
}

/** Loads the chart when it is on the screen. The box has its height before. */
function ChartBox({ id, name }: { id: string; name: string }) {
  const [element, isSeen] = useSeen<HTMLDivElement>();
  return (
    <div class="box chart-box" ref={element}>
      {isSeen && <HistoryChart title={name} of={id} />}
    </div>
  );
}
