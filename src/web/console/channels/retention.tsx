import { useSignal } from "@preact/signals";
import type { Channel } from "../api.ts";
import { plural } from "../format.ts";
import { MOST, useGet, usePlace } from "../organization.ts";
import { Button, Chips } from "../parts/button.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { RowMain } from "../parts/list-screen.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { may } from "../session.ts";
import type { ChannelProps } from "./channel-kinds.ts";

const PRESETS = [30, 90, 365, null];

export function Retention() {
  const list = useGet("/channels", { query: { limit: MOST } });
  const put = ({ channel }: { channel: Channel }) => {
    if (!list.data) return;
    const channels = list.data.channels.map((one) => (one.id === channel.id ? channel : one));
    list.set({ ...list.data, channels });
  };
  const canChange = may("channels:write") && may("chats:erase");
  return (
    <section class="section">
      <h2>Retention</h2>
      <p class="stack">How long each channel keeps its messages.</p>
      <Loaded resource={list} rows={2}>
        {({ channels }) =>
          channels.length === 0 ? (
            <p class="quiet">There is no channel yet.</p>
          ) : (
            <ul class="rows">
              {channels.map((channel) => (
                <li key={channel.id} class="row">
                  <RowMain name={channel.name} />
                  <span>{retentionInWords(channel.retentionDays)}</span>
                  {canChange && (
                    <Button opens={<RetentionDialog channel={channel} onChannel={put} />}>
                      Change<span class="hidden"> the retention of {channel.name}</span>
                    </Button>
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
    </section>
  );
}

function RetentionDialog({ channel, onChannel }: ChannelProps) {
  const { api } = usePlace();
  const days = useSignal(channel.retentionDays === null ? "" : String(channel.retentionDays));
  const wanted = days.value === "" ? null : Number(days.value);
  const isShorter = wanted !== null && wanted < (channel.retentionDays ?? Number.POSITIVE_INFINITY);
  return (
    <FormDialog
      title={`Retention of ${channel.name}`}
      submit={isShorter ? "Delete older messages" : "Save"}
      danger={isShorter}
      done="Saved"
      onSubmit={async () => {
        const path = { id: channel.id };
        onChannel(await api.PATCH("/channels/{id}", { path, body: { retentionDays: wanted } }));
      }}
    >
      <Chips
        choices={PRESETS.map((preset) => ({
          label: retentionInWords(preset),
          choose: () => (days.value = String(preset ?? "")),
        }))}
      />
      <Input
        label="Days"
        path="retentionDays"
        hint="Leave empty to keep messages forever."
        type="number"
        min={1}
        max={3650}
        placeholder="Forever"
        value={days.value}
        onInput={({ currentTarget }) => (days.value = currentTarget.value)}
      />
      {isShorter && (
        <p class="refusal tone-bad">
          Messages older than {plural(wanted, "day")} are deleted, and chats in which nothing happened for that long.
          This can’t be undone.
        </p>
      )}
    </FormDialog>
  );
}

/** How long messages are kept, in words. */
export function retentionInWords(days: number | null): string {
  return days === null ? "Forever" : plural(days, "day");
}
