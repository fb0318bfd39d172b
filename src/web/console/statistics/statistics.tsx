import type { JSX } from "preact";
import type { Schemas } from "../api.ts";
import { number } from "../format.ts";
import { MOST, useGet, usePlace } from "../organization.ts";
import { Badge } from "../parts/badge.tsx";
import { HistoryChart } from "../parts/history-chart.tsx";
import { Screen } from "../parts/screen.tsx";
import { useSeen } from "../parts/seen.ts";
import { Empty, Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { may } from "../session.ts";

type ChannelStats = Schemas["ChannelStats"];
type KeyStats = Schemas["KeyStats"];

/** How much the channels and keys are used. */
export function Statistics(): JSX.Element {
  const { to } = usePlace();
  const stats = useGet("/stats", { query: { limit: MOST } });
  return (
    <Screen
      title="Statistics"
      intro="Numbers can be a minute late. Days are in UTC."
      actions={
        <button type="button" class="button" aria-busy={stats.isLoading} onClick={stats.reload}>
          Refresh
        </button>
      }
    >
      <Loaded resource={stats}>
        {({ channels, keys }) =>
          channels.length + keys.length === 0 ? (
            <Empty
              icon="chart"
              title="Nothing to count yet"
              action={
                <a class="button button-main" href={to("channels")}>
                  Set up a channel
                </a>
              }
              command="npm run cli -- stats"
            >
              Channels count their deliveries, and keys their requests.
            </Empty>
          ) : (
            <>
              {channels.length > 0 && <Channels channels={channels} />}
              {keys.length > 0 && <Keys keys={keys} />}
            </>
          )
        }
      </Loaded>
    </Screen>
  );
}

function Channels({ channels }: { channels: ChannelStats[] }): JSX.Element {
  const columns = [
    "Channel",
    "State",
    ...["Waiting", "Sent", "Tried again", "Unknown", "Failed"].map((name) => ({ number: name })),
  ];
  return (
    <section class="section">
      <h2>Channels</h2>
      <Table caption="Deliveries by channel, since each was created" columns={columns}>
        {channels.map(({ id, name, health, queue, attempts }) => (
          <tr key={id}>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td>
              <Badge tone={health.state === "ok" ? "good" : "bad"}>{health.state === "ok" ? "Works" : "Broken"}</Badge>
            </td>
            <td class="number">
              {number(queue.depth)}
              {queue.oldest && (
                <p class="quiet">
                  since <Time at={queue.oldest} />
                </p>
              )}
            </td>
            <td class="number">{number(attempts.sent)}</td>
            <td class="number">{number(attempts.retry + attempts.moved)}</td>
            <td class="number">{number(attempts.unknown)}</td>
            <td class="number">{number(attempts.failed + attempts.channel_broken)}</td>
          </tr>
        ))}
      </Table>
      <Charts of={channels} />
    </section>
  );
}

function Keys({ keys }: { keys: KeyStats[] }): JSX.Element {
  const { to } = usePlace();
  const used = keys.filter(({ updatedAt }) => updatedAt !== null);
  const columns = ["Key", ...["Accepted", "Over a limit", "Refused", "Last used"].map((name) => ({ number: name }))];
  return (
    <section class="section">
      <h2>Keys</h2>
      <Table caption="Requests by key, since each was created" columns={columns}>
        {keys.map(({ id, name, admitted, refused, updatedAt }) => (
          <tr key={id}>
            <th scope="row">
              {may("keys:read") ? (
                <a href={to(`keys/${id}`)}>
                  <bdi>{name}</bdi>
                </a>
              ) : (
                <bdi>{name}</bdi>
              )}
            </th>
            <td class="number">{number(admitted)}</td>
            <td class="number">{number(refused.rate_limited + refused.quota_exceeded)}</td>
            <td class="number">
              {number(refused.invalid_api_key + refused.ip_not_allowed + refused.permission_denied)}
            </td>
            <td class="number">{updatedAt === null ? "Never" : <Time at={updatedAt} long />}</td>
          </tr>
        ))}
      </Table>
      <Charts of={used} />
    </section>
  );
}

/** A chart for each channel or key. */
function Charts({ of }: { of: { id: string; name: string }[] }): JSX.Element {
  return (
    <div class="charts">
      {of.map(({ id, name }) => (
        <ChartBox key={id} id={id} name={name} />
      ))}
    </div>
  );
}

/** Loads the chart when it is on the screen. The box has its height before. */
function ChartBox({ id, name }: { id: string; name: string }): JSX.Element {
  const [element, isSeen] = useSeen<HTMLDivElement>();
  return (
    <div class="box chart-box" ref={element}>
      {isSeen && <HistoryChart title={name} of={id} />}
    </div>
  );
}
