import { useSignal } from "@preact/signals";
import type { HandedOver } from "../../../model/handover.ts";
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
import { CLASSES, COUNTED, type CountedAnswers, TIMES, timeInWords, timesOf, totalsOf } from "./counted.ts";

type ChannelStats = Schemas["ChannelStats"];
type MemberStats = Schemas["MemberStats"];
type Bucket = Omit<CountedAnswers, "responseTimes"> & {
  start: string;
  newChats?: number;
  prices?: Record<string, number>;
  /** Of channels only, as `prices`. */
  handovers?: Record<string, number>;
  held?: CountedAnswers["classes"];
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
  /** How many open chats the channel's bot has now; undefined for a member. */
  withBot: number | undefined;
}

const PERIODS = [
  { value: { by: "hour", buckets: 48 }, label: "48 hours" },
  { value: { by: "day", buckets: 7 }, label: "7 days" },
  { value: { by: "day", buckets: 30 }, label: "30 days" },
  { value: { by: "day", buckets: 92 }, label: "92 days" },
] as const;

const COLUMNS = ["Chats now", "Unanswered now", "New chats", ...COUNTED];
/** Columns if a bot has chats, or had some in the period. */
const BOT_COLUMNS = ["With the bot now", "Handed to people"];
/** Why people got a chat from its bot. */
const HANDED_OVER: Record<HandedOver, string> = {
  bot_asked: "By the bot",
  asked: "Taken over",
  took_over: "A person wrote",
  bot_silent: "Bot silent",
  bot_gone: "Bot gone",
};
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
            of.map((one) => {
              const { id, name, chats, unanswered } = one;
              const withBot = "withBot" in one ? one.withBot : undefined;
              return { id, name, isMember, chats, unanswered, withBot, buckets: [], ...all.get(id) };
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
  const hasBots = channels.some((row) => sumOf(botNumbersOf(row).map(Number)) > 0);
  const columns = [...COLUMNS, ...TIMES, ...(hasBots ? BOT_COLUMNS : [])];
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
          <Kinds
            title="Response times"
            unit="Time to the first answer"
            label="Answers"
            names={CLASSES}
            counts={all.map(({ classes }) => classes)}
          />
          {prices.length > 0 && (
            <Kinds
              title="Messages by price category"
              unit="Category of the price"
              label="Messages"
              names={Object.fromEntries(prices.map((name) => [name, name]))}
              counts={all.map((bucket) => bucket.prices)}
            />
          )}
          {hasBots && (
            <>
              <Kinds
                title="Handed to people"
                unit="Why"
                label="Chats"
                names={HANDED_OVER}
                counts={all.map(({ handovers }) => handovers)}
              />
              <Kinds
                title="Time with the bot"
                unit="From the contact’s first message to people"
                label="Chats"
                names={CLASSES}
                counts={all.map(({ held }) => held)}
              />
            </>
          )}
        </div>
      )}
      <Table
        caption="Conversations by channel and member"
        columns={["Channel or member", ...columns.map((column) => ({ number: column }))]}
      >
        {groups.map(
          ({ head, rows }) =>
            rows.length > 0 && (
              <>
                <tr key={head}>
                  <th scope="rowgroup" colSpan={columns.length + 1} class="quiet">
                    {head}
                  </th>
                </tr>
                {rows.map((row) => (
                  <tr key={row.id}>
                    <th scope="row">
                      <bdi>{row.name}</bdi>
                    </th>
                    {cellsOf(row, hasBots).map((text, n) => (
                      <td key={n} class="number">
                        {text}
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
          answered to the first answer. A member’s numbers count what the member sent, and what came in while they had
          the chat. The times of half and 90 % are up to 20 % off.
        </p>
        <CsvButton
          name="Conversations"
          rows={() => [
            ["Kind", "Id", "Name", ...COLUMNS, ...TIMES.map((name) => `${name} (s)`), ...(hasBots ? BOT_COLUMNS : [])],
            ...[...channels, ...members].map((row) => [
              row.isMember ? "Member" : "Channel",
              row.id,
              row.name,
              ...numbersOf(row),
              ...timesOf(row),
              ...(hasBots ? botNumbersOf(row) : []),
            ]),
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

/** The numbers of a row, in the order of `BOT_COLUMNS`. */
function botNumbersOf({ withBot, buckets }: Row): (number | null)[] {
  if (withBot === undefined) return [null, null];
  return [withBot, sumOf(buckets.flatMap(({ handovers = {} }) => Object.values(handovers)))];
}

/** The texts of a row, in the order of the columns. */
function cellsOf(row: Row, hasBots: boolean): string[] {
  const texts = (values: (number | null)[], print: (value: number) => string) =>
    values.map((value) => (value === null ? "–" : print(value)));
  const ofBot = hasBots ? botNumbersOf(row) : [];
  return [...texts(numbersOf(row), number), ...texts(timesOf(row), timeInWords), ...texts(ofBot, number)];
}

interface KindsProps {
  title: string;
  /** What a bar stands for. */
  unit: string;
  label: string;
  /** The text of each bar, by what is counted. */
  names: Readonly<Record<string, string>>;
  counts: (Readonly<Record<string, number>> | undefined)[];
}

/** What was counted in the whole period, a bar for each kind. */
function Kinds({ title, unit, label, names, counts }: KindsProps) {
  const values = Object.keys(names).map((kind) => sumOf(counts.map((each) => each?.[kind] ?? 0)));
  return (
    <div class="box chart-box">
      <Chart
        title={title}
        unit={unit}
        names={Object.values(names)}
        span=""
        series={[{ label, tone: "good", values }]}
      />
    </div>
  );
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
