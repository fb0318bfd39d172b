import type { JSX } from "preact";
import { DEFAULT_PERMISSIONS } from "../../../keys/permissions.ts";
import type { Schemas } from "../api.ts";
import { fieldTime } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Dialog, type Entered, Form } from "../parts/dialog.tsx";
import { Field, Input } from "../parts/field.tsx";
import { PermissionPicker } from "../parts/permission-picker.tsx";
import { may } from "../session.ts";
import type { Key, Permission } from "./key-state.ts";

/** A key with the secret that is shown once. */
export interface Made {
  key: Key;
  secret: string;
}

/** Creates a key. */
export function NewKeyDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: Made) => void }): JSX.Element {
  const { api } = usePlace();
  return (
    <Dialog title="New key" onClose={onClose} wide>
      <Form
        submit="Create"
        onCancel={onClose}
        onSubmit={async (entered) => {
          onMade(await api.POST("/keys", { body: valuesOf(entered) }));
        }}
      >
        <KeyFields shown={null} />
      </Form>
    </Dialog>
  );
}

interface EditKeyProps {
  shown: Key;
  onClose: () => void;
  onKey: (changed: Key) => void;
}

/** Changes a key from its next request on. */
export function EditKeyDialog({ shown, onClose, onKey }: EditKeyProps): JSX.Element {
  const { api } = usePlace();
  return (
    <Dialog title="Change the key" onClose={onClose} wide>
      <Form
        submit="Save"
        onCancel={onClose}
        onSubmit={async (entered) => {
          const path = { id: shown.id };
          const { key } = await api.PATCH("/keys/{id}", { path, body: valuesOf(entered) });
          onKey(key);
          onClose();
        }}
      >
        <p class="prose">Changes apply to the key’s next request.</p>
        <KeyFields shown={shown} />
      </Form>
    </Dialog>
  );
}

/** An empty field is the default. */
function valuesOf({ text, checked }: Entered): Schemas["NewKey"] {
  const limit = text("limit");
  const quota = text("quota");
  const expires = text("expires");
  return {
    name: text("name"),
    permissions: checked("permissions") as Permission[],
    ipAllowlist: text("addresses").split(/\s+/u).filter(Boolean),
    rateLimit: limit === "" ? null : { limit: Number(limit), windowSeconds: Number(text("window") || 60) },
    monthlyQuota: quota === "" ? null : Number(quota),
    expiresAt: expires === "" ? null : new Date(expires).toISOString(),
  };
}

function KeyFields({ shown }: { shown: Key | null }): JSX.Element {
  const given = shown?.permissions ?? DEFAULT_PERMISSIONS.filter(may);
  return (
    <>
      <Input
        label="Name"
        hint="Where it is used, such as the name of a program."
        name="name"
        required
        maxLength={256}
        defaultValue={shown?.name}
      />
      <PermissionPicker given={given} />
      <div class="pair-even">
        <Input
          label="Requests in a window"
          hint="Empty: the service’s default."
          name="limit"
          type="number"
          min={1}
          placeholder="300"
          defaultValue={shown?.rateLimit.limit}
        />
        <Input
          label="Window"
          hint="In seconds, up to 3,600."
          name="window"
          type="number"
          min={1}
          max={3600}
          placeholder="60"
          defaultValue={shown?.rateLimit.windowSeconds}
        />
        <Input
          label="Requests in a month"
          hint="Empty: no quota. Months are in UTC."
          name="quota"
          type="number"
          min={0}
          placeholder="No quota"
          defaultValue={shown?.monthlyQuota ?? undefined}
        />
        <Input
          label="Expires"
          hint="Empty: never."
          name="expires"
          type="datetime-local"
          defaultValue={shown?.expiresAt ? fieldTime(Date.parse(shown.expiresAt)) : undefined}
        />
      </div>
      <Field label="Allowed addresses" hint="IP addresses or ranges, one in a line. Empty: every address.">
        {(id) => (
          <textarea
            id={id}
            name="addresses"
            rows={2}
            spellcheck={false}
            placeholder="192.0.2.0/24"
            defaultValue={shown?.ipAllowlist.join("\n")}
          />
        )}
      </Field>
    </>
  );
}
