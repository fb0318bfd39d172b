import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { duration } from "../format.ts";
import { useGet, usePlace } from "../organization.ts";
import { usePages } from "../pages.ts";
import { Badge } from "../parts/badge.tsx";
import { TextButton } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Form } from "../parts/form.tsx";
import { Listed, Loaded } from "../parts/loaded.tsx";
import { closeDialog } from "../parts/opened-dialog.tsx";
import { Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { mayManage } from "./webhook-list.tsx";
import { type Attempt, OUTCOMES } from "./webhook-state.ts";

type Outcome = Attempt["outcome"] | "all";

const FILTERS: { value: Outcome; label: string }[] = [
  { value: "all", label: "All" },
  { value: "accepted", label: "Accepted" },
  { value: "retry", label: "Failed" },
  { value: "given_up", label: "Given up" },
];

/** The latest calls of a webhook. @param turn grows when there are new ones */
export function Attempts({ id, turn, onReload }: { id: string; turn: number; onReload: () => void }) {
  const { api, to } = usePlace();
  const outcome = useSignal<Outcome>("all");
  const chosen = outcome.value;
  const pages = usePages(`list attempts ${id} ${chosen} ${turn}`, "before", async (page, signal) => {
    const query = { ...page, ...(chosen !== "all" && { outcome: chosen }) };
    const { attempts, pagination } = await api.GET("/webhooks/{id}/attempts", { path: { id }, query, signal });
    return { rows: attempts, pagination };
  });
  return (
    <section class="section">
      <div class="line">
        <h2>Calls</h2>
        <Tabs label="Calls by outcome" choices={FILTERS} chosen={chosen} onChoose={(one) => (outcome.value = one)} />
        <TextButton onClick={onReload}>Reload</TextButton>
      </div>
      <Listed
        pages={pages}
        empty={
          <p class="quiet">
            {chosen === "all" ? "No calls yet. Send a ping to make the first one." : "No matching calls."}
          </p>
        }
      >
        {(attempts) => (
          <CallTable caption="Calls, newest first" calls={attempts} columns={["Event", "Chat", "Body"]}>
            {({ chatId, number, eventId, type }) => (
              <>
                <td>
                  <code>{type}</code>
                </td>
                <td>
                  {chatId === null ? (
                    <span class="quiet">None</span>
                  ) : (
                    <a href={to(`webhooks/${id}/${chatId}`)}>Event {number}</a>
                  )}
                </td>
                <td>
                  {type !== "ping" && <TextButton opens={<EventDialog id={id} eventId={eventId} />}>Show</TextButton>}
                </td>
              </>
            )}
          </CallTable>
        )}
      </Listed>
    </section>
  );
}

/** What every table of calls shows. */
type Call = Pick<Attempt, "eventId" | "startedAt" | "outcome" | "message" | "durationMs"> & {
  response?: string | null;
};

interface CallTableProps<One extends Call> {
  caption: string;
  calls: One[];
  /** The names of the cells that a table adds. */
  columns: string[];
  children: (call: One) => JSX.Element;
}

/** Calls of a webhook, and how they ended. */
export function CallTable<One extends Call>({ caption, calls, columns, children }: CallTableProps<One>) {
  return (
    <Table caption={caption} columns={["When", "Outcome", "Answer", "Took", ...columns]}>
      {calls.map((call) => (
        <tr key={`${call.eventId} ${call.startedAt}`}>
          <td>
            <Time at={call.startedAt} />
          </td>
          <td>
            <Badge {...OUTCOMES[call.outcome]} />
          </td>
          <td class="answer-cell">
            {call.message}
            {call.response && <pre class="text">{call.response}</pre>}
          </td>
          <td class="number">{duration(call.durationMs)}</td>
          {children(call)}
        </tr>
      ))}
    </Table>
  );
}

/** An event as a call has it now, with a button that sends it again. */
function EventDialog({ id, eventId }: { id: string; eventId: string }) {
  const { api } = usePlace();
  const event = useGet("/events/{id}", { path: { id: eventId } });
  return (
    <Dialog title="Event" wide>
      <p class="note">
        <Copyable text={eventId} />
      </p>
      <Loaded resource={event} rows={3}>
        {({ event: found }) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
          <pre tabIndex={0}>
            <code>{JSON.stringify(found, null, 2)}</code>
          </pre>
        )}
      </Loaded>
      {mayManage() && (
        <Form
          submit="Send again"
          onCancel={closeDialog}
          done="Sent again"
          onSubmit={async () => {
            await api.POST("/webhooks/{id}/replays", { path: { id }, body: { eventId } });
            closeDialog();
          }}
        >
          {null}
        </Form>
      )}
    </Dialog>
  );
}
