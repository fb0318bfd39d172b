import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import { route } from "../location.ts";
import { usePlace } from "../organization.ts";
import { Input } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { Icon } from "../parts/icon.tsx";
import { RowMain } from "../parts/list-screen.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { Screen } from "../parts/screen.tsx";
import { forget } from "../resource.ts";
import type { Kind } from "./channel-kinds.ts";
import { CredentialFields, credentialsIn } from "./credentials.tsx";
import { IdentitySecret } from "./web-parts.tsx";

/** The first two steps of the set-up: the kind of channel, then its name and credentials. */
export function NewChannel({ kind }: { kind: Kind | null }) {
  const { to } = usePlace();
  if (kind) return <Create key={kind} kind={kind} />;
  return (
    <Screen
      title="New channel"
      intro="Where your contacts write to you."
      back={{ href: to("channels"), label: "Channels" }}
    >
      <ul class="rows narrow">
        {Object.entries(DESCRIPTIONS).map(([name, { icon, label, about }]) => (
          <li key={name} class="row">
            <span class="kind">
              <Icon name={icon} />
            </span>
            <RowMain name={label} href={to(`channels/new/${name}`)}>
              <p class="row-detail">{about}</p>
            </RowMain>
          </li>
        ))}
      </ul>
    </Screen>
  );
}

function Create({ kind }: { kind: Kind }) {
  const { api, to } = usePlace();
  const { label, credentials } = DESCRIPTIONS[kind];
  return (
    <Screen
      title={`New ${kind === "web" ? "web chat" : `${label} channel`}`}
      intro={credentials.length > 0 ? "The console never shows the credentials again." : undefined}
      back={{ href: to("channels/new"), label: "Another kind" }}
    >
      <div class="narrow">
        <Form
          submit="Create the channel"
          onSubmit={async (entered) => {
            const body = { kind, name: entered.text("name"), credentials: credentialsIn(kind, entered) };
            const { channel, identitySecret } = await api.POST("/channels", { body });
            forget("/channels");
            const goOn = () => route(to(`channels/${channel.id}/set-up`));
            if (identitySecret === undefined) goOn();
            else openDialog(<IdentitySecret secret={identitySecret} onSaved={goOn} />);
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
    </Screen>
  );
}
