import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import { usePlace } from "../organization.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import type { Entered } from "../parts/form.tsx";
import type { ChannelProps, Kind } from "./channel-kinds.ts";

/** The fields of a kind's credentials. @param ends the last characters of what is stored, if some are */
export function CredentialFields({ kind, ends }: { kind: Kind; ends?: Record<string, string> }) {
  return (
    <>
      {DESCRIPTIONS[kind].credentials.map(({ name, label, hint, isSecret }) => (
        <Input
          key={name}
          label={label}
          hint={ends?.[name] ? `Leave empty to keep the one that ends with ${ends[name]}.` : hint}
          name={name}
          path={`credentials.${name}`}
          {...(isSecret ? ({ type: "password" } as const) : {})}
          required={ends === undefined}
          spellcheck={false}
        />
      ))}
    </>
  );
}

/** The credentials that were entered. */
export function credentialsIn(kind: Kind, { text }: Entered): Record<string, string> {
  const entered = DESCRIPTIONS[kind].credentials.map(({ name }) => [name, text(name).trim()] as const);
  return Object.fromEntries(entered.filter(([, value]) => value !== ""));
}

/** Replaces credentials. An empty field keeps its credential. */
export function CredentialsDialog({ channel, onChannel }: ChannelProps) {
  const { api } = usePlace();
  const { id, kind, credentials = {} } = channel;
  return (
    <FormDialog
      title="Replace the credentials"
      submit="Replace"
      done="Saved"
      onSubmit={async (entered) => {
        const body = { credentials: credentialsIn(kind, entered) };
        onChannel(await api.PATCH("/channels/{id}", { path: { id }, body }));
      }}
    >
      <p class="stack">Waiting messages are then tried again.</p>
      <CredentialFields kind={kind} ends={credentials} />
    </FormDialog>
  );
}
