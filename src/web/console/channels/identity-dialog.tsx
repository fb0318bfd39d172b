import { usePlace } from "../organization.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { OverlapField } from "../parts/overlap-field.tsx";
import { SecretDialog } from "../parts/secret.tsx";

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
