import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ParleyError } from "../../../client/error.ts";
import { Form } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { signIn } from "../session.ts";
import { AccessSignIn } from "./access.tsx";

/** The first screen, if nobody is signed in. @param code that of the one-time link that opened the page, or null */
export function SignIn({ code }: { code: string | null }): JSX.Element {
  useEffect(() => {
    document.title = "Sign in · Parley";
  }, []);
  return (
    <main class="lone">
      <div class="sign-in">
        <h1>Parley</h1>
        <SignInForm code={code} />
        <AccessSignIn />
        <p class="hint">Members sign in with a one-time link, which the operator or a colleague makes under Members.</p>
      </div>
    </main>
  );
}

/** Signs in with the operator's token, or with the link that was opened. */
export function SignInForm({ code }: { code: string | null }): JSX.Element {
  const [refusal, setRefusal] = useState<ParleyError | null>(null);
  // Such a link never works again.
  const isLink = code !== null && refusal?.code !== "link_invalid";
  return (
    <Form
      submit="Sign in"
      onSubmit={async ({ text }) => {
        setRefusal(null);
        setRefusal(await signIn(isLink ? { code } : { token: text("token") }));
      }}
    >
      {isLink ? (
        <p>This link signs you in once.</p>
      ) : (
        <Input
          label="Operator’s token"
          hint="The service’s ADMIN_TOKEN."
          name="token"
          type="password"
          autocomplete="current-password"
          required
          aria-invalid={refusal?.code === "wrong_token"}
        />
      )}
      {refusal && (
        <p class="refusal" role="alert">
          {textOf(refusal)}
        </p>
      )}
    </Form>
  );
}

/** What each error of a sign-in means for the person. */
function textOf({ code, status, message, retryAfterSeconds }: ParleyError): string {
  if (code === "wrong_token") return "This is not the operator’s token.";
  if (code === "link_invalid") return "This link was used or has expired. Ask for a new one.";
  if (status === 429) return `Too many attempts. Try again in ${retryAfterSeconds ?? 10} seconds.`;
  if (status === 503) return "Nobody can sign in: the service has no ADMIN_TOKEN, or is down.";
  if (status === null) return "The service can’t be reached. Check your connection.";
  return message;
}
