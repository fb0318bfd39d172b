import { useSignal } from "@preact/signals";
import { ParleyError, type Schemas } from "../api.ts";
import { number } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Chart, sumOf } from "../parts/chart.tsx";
import { CsvButton } from "../parts/csv.tsx";
import { barsOf } from "../parts/history-chart.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { useResource } from "../resource.ts";
import {
  CLASS_NAMES,
  CLASSES,
  COUNTED,
  type CountedAnswers,
  TIMES,
  timeInWords,
  timesOf,
  totalsOf,
} from "./counted.ts";

type ChannelStats = Schemas["ChannelStats"];
type MemberStats = Schemas["MemberStats"];
type Bucket = Omit<CountedAnswers, "responseTimes"> & {
  start: string;
  newChats?: number;
  prices?: Record<string, number>;
};
/** The numbers of a channel or a member in a period. */
interface History {
  buckets: Bucket[];
  /** Absent if the channel or the member was deleted meanwhile. */
  responseTimes?: CountedAnswers["responseTimes"];
}

/** A channel or a member, with its numbers in each hour or day. */
interface Row extends History {
  id: string;
  name: string;
  isMember: boolean;
  /** The chats of the channel, or that are the member's, now, and how many of them wait for an answer. */
  chats: number;
  unanswered: number;
}

const PERIODS = [
  { value: { by: "hour", buckets: 48 }, label: "48 hours" },
  { value: { by: "day", buckets: 7 }, label: "7 days" },
  { value: { by: "day", buckets: 30 }, label: "30 days" },
  { value: { by: "day", buckets: 92 }, label: "92 days" },
] as const;

const COLUMNS = ["Chats now", "Unanswered now", "New chats", ...COUNTED];
/** The maximum number of requests under way at once. */
const AT_ONCE = 6;

interface ConversationsProps {
  channels: ChannelStats[];
  members: MemberStats[];
  version: string;
}

/**
 * How much is written, and how fast the contacts are answered, by channel and by member.
 * @param version of the numbers: another one loads them again
 */
export function Conversations({ channels, members, version }: ConversationsProps) {
  const { organization, api } = usePlace();
  const period = useSignal<(typeof PERIODS)[number]["value"]>(PERIODS[1].value);
  const { by, buckets } = period.value;
  const ids = [...channels, ...members].map(({ id }) => id);
  const key = `get conversations ${organization.id} ${by} ${buckets} ${ids.join()}`;
  const load = (signal: AbortSignal) =>
    eachOf(ids, async (of) => {
      const query = { of, by, last: buckets };
      const { history } = await api.GET("/stats/history", { query, signal }).catch((error: unknown) => {
        // It was deleted meanwhile.
        if (error instanceof ParleyError && error.status === 404) return { history: { buckets: [] } };
        throw error;
      });
      return history as History;
    });
  const histories = useResource(key, load, version);
  return (
    <section class="section wide">
      <h2>Conversations</h2>
      <Tabs
        label="Period of the conversations"
        choices={PERIODS}
        chosen={period.value}
        onChoose={(chosen) => (period.value = chosen)}
      />
      <Loaded resource={histories} rows={6}>
        {(all) => {
          const rowsOf = (of: (ChannelStats | MemberStats)[], isMember: boolean): Row[] =>
            of.map(({ id, name, chats, unanswered }) => {
              return { id, name, isMember, chats, unanswered, buckets: [], ...all.get(id) };
            });
          return <Team channels={rowsOf(channels, false)} members={rowsOf(members, true)} by={by} />;
        }}
      </Loaded>
    </section>
  );
}

function Team({ channels, members, by }: { channels: Row[]; members: Row[]; by: "hour" | "day" }) {
  const starts = channels.find(({ buckets }) => buckets.length > 0)?.buckets ?? [];
  const overTime = (count: (bucket: Bucket) => number) =>
    starts.map((_, n) => sumOf(channels.map(({ buckets }) => (buckets[n] ? count(buckets[n]) : 0))));
  const all = channels.flatMap(({ buckets }) => buckets);
  const prices = [...new Set(all.flatMap((bucket) => Object.keys(bucket.prices ?? {})))].sort();
  const groups = [
    { head: "Channels", rows: channels },
    { head: "Members", rows: members },
  ];
  return (
    <>
      {channels.length > 0 && (
        <div class="grid">
          <div class="box chart-box">
            <Chart
              title="Messages"
              {...barsOf({ by, buckets: starts })}
              series={[
                { label: "Received", tone: "received", values: overTime(({ received }) => received) },
                { label: "Sent", tone: "good", values: overTime(({ sent }) => sent) },
              ]}
            />
          </div>
          <div class="box chart-box">
            <Chart
              title="New chats"
              {...barsOf({ by, buckets: starts })}
              series={[{ label: "Chats", tone: "received", values: overTime(({ newChats = 0 }) => newChats) }]}
            />
          </div>
          <div class="box chart-box">
            <Chart
              title="Response times"
              unit="Time to the first answer"
              names={Object.values(CLASSES)}
              span=""
              series={[
                {
                  label: "Answers",
                  tone: "good",
                  values: CLASS_NAMES.map((name) => sumOf(all.map(({ classes }) => classes[name]))),
                },
              ]}
            />
          </div>
          {prices.length > 0 && (
            <div class="box chart-box">
              <Chart
                title="Messages by price category"
                unit="Category of the price"
                names={prices}
                span=""
                series={[
                  {
                    label: "Messages",
                    tone: "good",
                    values: prices.map((name) => sumOf(all.map((bucket) => bucket.prices?.[name] ?? 0))),
                  },
                ]}
              />
            </div>
          )}
        </div>
      )}
      <Table
        caption="Conversations by channel and member"
        columns={["Channel or member", ...[...COLUMNS, ...TIMES].map((column) => ({ number: column }))]}
      >
        {groups.map(
          ({ head, rows }) =>
            rows.length > 0 && (
              <>
                <tr key={head}>
                  <th scope="rowgroup" colSpan={COLUMNS.length + TIMES.length + 1} class="quiet">
                    {head}
                  </th>
                </tr>
                {rows.map((row) => (
                  <tr key={row.id}>
                    <th scope="row">
                      <bdi>{row.name}</bdi>
                    </th>
                    {numbersOf(row).map((count, n) => (
                      <td key={n} class="number">
                        {count === null ? "–" : number(count)}
                      </td>
                    ))}
                    {timesOf(row).map((seconds, n) => (
                      <td key={n} class="number">
                        {seconds === null ? "–" : timeInWords(seconds)}
                      </td>
                    ))}
                  </tr>
                ))}
              </>
            ),
        )}
      </Table>
      <div class="between">
        <p class="quiet note">
          A member’s chats are those assigned to the member. A response time runs from the first message that nobody
          answered to the first answer. A member’s numbers count what the member sent, and what came in while the chat
          was assigned to the member. The times within which half and 90 % of the answers came are up to 20 % too long
          or too short.
        </p>
        <CsvButton
          name="Conversations"
          rows={() => [
            ["Kind", "Id", "Name", ...COLUMNS, ...TIMES.map((name) => `${name} (s)`)],
            ...channels.map((row) => ["Channel", row.id, row.name, ...numbersOf(row), ...timesOf(row)]),
            ...members.map((row) => ["Member", row.id, row.name, ...numbersOf(row), ...timesOf(row)]),
          ]}
        />
      </div>
    </>
  );
}

/** The numbers of a row, in the order of the columns. */
function numbersOf({ isMember, chats, unanswered, buckets }: Row): (number | null)[] {
  const sum = (count: (bucket: Bucket) => number) => sumOf(buckets.map(count));
  return [chats, unanswered, isMember ? null : sum(({ newChats = 0 }) => newChats), ...totalsOf(buckets)];
}

/** Loads something for each id, a few at once. */
async function eachOf<T>(ids: string[], load: (id: string) => Promise<T>): Promise<Map<string, T>> {
  const loaded = new Map<string, T>();
  const left = [...ids];
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) loaded.set(id, await load(id));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return loaded;
}
