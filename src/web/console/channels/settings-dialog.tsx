import type { Uploads } from "../../../channels/web/uploads.ts";
import { usePlace } from "../organization.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Input, Select } from "../parts/field.tsx";
import { forget } from "../resource.ts";
import { may } from "../session.ts";
import type { ChannelProps } from "./channel-kinds.ts";
import { OriginsField } from "./web-parts.tsx";

/** Changes a channel's name, settings and retention. */
export function SettingsDialog({ channel, onChannel }: ChannelProps) {
  const { api } = usePlace();
  const { id, name, kind, settings, retentionDays } = channel;
  const mayErase = may("chats:erase");
  return (
    <FormDialog
      title="Change the channel"
      submit="Save"
      done="Saved"
      onSubmit={async ({ text, number, words }) => {
        const body = {
          name: text("name"),
          settings:
            kind === "web"
              ? { allowedOrigins: words("origins"), uploads: text("uploads") as Uploads }
              : { perSecond: number("pace") },
          // Without the permission, even the same value is refused.
          ...(mayErase && { retentionDays: number("days") }),
        };
        onChannel(await api.PATCH("/channels/{id}", { path: { id }, body }));
        forget("get /channels ");
      }}
    >
      <Input label="Name" name="name" required maxLength={256} defaultValue={name} />
      {kind === "web" ? (
        <>
          <OriginsField origins={settings.allowedOrigins ?? []} />
          <Select
            label="Files of visitors"
            name="uploads"
            path="settings.uploads"
            options={{
              everyone: "From all visitors",
              verified: "Only from users that your site signed in",
              off: "From nobody",
            }}
            first={settings.uploads}
          />
        </>
      ) : (
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
