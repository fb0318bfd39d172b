import { Button } from "../parts/button.tsx";
import { ask, signIn } from "../session.ts";
import { Refusal, useSignIn } from "./access.tsx";
import { choosePasskey, type PasskeyOptions } from "./ceremony.ts";

/** Whether this browser has passkeys here: it has them for host names alone. */
export function canHavePasskeys(): boolean {
  return "PublicKeyCredential" in window && !/^\[|^[\d.]+$/.test(location.hostname);
}

/** Signs in with a passkey. Empty where there are none. */
export function PasskeySignIn({ onSignedIn }: { onSignedIn?: () => void }) {
  const { isBusy, error, once } = useSignIn();
  if (!canHavePasskeys()) return null;
  const start = async () => {
    const { publicKey } = await ask<{ publicKey: PasskeyOptions }>("/console/passkey");
    await signIn({ passkey: await choosePasskey(publicKey) });
    onSignedIn?.();
  };
  return (
    <div class="stack">
      <Button aria-busy={isBusy} onClick={() => once(start)}>
        Sign in with a passkey
      </Button>
      {error && <Refusal error={error} />}
    </div>
  );
}
