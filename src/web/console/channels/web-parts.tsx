import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { TextArea } from "../parts/controls.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Form } from "../parts/form.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { OverlapField } from "../parts/overlap-field.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { serviceFacts } from "../service-facts.ts";
import type { ChannelProps } from "./channel-kinds.ts";

/** The sites that may show a web chat. */
export function OriginsForm({ channel, onChannel }: ChannelProps) {
  const { api } = usePlace();
  return (
    <Form
      submit="Save"
      done="Saved"
      onSubmit={async ({ words }) => {
        const path = { id: channel.id };
        const body = { settings: { allowedOrigins: words("origins") } };
        onChannel(await api.PATCH("/channels/{id}", { path, body }));
      }}
    >
      <OriginsField origins={channel.settings.allowedOrigins ?? []} />
    </Form>
  );
}

/** The field of the sites, named `origins`. */
export function OriginsField({ origins, ...textarea }: { origins: string[] } & JSX.IntrinsicElements["textarea"]) {
  return (
    <TextArea
      label="Sites"
      hint="One per line. Leave empty for every site."
      path="settings.allowedOrigins"
      name="origins"
      rows={3}
      spellcheck={false}
      placeholder="https://www.example.com"
      defaultValue={origins.join("\n")}
      {...textarea}
    />
  );
}

/** The lines that put a web chat on a site, with a button that copies them. */
export function Snippet({ id }: { id: string }) {
  const text = `<script src="${serviceFacts().publicOrigin}/widget.js"\n  data-channel="${id}"></script>`;
  return (
    <div class="stack">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} />
    </div>
  );
}

/** Leads to a web chat's page. */
export function PageLink({ id }: { id: string }) {
  return (
    <p>
      <a href={`${serviceFacts().publicOrigin}/web/${id}`} target="_blank" rel="noopener">
        Open the chat as a page
      </a>
    </p>
  );
}

/**
 * A web chat as visitors see it. It waits for a click, because the chat takes the focus when it opens. A page of another
 * host can't be shown in this one.
 */
export function Preview({ id, name }: { id: string; name: string }) {
  const isOpen = useSignal(false);
  if (serviceFacts().publicOrigin !== location.origin) return <PageLink id={id} />;
  if (!isOpen.value) {
    return (
      <p>
        <Button onClick={() => (isOpen.value = true)}>Open the preview</Button>
      </p>
    );
  }
  return <iframe class="web-preview" src={`/web/${id}`} title={`Preview of ${name}`} />;
}

/** Gives a web chat a new identity secret. */
export function RotateIdentity({ id }: { id: string }) {
  const { api } = usePlace();
  return (
    <FormDialog
      title="New identity secret"
      submit="Create it"
      onSubmit={async ({ number }) => {
        const body = { overlapSeconds: number("overlap") ?? 0 };
        const { identitySecret } = await api.POST("/channels/{id}/identity-secret", { path: { id }, body });
        openDialog(<IdentitySecret secret={identitySecret} />);
      }}
    >
      <OverlapField user="your site" />
    </FormDialog>
  );
}

/** Shows the secret with which a site vouches for its users. */
export function IdentitySecret({ secret, onSaved }: { secret: string; onSaved?: () => void }) {
  return (
    <SecretDialog title="Save the identity secret now" secret={secret} onSaved={onSaved}>
      With it, your site’s server proves who a user is. Without sign-in you don’t need it.
    </SecretDialog>
  );
}
