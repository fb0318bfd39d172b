import { DEFAULT_PERMISSIONS } from "../../../model/permission.ts";
import type { Schemas } from "../api.ts";
import { fieldTime } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Checkbox, TextArea } from "../parts/controls.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import type { Entered } from "../parts/form.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { OverlapField } from "../parts/overlap-field.tsx";
import { OF_KEYS, PermissionPicker } from "../parts/permission-picker.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { Time } from "../parts/time.tsx";
import { serviceFacts } from "../service-facts.ts";
import { may } from "../session.ts";
import type { Key, Permission } from "./key-state.ts";

interface KeyDialogProps {
  /** Null: a new one. */
  shown: Key | null;
  /** Gets a new key once its secret was saved. */
  onKey: (changed: { key: Key }) => void;
}

/** Creates a key, or changes one from its next request on. */
export function KeyDialog({ shown, onKey }: KeyDialogProps) {
  const { api } = usePlace();
  return (
    <FormDialog
      title={shown ? "Change the key" : "New key"}
      submit={shown ? "Save" : "Create"}
      wide
      onSubmit={async (entered) => {
        const body = valuesOf(entered);
        if (shown) return onKey(await api.PATCH("/keys/{id}", { path: { id: shown.id }, body }));
        const { key, secret } = await api.POST("/keys", { body });
        openDialog(
          <SecretDialog title="Save this key now" secret={secret} onSaved={() => onKey({ key })}>
            Keep it where the program reads its secrets. If it is lost, rotate it to get another.
          </SecretDialog>,
        );
      }}
    >
      {shown && <p class="stack">Changes apply to the key’s next request.</p>}
      <KeyFields shown={shown} />
    </FormDialog>
  );
}

/** An empty field is the default. */
function valuesOf({ text, number, words, checked }: Entered): Schemas["NewKey"] {
  const limit = number("limit");
  const expires = text("expires");
  return {
    name: text("name"),
    permissions: checked("permissions") as Permission[],
    ipAllowlist: words("addresses"),
    rateLimit: limit === null ? null : { limit, windowSeconds: number("window") ?? 60 },
    monthlyQuota: number("quota"),
    draftsOnly: checked("drafts").length > 0,
    expiresAt: expires === "" ? null : new Date(expires).toISOString(),
  };
}

function KeyFields({ shown }: { shown: Key | null }) {
  const given = shown?.permissions ?? DEFAULT_PERMISSIONS.filter(may);
  return (
    <>
      <Input
        label="Name"
        hint="Such as the name of a program."
        name="name"
        required
        maxLength={256}
        defaultValue={shown?.name}
      />
      <PermissionPicker given={given} choices={OF_KEYS} />
      <Checkbox name="drafts" value="only" defaultChecked={shown?.draftsOnly}>
        Only drafts: a person sends what it writes
      </Checkbox>
      <div class="pair-even">
        <Input
          label="Requests per window"
          path="rateLimit.limit"
          hint={`Default: ${serviceFacts().rateLimit}.`}
          name="limit"
          type="number"
          min={1}
          placeholder={serviceFacts().rateLimit}
          defaultValue={shown?.rateLimit.limit}
        />
        <Input
          label="Window"
          path="rateLimit.windowSeconds"
          hint="In seconds, up to 3,600."
          name="window"
          type="number"
          min={1}
          max={3600}
          placeholder="60"
          defaultValue={shown?.rateLimit.windowSeconds}
        />
        <Input
          label="Requests per month"
          path="monthlyQuota"
          hint="Leave empty for no quota. Months are in UTC."
          name="quota"
          type="number"
          min={0}
          placeholder="No quota"
          defaultValue={shown?.monthlyQuota ?? undefined}
        />
        <Input
          label="Expires"
          path="expiresAt"
          hint="Leave empty if it never expires."
          name="expires"
          type="datetime-local"
          defaultValue={shown?.expiresAt ? fieldTime(Date.parse(shown.expiresAt)) : undefined}
        />
      </div>
      <TextArea
        label="Allowed addresses"
        hint="One per line. Leave empty for every address."
        path="ipAllowlist"
        name="addresses"
        rows={2}
        spellcheck={false}
        placeholder="192.0.2.0/24"
        defaultValue={shown?.ipAllowlist.join("\n")}
      />
    </>
  );
}

export function RotateDialog({ id, onKey }: { id: string; onKey: (changed: { key: Key }) => void }) {
  const { api } = usePlace();
  return (
    <FormDialog
      title="New secret"
      submit="Rotate"
      onSubmit={async ({ number }) => {
        const body = { overlapSeconds: number("overlap") ?? 0 };
        const { key, secret } = await api.POST("/keys/{id}/rotate", { path: { id }, body });
        onKey({ key });
        openDialog(
          <SecretDialog title="Save the new secret now" secret={secret}>
            Give it to the program
            {key.previousSecretExpiresAt ? (
              <>
                {" "}
                before the old one ends, <Time at={key.previousSecretExpiresAt} future />.
              </>
            ) : (
              ". The old one no longer works."
            )}
          </SecretDialog>,
        );
      }}
    >
      <p class="stack">The key keeps its id, permissions and limits.</p>
      <OverlapField user="the program" />
    </FormDialog>
  );
}
