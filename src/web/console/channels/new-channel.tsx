import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLocation } from "preact-iso/router";
import type { Channel } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Form } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Screen } from "../parts/screen.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { forget } from "../resource.ts";
import { CredentialFields, credentialsIn } from "./channel-fields.tsx";
import { KIND_NAMES, KINDS, type Kind } from "./channel-kinds.ts";

/** The first two steps of the set-up: the kind of channel, then its name and credentials. */
export function NewChannel({ kind }: { kind: Kind | null }): JSX.Element {
  const { to } = usePlace();
  if (kind) return <Create key={kind} kind={kind} />;
  return (
    <Screen
      title="New channel"
      intro="Where do your contacts write to you?"
      back={{ href: to("channels"), label: "Channels" }}
    >
      <ul class="kinds">
        {KIND_NAMES.map((name) => (
          <li key={name}>
            <a class="card" href={to(`channels/new/${name}`)}>
              <span class={`kind kind-${name}`}>
                <Icon name={KINDS[name].icon} />
              </span>
              <span class="card-main">
                <strong>{KINDS[name].label}</strong>
                <span class="quiet">{KINDS[name].about}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </Screen>
  );
}

function Create({ kind }: { kind: Kind }): JSX.Element {
  const { api, to } = usePlace();
  const { route } = useLocation();
  const made = useSignal<{ channel: Channel; identitySecret: string } | null>(null);
  const { label, credentials } = KINDS[kind];
  const goOn = (channel: Channel) => route(to(`channels/${channel.id}/set-up`));
  return (
    <Screen
      title={`New ${kind === "web" ? "web chat" : `${label} channel`}`}
      intro={credentials.length > 0 ? "Credentials are encrypted. Nobody can read them here afterwards." : undefined}
      back={{ href: to("channels/new"), label: "Another kind" }}
    >
      <div class="narrow">
        <Form
          submit="Create the channel"
          onSubmit={async (entered) => {
            const body = { kind, name: entered.text("name"), credentials: credentialsIn(kind, entered) };
            const { channel, identitySecret } = await api.POST("/channels", { body });
            forget("channel");
            if (identitySecret === undefined) goOn(channel);
            else made.value = { channel, identitySecret };
          }}
        >
          <Input
            label="Name"
            hint={kind === "web" ? "Your visitors see it above the chat." : "Your colleagues see it beside each chat."}
            name="name"
            required
            maxLength={256}
            placeholder="Customer support"
          />
          <CredentialFields kind={kind} />
        </Form>
      </div>
      {made.value && (
        <IdentitySecret
          secret={made.value.identitySecret}
          onClose={() => {
            const channel = made.value?.channel;
            made.value = null;
            if (channel) goOn(channel);
          }}
        />
      )}
    </Screen>
  );
}

/** Shows the secret with which a site vouches for its users. */
export function IdentitySecret({ secret, onClose }: { secret: string; onClose: () => void }): JSX.Element {
  return (
    <SecretDialog title="Save the identity secret now" secret={secret} onClose={onClose}>
      <p>
        It is shown only this once. If people sign in on your site, its server proves with this secret who they are, so
        that they find their chat on every device. Without sign-in you don’t need it.
      </p>
    </SecretDialog>
  );
}
