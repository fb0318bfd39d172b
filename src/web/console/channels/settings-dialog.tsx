import type { JSX } from "preact";
import type { Channel } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { say } from "../parts/toast.tsx";
import { forget } from "../resource.ts";
import { may } from "../session.ts";
import { originsIn } from "./channel-kinds.ts";
import { OriginsField } from "./web-parts.tsx";

interface SettingsProps {
  channel: Channel;
  onClose: () => void;
  onChannel: (changed: Channel) => void;
}

/** Changes a channel's name, settings and retention. */
export function SettingsDialog({ channel, onClose, onChannel }: SettingsProps): JSX.Element {
  const { api } = usePlace();
  const { id, name, kind, settings, retentionDays } = channel;
  const mayErase = may("chats:erase");
  return (
    <Dialog title="Change the channel" onClose={onClose}>
      <Form
        submit="Save"
        onCancel={onClose}
        onSubmit={async ({ text }) => {
          const pace = text("pace");
          const days = text("days");
          const body = {
            name: text("name"),
            settings:
              kind === "web"
                ? { allowedOrigins: originsIn(text("origins")) }
                : { perSecond: pace === "" ? null : Number(pace) },
            // Without the permission, even the same value is refused.
            ...(mayErase && { retentionDays: days === "" ? null : Number(days) }),
          };
          onChannel((await api.PATCH("/channels/{id}", { path: { id }, body })).channel);
          forget("channels ");
          say("The channel was changed");
          onClose();
        }}
      >
        <Input label="Name" name="name" required maxLength={256} defaultValue={name} />
        {kind === "web" ? (
          <OriginsField origins={settings.allowedOrigins ?? []} />
        ) : (
          <Input
            label="Messages in a second"
            hint="Over all chats. Empty: the network’s default."
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
            hint="Empty: for good. Older messages are deleted within a day, those that are stored already too."
            name="days"
            type="number"
            min={1}
            max={3650}
            placeholder="For good"
            defaultValue={retentionDays ?? undefined}
          />
        )}
      </Form>
    </Dialog>
  );
}
