import type { JSX } from "preact";
import type { Schemas } from "../api.ts";
import { useChannels, usePlace } from "../organization.ts";
import { Dialog, type Entered, Form } from "../parts/dialog.tsx";
import { Input, Select } from "../parts/field.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { say } from "../parts/toast.tsx";
import { may } from "../session.ts";
import { EVENT_CHOICES, type Webhook } from "./webhook-state.ts";

type Types = NonNullable<Schemas["NewWebhook"]["types"]>;

/** A webhook with the secret that is shown once. */
export interface MadeWebhook {
  webhook: Webhook;
  secret: string;
}

/** Creates a webhook. */
export function NewWebhookDialog({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade: (made: MadeWebhook) => void;
}): JSX.Element {
  const { api } = usePlace();
  return (
    <Dialog title="New webhook" onClose={onClose} wide>
      <Form
        submit="Create"
        onCancel={onClose}
        onSubmit={async (entered) => {
          onMade(await api.POST("/webhooks", { body: { url: entered.text("url"), ...valuesOf(entered) } }));
        }}
      >
        <Fields shown={null} />
      </Form>
    </Dialog>
  );
}

interface EditProps {
  shown: Webhook;
  onClose: () => void;
  onWebhook: (changed: Webhook) => void;
}

/** Changes a webhook. */
export function EditWebhookDialog({ shown, onClose, onWebhook }: EditProps): JSX.Element {
  const { api } = usePlace();
  return (
    <Dialog title="Change the webhook" onClose={onClose} wide>
      <Form
        submit="Save"
        onCancel={onClose}
        onSubmit={async (entered) => {
          const path = { id: shown.id };
          const body = { url: entered.text("url"), ...valuesOf(entered) };
          onWebhook((await api.PATCH("/webhooks/{id}", { path, body })).webhook);
          say("The webhook was changed");
          onClose();
        }}
      >
        <p class="prose">Events that wait go to the new address, if they pass the new filter.</p>
        <Fields shown={shown} />
      </Form>
    </Dialog>
  );
}

/** No box checked means everything. */
function valuesOf({ text, checked }: Entered) {
  const [types, channels, pace] = [checked("types"), checked("channels"), text("pace")];
  const description = text("description").trim();
  return {
    types: types.length === 0 ? null : (types as Types),
    channels: channels.length === 0 ? null : channels,
    payload: text("payload") === "thin" ? ("thin" as const) : ("full" as const),
    perSecond: pace === "" ? null : Number(pace),
    description: description === "" ? null : description,
  };
}

function Fields({ shown }: { shown: Webhook | null }): JSX.Element {
  const others = shown?.types?.filter((type) => !EVENT_CHOICES.some((choice) => choice === type)) ?? [];
  return (
    <>
      <Input
        label="URL"
        hint="It must begin with https://."
        name="url"
        type="url"
        required
        placeholder="https://shop.example/parley"
        defaultValue={shown?.url}
      />
      <Input
        label="What it is for"
        hint="Optional."
        name="description"
        maxLength={1000}
        defaultValue={shown?.description ?? ""}
      />
      <fieldset class="picker">
        <legend>Events</legend>
        <p class="hint">None chosen: all. A family such as message.* has all of its types.</p>
        <Boxes
          name="types"
          choices={[...EVENT_CHOICES, ...others].map((type) => ({ value: type, label: type }))}
          given={shown?.types ?? []}
        />
      </fieldset>
      {may("channels:read") && <ChannelBoxes given={shown?.channels ?? []} />}
      <div class="pair-even">
        <Select label="Content" hint="Thin events have ids, and no text or address." name="payload">
          <option value="full">Full</option>
          <option value="thin" selected={shown?.payload === "thin"}>
            Thin
          </option>
        </Select>
        <Input
          label="Calls in a second"
          hint="Empty: 50."
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

function ChannelBoxes({ given }: { given: string[] }): JSX.Element | null {
  const { data = [] } = useChannels();
  // A channel that is not in the list must not vanish from the filter.
  const unknown = given.filter((id) => !data.some((channel) => channel.id === id));
  const choices = [
    ...data.map(({ id, name }) => ({ value: id, label: name })),
    ...unknown.map((id) => ({ value: id, label: id })),
  ];
  if (choices.length === 0) return null;
  return (
    <fieldset class="picker">
      <legend>Channels</legend>
      <p class="hint">None chosen: all.</p>
      <Boxes key={data.length} name="channels" choices={choices} given={given} />
    </fieldset>
  );
}

interface BoxesProps {
  name: string;
  choices: { value: string; label: string }[];
  given: readonly string[];
}

function Boxes({ name, choices, given }: BoxesProps): JSX.Element {
  return (
    <div class="picker-list">
      {choices.map(({ value, label }) => (
        <label key={value} class="picker-item">
          <input type="checkbox" name={name} value={value} defaultChecked={given.includes(value)} />
          <bdi>{label}</bdi>
        </label>
      ))}
    </div>
  );
}

/** Shows the secret that signs the calls. */
export function SigningSecret({ secret, onClose }: { secret: string; onClose: () => void }): JSX.Element {
  return (
    <SecretDialog title="Save the signing secret now" secret={secret} onClose={onClose}>
      <p>
        It is shown only this once. Your program checks with it that a call is really from here. If it is lost, rotate
        it to get another.
      </p>
    </SecretDialog>
  );
}
