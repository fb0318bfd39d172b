import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { call } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Badge } from "../parts/badge.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Permitted } from "../parts/permitted.tsx";
import { Screen, Table } from "../parts/screen.tsx";
import { Empty, Listed } from "../parts/states.tsx";
import { now, Time } from "../parts/time.tsx";
import { usePages } from "../resource.ts";
import { ACTION_WORDS } from "./actions.ts";
import { type AuditFilter, Filters, NO_FILTER } from "./filters.tsx";

/** An entry of the audit log. `status` is null while the request runs, and for good if it broke off. */
interface Entry {
  id: string;
  at: string;
  actor: { type: "operator" | "key" | "member"; id: string; name: string };
  action: string;
  target: string | null;
  status: number | null;
  requestId: string;
  changed: string[];
}

interface EntryPage {
  entries: Entry[];
  pagination: { hasMore: boolean; cursor: string | null };
}

const PAGE = 50;
/** A request that has no status after this time broke off. */
const RUNS_MS = 60_000;

/** Who did what. */
export function Audit(): JSX.Element {
  return (
    <Permitted permission="audit:read" title="Audit">
      <AuditLog />
    </Permitted>
  );
}

function AuditLog(): JSX.Element {
  const { organization } = usePlace();
  const filter = useSignal<AuditFilter>(NO_FILTER);
  const wanted = Object.entries(filter.value).filter(([, value]) => value !== "");
  const key = `audit ${organization.id} ${new URLSearchParams(wanted)}`;
  const pages = usePages<Entry, string>(key, async (before, signal) => {
    const query = new URLSearchParams([
      ["limit", String(PAGE)],
      ...wanted,
      ...(before === null ? [] : [["before", before]]),
    ]);
    const path = `/organizations/${organization.id}/audit?${query}`;
    const { entries, pagination } = await call<EntryPage>("GET", path, undefined, signal);
    return { rows: entries, next: pagination.hasMore ? pagination.cursor : null };
  });
  const isFiltered = wanted.length > 0;
  const choose = (part: Partial<AuditFilter>) => (filter.value = { ...filter.value, ...part });
  return (
    <Screen
      title="Audit"
      intro="Every change, search and export, by people and by keys, with the newest first. Entries are kept for 400 days."
    >
      <Filters filter={filter.value} onFilter={(next) => (filter.value = next)} />
      <Listed
        pages={pages}
        empty={
          isFiltered ? (
            <Empty
              icon="search"
              title="No entry fits"
              action={
                <button type="button" class="button" onClick={() => (filter.value = NO_FILTER)}>
                  Clear the filters
                </button>
              }
            >
              A filter looks at 10,000 entries at a time.
            </Empty>
          ) : (
            <Empty icon="audit" title="Nothing yet">
              What people and keys change is listed here, with the request that did it.
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

function EntryRow({ entry, onChoose }: { entry: Entry; onChoose: (part: Partial<AuditFilter>) => void }): JSX.Element {
  const { at, actor, action, target, changed, requestId } = entry;
  return (
    <tr>
      <td class="cell-time">
        <Time at={at} />
      </td>
      <td>
        <button type="button" class="link" title="Show only theirs" onClick={() => onChoose({ actor: actor.id })}>
          <bdi>{actor.name}</bdi>
        </button>
        {actor.type !== "operator" && <p class="quiet">{actor.type === "key" ? "API key" : "Member"}</p>}
      </td>
      <td>
        <p>{ACTION_WORDS[action] ?? action}</p>
        {changed.length > 0 && <p class="quiet cell-fields">{changed.join(", ")}</p>}
      </td>
      <td>{target === null ? <span class="quiet">None</span> : <Copyable text={target} label="the target’s id" />}</td>
      <td>
        <Result entry={entry} />
      </td>
      <td>
        <Copyable text={requestId} label="the request’s id" />
      </td>
    </tr>
  );
}

function Result({ entry: { status, at } }: { entry: Entry }): JSX.Element {
  if (status === null) {
    const isRunning = now.value - Date.parse(at) < RUNS_MS;
    return <Badge tone="warn">{isRunning ? "Under way" : "Broke off"}</Badge>;
  }
  return status < 400 ? <Badge tone="good">Done</Badge> : <Badge tone="bad">{`Refused (${status})`}</Badge>;
}
