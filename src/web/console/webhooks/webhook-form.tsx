import type { Schemas } from "../api.ts";
import { useChannels, usePlace } from "../organization.ts";
import { Select } from "../parts/controls.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { sentence, useFaults } from "../parts/faults.ts";
import { Input } from "../parts/field.tsx";
import type { Entered } from "../parts/form.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { serviceFacts } from "../service-facts.ts";
import { may } from "../session.ts";
import { EVENT_CHOICES, type Webhook } from "./webhook-state.ts";

type Types = NonNullable<Schemas["NewWebhook"]["types"]>;

interface WebhookDialogProps {
  /** Null: a new one. */
  shown: Webhook | null;
  /** Gets a new webhook once its secret was saved. */
  onWebhook: (changed: { webhook: Webhook }) => void;
}

export function WebhookDialog({ shown, onWebhook }: WebhookDialogProps) {
  const { api } = usePlace();
  return (
    <FormDialog
      title={shown ? "Change the webhook" : "New webhook"}
      submit={shown ? "Save" : "Create"}
      wide
      done={shown ? "Saved" : undefined}
      onSubmit={async (entered) => {
        const body = valuesOf(entered);
        if (shown) return onWebhook(await api.PATCH("/webhooks/{id}", { path: { id: shown.id }, body }));
        const { webhook, secret } = await api.POST("/webhooks", { body });
        openDialog(<SigningSecret secret={secret} onSaved={() => onWebhook({ webhook })} />);
      }}
    >
      {shown && <p class="stack">Pending events go to the new address if they match the filter.</p>}
      <Fields shown={shown} />
    </FormDialog>
  );
}

/** No box checked means everything. */
function valuesOf({ text, optional, number, checked }: Entered) {
  const [types, channels] = [checked("types"), checked("channels")];
  return {
    url: text("url"),
    types: types.length === 0 ? null : (types as Types),
    channels: channels.length === 0 ? null : channels,
    payload: text("payload") as Webhook["payload"],
    perSecond: number("pace"),
    description: optional("description"),
  };
}

function Fields({ shown }: { shown: Webhook | null }) {
  const others = shown?.types?.filter((type) => !EVENT_CHOICES.some((choice) => choice === type)) ?? [];
  return (
    <>
      <Input
        label="URL"
        hint={`It must begin with https://${serviceFacts().allowsLocal ? ", or http://localhost on this machine" : ""}.`}
        name="url"
        type="url"
        required
        placeholder="https://shop.example/parley"
        defaultValue={shown?.url}
      />
      <Input
        label="Description"
        hint="Optional."
        name="description"
        maxLength={1000}
        defaultValue={shown?.description ?? ""}
      />
      <Boxes
        legend="Events"
        hint="Leave empty for all events. A family such as message.* has all of its types."
        name="types"
        choices={[...EVENT_CHOICES, ...others].map((type) => ({ value: type, label: type }))}
        given={shown?.types ?? []}
      />
      {may("channels:read") && <ChannelBoxes given={shown?.channels ?? []} />}
      <div class="pair-even">
        <Select
          label="Content"
          hint="Thin: without text and address."
          name="payload"
          options={{ full: "Full", thin: "Thin" }}
          first={shown?.payload}
        />
        <Input
          label="Calls per second"
          path="perSecond"
          hint="Default: 50."
          name="pace"
          type="number"
          min={1}
          max={500}
          placeholder="50"
          defaultValue={shown?.perSecond ?? undefined}
        />
      </div>
    </>
  );
}

function ChannelBoxes({ given }: { given: string[] }) {
  const channels = useChannels();
  // A channel that is not in the list must not vanish from the filter.
  const unknown = given.filter((id) => !channels.some((channel) => channel.id === id));
  const choices = [...channels, ...unknown.map((id) => ({ id, name: id }))].map(({ id, name }) => ({
    value: id,
    label: name,
  }));
  if (choices.length === 0) return null;
  return (
    <Boxes
      key={channels.length}
      legend="Channels"
      hint="Choose none for all."
      name="channels"
      choices={choices}
      given={given}
    />
  );
}

interface BoxesProps {
  legend: string;
  hint: string;
  name: string;
  choices: { value: string; label: string }[];
  given: readonly string[];
}

function Boxes({ legend, hint, name, choices, given }: BoxesProps) {
  const faults = useFaults(name);
  return (
    <fieldset class="picker">
      <legend>{legend}</legend>
      <p class="hint">{hint}</p>
      {faults.map(({ path, message }) => (
        <p key={path} class="failed">
          {sentence(message)}
        </p>
      ))}
      <div class="pair-even box">
        {choices.map(({ value, label }) => (
          <label key={value} class="picker-item">
            <input type="checkbox" name={name} value={value} defaultChecked={given.includes(value)} />
            <bdi>{label}</bdi>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Shows the secret that signs the calls. */
export function SigningSecret({ secret, onSaved }: { secret: string; onSaved?: (() => void) | undefined }) {
  return (
    <SecretDialog title="Save the signing secret now" secret={secret} onSaved={onSaved}>
      It proves that a call is from Parley. If it is lost, rotate it.
    </SecretDialog>
  );
}
