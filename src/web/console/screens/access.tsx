import { useState } from "preact/hooks";
import type { ParleyError } from "../../../client/error.ts";
import { Button } from "../parts/button.tsx";
import { hasAccess, type PersonOfAccess, readPersonOfAccess, signIn } from "../session.ts";
import { Refusal } from "./refusal.tsx";

type Choice = PersonOfAccess["members"][number];

/** Signs in with Cloudflare Access. Somebody with the email of several members chooses one. Empty without Access. */
export function AccessSignIn() {
  const [choices, setChoices] = useState<Choice[]>([]);
  const [refusal, setRefusal] = useState<ParleyError | null>(null);
  const [isBusy, setBusy] = useState(false);
  if (!hasAccess()) return null;
  const ask = async () => {
    const { members } = await readPersonOfAccess().catch((error: ParleyError) => {
      // Access itself refused the request, because its session has ended. It asks for a new one before it shows the page.
      if (error.status === 401 && error.code !== "access_invalid") location.reload();
      throw error;
    });
    if (members.length > 1) setChoices(members);
    else await signIn({ access: {} });
  };
  const once = async (work: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    setRefusal(null);
    await work().catch(setRefusal);
    setBusy(false);
  };
  return (
    <div class="stack">
      {choices.length === 0 ? (
        <Button aria-busy={isBusy} onClick={() => void once(ask)}>
          Sign in with Access
        </Button>
      ) : (
        <fieldset class="stack">
          <legend>Sign in as</legend>
          {choices.map(({ id, name, organization }) => (
            <Button key={id} onClick={() => void once(() => signIn({ access: { memberId: id } }))}>
              <span>
                <bdi>{name}</bdi>, <bdi>{organization.name}</bdi>
              </span>
            </Button>
          ))}
        </fieldset>
      )}
      {refusal && <Refusal error={refusal} />}
    </div>
  );
}
