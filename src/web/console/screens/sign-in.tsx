import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Failure, type Result, signIn } from "../api.ts";
import { WORDS } from "../words.ts";

/** What each error of a sign-in means for the person. */
function textOf({ code, status, retryAfter, text }: Failure): string {
  if (code === "wrong_token") return "This is not the operator’s token.";
  if (code === "link_invalid") return "This link was used or has expired. Ask for a new one.";
  if (status === 429) return `Too many attempts. Try again in ${retryAfter ?? 10} seconds.`;
  if (status === 503) return "Nobody can sign in: the service has no ADMIN_TOKEN, or is down.";
  return text;
}

interface SignInProps {
  /** A session ended while the page was open. */
  hasEnded: boolean;
  /** The code of the link that was opened, or null. */
  code: string | null;
}

/** Signs in with the operator's token, or with the link that was opened. */
export function SignInScreen({ hasEnded, code }: SignInProps): JSX.Element {
  const isBusy = useSignal(false);
  const failure = useSignal<Failure | null>(null);
  const isLink = useSignal(code !== null);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isBusy.value) return;
    const form = event.currentTarget as HTMLFormElement;
    isBusy.value = true;
    failure.value = null;
    const result: Result<void> = await signIn(
      isLink.value ? { code: code ?? "" } : { token: form.querySelector("input")?.value ?? "" },
    );
    isBusy.value = false;
    if (result.ok) return;
    failure.value = result.failure;
    form.querySelector("input")?.select();
    // Such a link never works again.
    if (result.failure.code === "link_invalid") isLink.value = false;
  }

  return (
    <main class="sign-in">
      <h1>{WORDS.product}</h1>
      {hasEnded && <p role="status">Your session has ended. Sign in again to continue.</p>}
      <form onSubmit={(event) => void submit(event as SubmitEvent)}>
        {isLink.value ? (
          <p>This link signs you in once.</p>
        ) : (
          <label class="field">
            Operator’s token
            <input
              name="token"
              type="password"
              autocomplete="current-password"
              required
              autofocus
              aria-invalid={failure.value?.code === "wrong_token"}
              aria-describedby="sign-in-failure"
            />
          </label>
        )}
        <p id="sign-in-failure" class="failure-text" role="alert">
          {failure.value && textOf(failure.value)}
        </p>
        <button type="submit" class="button main" aria-disabled={isBusy.value}>
          {isBusy.value ? "Signing in…" : WORDS.signIn}
        </button>
      </form>
      <p class="quiet">Members sign in with a link from their operator.</p>
    </main>
  );
}
