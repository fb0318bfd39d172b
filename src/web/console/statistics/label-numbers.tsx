import { useSignal } from "@preact/signals";
import { number } from "../format.ts";
import { type Label, useLabels } from "../labels/use-labels.ts";
import { usePlace } from "../organization.ts";
import { Select } from "../parts/controls.tsx";
import { CsvButton } from "../parts/csv.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Table } from "../parts/table.tsx";
import { useResource } from "../resource.ts";
import { COUNTED, TIMES, timeInWords, timesOf, totalsOf } from "./counted.ts";

const STATES = ["Chats", "Open", "Snoozed", "Closed", "Unanswered"];

/**
 * The chats with a label that the person chooses. Nothing if there are no labels.
 * @param version of the numbers: another one loads them again
 */
export function LabelNumbers({ version }: { version: string }) {
  const labels = useLabels();
  return (
    <Loaded resource={labels} rows={2}>
      {(all) => all.length > 0 && <OfOne labels={all} version={version} />}
    </Loaded>
  );
}

function OfOne({ labels, version }: { labels: Label[]; version: string }) {
  const { organization, api } = usePlace();
  const chosen = useSignal(labels[0]?.id ?? "");
  const query = { label: chosen.value, limit: 1 };
  const key = `get label ${organization.id} ${chosen.value}`;
  const stats = useResource(key, (signal) => api.GET("/stats", { query, signal }), version);
  return (
    <section class="section wide">
      <h2>Chats with a label</h2>
      <Select
        label="Label"
        options={Object.fromEntries(labels.map(({ id, name }) => [id, name]))}
        first={chosen.value}
        onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}
      />
      <Loaded resource={stats} rows={2}>
        {({ label }) => {
          if (!label) return null;
          const { id, name, chats, counted } = label;
          if (!counted) return <p>{number(chats)} chats have the label. More than 10,000 are not counted further.</p>;
          const { open, snoozed, closed, unanswered } = counted;
          const numbers = [chats, open, snoozed, closed, unanswered, ...totalsOf([counted])];
          return (
            <>
              <Table
                caption="Chats with the label"
                columns={[...STATES, ...COUNTED, ...TIMES].map((column) => ({ number: column }))}
              >
                <tr>
                  {[
                    ...numbers.map((count) => number(count)),
                    ...timesOf(counted).map((seconds) => (seconds === null ? "–" : timeInWords(seconds))),
                  ].map((text, n) => (
                    <td key={n} class="number">
                      {text}
                    </td>
                  ))}
                </tr>
              </Table>
              <div class="between">
                <p class="quiet note">The chats that have the label now, counted since each began.</p>
                <CsvButton
                  name="Chats with a label"
                  rows={() => [
                    ["Id", "Name", ...STATES, ...COUNTED, ...TIMES.map((time) => `${time} (s)`)],
                    [id, name, ...numbers, ...timesOf(counted)],
                  ]}
                />
              </div>
            </>
          );
        }}
      </Loaded>
    </section>
  );
}
