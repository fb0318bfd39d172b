import { useSignal } from "@preact/signals";
import type { Schemas } from "../api.ts";
import { useMembers, usePlace } from "../organization.ts";
import { usePages } from "../pages.ts";
import { Badge } from "../parts/badge.tsx";
import { Button, TextButton } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Listed } from "../parts/loaded.tsx";
import { Screen } from "../parts/screen.tsx";
import { Empty } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { now, Time } from "../parts/time.tsx";
import { inWords } from "./actions.ts";
import { type AuditFilter, Filters, NO_FILTER } from "./filters.tsx";

type Entry = Schemas["AuditEntry"];

/** A request that has no status after this time broke off. */
const RUNS_MS = 60_000;

/** Who did what. */
export function Audit() {
  const { organization, api } = usePlace();
  const filter = useSignal<AuditFilter>(NO_FILTER);
  const { actor, action, target } = filter.value;
  const wanted = { ...(actor && { actor }), ...(action && { action }), ...(target && { target }) };
  const key = `list /audit ${organization.id} ${actor} ${action} ${target}`;
  const pages = usePages<Entry>(key, "before", async (page, signal) => {
    const { entries, pagination } = await api.GET("/audit", { query: { ...page, ...wanted }, signal });
    return { rows: entries, pagination };
  });
  const isFiltered = Object.keys(wanted).length > 0;
  const choose = (part: Partial<AuditFilter>) => (filter.value = { ...filter.value, ...part });
  return (
    <Screen title="Audit" intro="Every change, search and export of the last 400 days.">
      <Filters filter={filter.value} onFilter={(next) => (filter.value = next)} />
      <Listed
        pages={pages}
        empty={
          isFiltered ? (
            <Empty
              icon="search"
              title="No matching entries"
              action={<Button onClick={() => (filter.value = NO_FILTER)}>Clear the filters</Button>}
            >
              A filter searches 10,000 entries at a time.
            </Empty>
          ) : (
            <Empty icon="audit" title="Nothing yet">
              Changes by people and keys are listed here.
            </Empty>
          )
        }
      >
        {(rows) => (
          <Table caption="Audit log" columns={["Time", "Who", "What", "Target", "Result", "Request"]}>
            {rows.map((entry) => (
              <EntryRow key={entry.id} entry={entry} onChoose={choose} />
            ))}
          </Table>
        )}
      </Listed>
    </Screen>
  );
}

function EntryRow({ entry, onChoose }: { entry: Entry; onChoose: (part: Partial<AuditFilter>) => void }) {
  const { at, actor, action, target, changed, requestId, linkBy, count } = entry;
  const maker = useMembers().find(({ id }) => id === linkBy)?.name ?? linkBy;
  return (
    <tr>
      <td class="cell-time">
        <Time at={at} />
      </td>
      <td>
        <TextButton title="Show only theirs" onClick={() => onChoose({ actor: actor.id })}>
          <bdi>{actor.name}</bdi>
        </TextButton>
        {actor.type !== "operator" && <p class="quiet">{actor.type === "key" ? "API key" : "Member"}</p>}
        {maker !== null && <p class="quiet">By a link of {maker === "operator" ? "the operator" : maker}</p>}
      </td>
      <td>
        <p>
          {inWords(action)}
          {count > 1 && ` (${count} times)`}
        </p>
        {changed.length > 0 && <p class="quiet cell-fields">{changed.join(", ")}</p>}
      </td>
      <td>{target === null ? <span class="quiet">None</span> : <Copyable text={target} />}</td>
      <td>
        <Result entry={entry} />
      </td>
      <td>
        <Copyable text={requestId} />
      </td>
    </tr>
  );
}

function Result({ entry: { status, at } }: { entry: Entry }) {
  if (status === null) {
    const isRunning = now.value - Date.parse(at) < RUNS_MS;
    return <Badge tone="warn" label={isRunning ? "In progress" : "Interrupted"} />;
  }
  return status < 400 ? <Badge tone="good" label="Done" /> : <Badge tone="bad" label={`Refused (${status})`} />;
}
