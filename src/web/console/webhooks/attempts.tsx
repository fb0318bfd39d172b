import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { duration } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Badge } from "../parts/badge.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Listed } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { usePages } from "../resource.ts";
import { type Attempt, OUTCOMES } from "./webhook-state.ts";

type Outcome = Attempt["outcome"] | undefined;

const FILTERS: { outcome: Outcome; label: string }[] = [
  { outcome: undefined, label: "All" },
  { outcome: "accepted", label: "Accepted" },
  { outcome: "retry", label: "Tried again" },
  { outcome: "given_up", label: "Given up" },
];

/** The latest calls of a webhook. @param turn grows when there are new ones */
export function Attempts({ id, turn }: { id: string; turn: number }): JSX.Element {
  const { api, to } = usePlace();
  const outcome = useSignal<Outcome>(undefined);
  const chosen = outcome.value;
  const pages = usePages<Attempt, string>(`attempts ${id} ${chosen ?? "all"} ${turn}`, async (before, signal) => {
    const query = { ...(chosen && { outcome: chosen }), ...(before !== null && { before }) };
    const { attempts, pagination } = await api.GET("/webhooks/{id}/attempts", { path: { id }, query, signal });
    return { rows: attempts, next: pagination.cursor };
  });
  return (
    <section class="section">
      <div class="section-head">
        <h2>Calls</h2>
        <fieldset class="tabs" aria-label="Calls by outcome">
          {FILTERS.map(({ outcome: one, label }) => (
            <button
              key={label}
              type="button"
              class="tab"
              aria-pressed={chosen === one}
              onClick={() => (outcome.value = one)}
            >
              {label}
            </button>
          ))}
        </fieldset>
        <button type="button" class="link" onClick={pages.rows.reload}>
          Reload
        </button>
      </div>
      <Listed
        pages={pages}
        empty={<p class="quiet">{chosen ? "No call ended so." : "No call yet. A ping makes the first one."}</p>}
      >
        {(attempts) => (
          <Table caption="Calls, newest first" columns={["When", "Outcome", "Answer", "Took", "Chat", "Event"]}>
            {attempts.map((attempt) => (
              <tr key={`${attempt.eventId} ${attempt.startedAt}`}>
                <td>
                  <Time at={attempt.startedAt} />
                </td>
                <td>
                  <OutcomeBadge outcome={attempt.outcome} />
                </td>
                <td class="answer-cell">{attempt.message}</td>
                <td class="number">{duration(attempt.durationMs)}</td>
                <td>
                  {attempt.chatId === null ? (
                    <span class="quiet">None</span>
                  ) : (
                    <a href={to(`webhooks/${id}/${attempt.chatId}`)}>Its event {attempt.number}</a>
                  )}
                </td>
                <td>
                  <Copyable text={attempt.eventId} label="the event’s id" />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Listed>
    </section>
  );
}

/** How a call ended. */
export function OutcomeBadge({ outcome }: { outcome: Attempt["outcome"] }): JSX.Element {
  return <Badge tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].label}</Badge>;
}
