import { useSignal } from "@preact/signals";
import { type ParleyError, textOf } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { hasAccess, type PersonOfAccess, readPersonOfAccess, signIn } from "../session.ts";

type Choice = PersonOfAccess["members"][number];

/** Signs in with Cloudflare Access. Somebody with the email of several members chooses one. Empty without Access. */
export function AccessSignIn() {
  const choices = useSignal<Choice[]>([]);
  const { isBusy, error, once } = useSignIn();
  if (!hasAccess()) return null;
  const ask = async () => {
    const { members } = await readPersonOfAccess().catch((error: ParleyError) => {
      // Access itself refused the request, because its session has ended. It asks for a new one before it shows the page.
      if (error.status === 401 && error.code !== "access_invalid") location.reload();
      throw error;
    });
    if (members.length > 1) choices.value = members;
    else await signIn({ access: {} });
  };
  return (
    <div class="stack">
      {choices.value.length === 0 ? (
        <Button aria-busy={isBusy} onClick={() => once(ask)}>
          Sign in with Access
        </Button>
      ) : (
        <fieldset class="stack">
          <legend>Sign in as</legend>
          {choices.value.map(({ id, name, organization }) => (
            <Button key={id} onClick={() => once(() => signIn({ access: { memberId: id } }))}>
              <span>
                <bdi>{name}</bdi>, <bdi>{organization.name}</bdi>
              </span>
            </Button>
          ))}
        </fieldset>
      )}
      {error && <Refusal error={error} />}
    </div>
  );
}

/** One sign-in at a time, and why the last one was refused. */
export function useSignIn() {
  const refusal = useSignal<ParleyError | null>(null);
  const isBusy = useSignal(false);
  const run = async (work: () => Promise<void>) => {
    isBusy.value = true;
    refusal.value = null;
    await work().catch((error: ParleyError) => (refusal.value = error));
    isBusy.value = false;
  };
  const once = (work: () => Promise<void>) => {
    if (!isBusy.value) void run(work);
  };
  return { isBusy: isBusy.value, error: refusal.value, once };
}

const TEXTS: Readonly<Record<string, string>> = {
  wrong_token: "This is not the operator’s token. It is the service’s ADMIN_TOKEN.",
  link_invalid: "This link no longer works. Ask for a new one.",
  access_invalid: "Cloudflare Access has not signed you in. Check that it protects /console.",
  access_unknown: "No member has your email. Ask the operator or a colleague to add you.",
};

/** Why a sign-in was refused, and what to do. */
export function Refusal({ error }: { error: ParleyError }) {
  return (
    <p class="refusal tone-bad" role="alert">
      {reasonOf(error)}
    </p>
  );
}

function reasonOf(error: ParleyError): string {
  const { code, status, retryAfterSeconds } = error;
  if (status === 429) return `Too many attempts. Try again in ${retryAfterSeconds ?? 10} seconds.`;
  if (status === 503) return "The service is down or not configured.";
  return TEXTS[code] ?? textOf(error);
}
