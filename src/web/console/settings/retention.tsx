import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Channel } from "../api.ts";
import { plural } from "../format.ts";
import { useChannels, usePlace } from "../organization.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { Loaded } from "../parts/states.tsx";
import { say } from "../parts/toast.tsx";
import { may } from "../session.ts";

const PRESETS = [30, 90, 365];

/** How long each channel keeps its messages. */
export function Retention(): JSX.Element {
  const channels = useChannels();
  const chosen = useSignal<Channel | null>(null);
  const canChange = may("channels:write") && may("chats:erase");
  return (
    <section class="section">
      <h2>Retention</h2>
      <p class="prose">How long each channel keeps its messages. Older ones are deleted for good.</p>
      <Loaded resource={channels} rows={2}>
        {(all) =>
          all.length === 0 ? (
            <p class="quiet">There is no channel yet.</p>
          ) : (
            <ul class="rows">
              {all.map((channel) => (
                <li key={channel.id} class="row">
                  <div class="row-main">
                    <p class="row-title">
                      <strong>
                        <bdi>{channel.name}</bdi>
                      </strong>
                    </p>
                  </div>
                  <span>{inWords(channel.retentionDays)}</span>
                  {canChange && (
                    <button type="button" class="button" onClick={() => (chosen.value = channel)}>
                      Change<span class="hidden"> the retention of {channel.name}</span>
                    </button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {!canChange && (
        <p class="hint">
          To change it, you need <code>channels:write</code> and <code>chats:erase</code>.
        </p>
      )}
      {chosen.value && (
        <RetentionDialog
          channel={chosen.value}
          onClose={() => (chosen.value = null)}
          onChannel={(changed) => {
            channels.set((channels.data ?? []).map((one) => (one.id === changed.id ? changed : one)));
          }}
        />
      )}
    </section>
  );
}

interface DialogProps {
  channel: Channel;
  onClose: () => void;
  onChannel: (changed: Channel) => void;
}

function RetentionDialog({ channel, onClose, onChannel }: DialogProps): JSX.Element {
  const { api } = usePlace();
  const days = useSignal(channel.retentionDays === null ? "" : String(channel.retentionDays));
  const wanted = days.value === "" ? null : Number(days.value);
  const isShorter = wanted !== null && wanted < (channel.retentionDays ?? Number.POSITIVE_INFINITY);
  return (
    <Dialog title={`Retention of ${channel.name}`} onClose={onClose}>
      <Form
        submit={isShorter ? "Delete older messages" : "Save"}
        danger={isShorter}
        onCancel={onClose}
        onSubmit={async () => {
          const path = { id: channel.id };
          const answer = await api.PATCH("/channels/{id}", { path, body: { retentionDays: wanted } });
          onChannel(answer.channel);
          say("Saved");
          onClose();
        }}
      >
        <div class="chips">
          {PRESETS.map((preset) => (
            <button key={preset} type="button" class="chip" onClick={() => (days.value = String(preset))}>
              {plural(preset, "day")}
            </button>
          ))}
          <button type="button" class="chip" onClick={() => (days.value = "")}>
            Forever
          </button>
        </div>
        <Input
          label="Days"
          hint="Empty: messages are kept forever."
          type="number"
          min={1}
          max={3650}
          placeholder="Forever"
          value={days.value}
          onInput={({ currentTarget }) => (days.value = currentTarget.value)}
        />
        {isShorter && (
          <p class="refusal">
            Messages older than {plural(wanted, "day")} are deleted, and chats in which nothing happened for so long.
            This can’t be undone.
          </p>
        )}
      </Form>
    </Dialog>
  );
}

function inWords(days: number | null): string {
  return days === null ? "Forever" : plural(days, "day");
}
