import { useSignal } from "@preact/signals";
import { usePlace } from "../organization.ts";
import { TextArea } from "../parts/controls.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { forget } from "../resource.ts";
import { may } from "../session.ts";
import type { ChannelProps, SettingsChange } from "./channel-kinds.ts";
import { HoursField } from "./hours-field.tsx";

export function SettingsDialog({ channel, onChannel }: ChannelProps) {
  const { api } = usePlace();
  const { id, name, kind, settings, retentionDays } = channel;
  const mayErase = may("chats:erase");
  const opening = useSignal<Pick<SettingsChange, "hours" | "away">>({});
  const { hours, away } = { ...settings, ...opening.value };
  return (
    <FormDialog
      title="Change the channel"
      submit="Save"
      done="Saved"
      onSubmit={async ({ text, number }) => {
        const stopWords = text("stopWords")
          .split("\n")
          .map((line) => line.trim())
          .filter(Boolean);
        const body = {
          name: text("name"),
          settings: {
            ...(kind !== "web" && { perSecond: number("pace"), ...opening.value }),
            stopWords: stopWords.length > 0 ? stopWords : null,
          },
          // Without the permission, even the same value is refused.
          ...(mayErase && { retentionDays: number("days") }),
        };
        onChannel(await api.PATCH("/channels/{id}", { path: { id }, body }));
        forget("get /channels ");
      }}
    >
      <Input label="Name" name="name" required maxLength={256} defaultValue={name} />
      {kind !== "web" && (
        <Input
          label="Messages per second"
          path="settings.perSecond"
          hint="For all chats together. Leave empty for the network’s default."
          name="pace"
          type="number"
          min={1}
          max={1000}
          defaultValue={settings.perSecond}
        />
      )}
      {kind !== "web" && (
        <HoursField
          {...{ hours, away }}
          hint="Contacts can write at any time."
          set={(change) => (opening.value = { ...opening.value, ...change })}
        />
      )}
      <TextArea
        label="Stop words"
        path="settings.stopWords"
        hint="One per line. A contact who writes one gets no more marketing."
        name="stopWords"
        rows={2}
        placeholder="STOP"
        defaultValue={settings.stopWords?.join("\n")}
      />
      {mayErase && (
        <Input
          label="Days that messages are kept"
          path="retentionDays"
          hint="Leave empty to keep messages forever. Older ones are deleted within a day."
          name="days"
          type="number"
          min={1}
          max={3650}
          placeholder="Forever"
          defaultValue={retentionDays ?? undefined}
        />
      )}
    </FormDialog>
  );
}
