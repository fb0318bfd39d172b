import { ParleyError } from "../../../client/error.ts";
import { Button } from "../parts/button.tsx";
import { Refusal, useSignIn } from "../screens/access.tsx";
import { ask, signIn } from "../session.ts";
import type { PasskeyOptions } from "./ceremony.ts";

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
    await signIn({ passkey: await withPasskeys(({ choosePasskey }) => choosePasskey(publicKey)) });
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

/** Fetches what asks the browser, and asks it. @throws ParleyError if the person chose nothing */
export async function withPasskeys(
  work: (ceremony: typeof import("./ceremony.ts")) => Promise<object>,
): Promise<object> {
  try {
    return await work(await import("./ceremony.ts"));
  } catch (cause) {
    throw new ParleyError((cause as Error).message, { status: null, code: "passkey_not_chosen", cause });
  }
}
